// Package sshagent serves a part of an SSH agent: who connects can list identities and sign with them, and do nothing
// else. The protocol is that of draft-ietf-sshm-ssh-agent, and session-bind@openssh.com that of OpenSSH's
// PROTOCOL.agent.
package sshagent

import (
	"encoding/binary"
	"errors"
	"io"
)

// The message numbers of draft-ietf-sshm-ssh-agent, section 6.1.
const (
	failure                  = 5
	removeAllLegacy          = 9 // of the first version of SSH; ssh-add still sends it
	requestIdentities        = 11
	signRequest              = 13
	addIdentity              = 17
	removeIdentity           = 18
	removeAllIdentities      = 19
	addSmartcardKey          = 20
	removeSmartcardKey       = 21
	lock                     = 22
	unlock                   = 23
	addIDConstrained         = 25
	addSmartcardKeyConstrain = 26
	extension                = 27
)

// sessionBind tells the agent which host a connection authenticates to. It can only restrict the use of keys: an agent
// without it refuses those that are constrained to hosts.
const sessionBind = "session-bind@openssh.com"

// maxMessage is the length of the longest message, as in OpenSSH.
const maxMessage = 256 << 10

var errTooLong = errors.New("the message is too long or empty")

// readMessage reads one message and returns it without its length.
func readMessage(r io.Reader) ([]byte, error) {
	var header [4]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	return readBody(r, header)
}

func readBody(r io.Reader, header [4]byte) ([]byte, error) {
	n := binary.BigEndian.Uint32(header[:])
	if n == 0 || n > maxMessage {
		return nil, errTooLong
	}
	message := make([]byte, n)
	_, err := io.ReadFull(r, message)
	return message, err
}

// writeMessage writes one message in one call, so that a deadline holds for all of it.
func writeMessage(w io.Writer, message []byte) error {
	_, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
	return err
}

// isPermitted reports whether a message is a request that is passed on. It has no more and no less than its fields, so
// that no agent can read another request in it.
func isPermitted(message []byte) bool {
	fields := fields{message[1:], true}
	switch message[0] {
	case requestIdentities:
	case signRequest:
		fields.text() // the public key
		fields.text() // the data
		fields.skip(4)
	case extension:
		if string(fields.text()) != sessionBind {
			return false
		}
		fields.text() // the key of the host
		fields.text() // the identifier of the session
		fields.text() // its signature
		fields.skip(1)
	default:
		return false
	}
	return fields.ok && len(fields.rest) == 0
}

// fields reads the fields of a message (RFC 4251, section 5).
type fields struct {
	rest []byte
	ok   bool
}

func (f *fields) skip(n int) []byte {
	if !f.ok || n > len(f.rest) {
		f.ok = false
		return nil
	}
	field := f.rest[:n]
	f.rest = f.rest[n:]
	return field
}

// text reads a field of the type string.
func (f *fields) text() []byte {
	length := f.skip(4)
	if !f.ok {
		return nil
	}
	n := binary.BigEndian.Uint32(length)
	if n > maxMessage {
		f.ok = false
		return nil
	}
	return f.skip(int(n))
}

// describe returns what a refused request asks for, as one of a few texts: a command can make any number of requests.
func describe(message []byte) string {
	if name := names[message[0]]; name != "" {
		return name
	}
	return "make an unknown request"
}

var names = map[byte]string{
	requestIdentities: "list identities in a malformed request", signRequest: "sign in a malformed request",
	addIdentity: "add an identity", addIDConstrained: "add an identity", removeIdentity: "remove an identity",
	removeAllIdentities: "remove all identities", removeAllLegacy: "remove all identities", addSmartcardKey: "add a smartcard", addSmartcardKeyConstrain: "add a smartcard",
	removeSmartcardKey: "remove a smartcard", lock: "lock the agent", unlock: "unlock the agent", extension: "use an extension",
}
