package link

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// greeting is the first line that a server sends. Its number changes with the protocol.
const greeting = "agent-sandbox link 1\n"

// key identifies a connection. Only a client that knows the key can continue the connection.
type key [16]byte

// Kinds of frames.
const (
	frameData byte = iota
	frameAck       // the number of all received bytes, in eight bytes
	frameEnd       // the connection is closed; nothing follows
	frameKinds
)

const (
	headLength = 5
	maxPayload = 1 << 20 // of a data frame
)

func head(kind byte, length int) [headLength]byte {
	h := [headLength]byte{kind}
	binary.BigEndian.PutUint32(h[1:], uint32(length))
	return h
}

func ackFrame(received uint64) []byte {
	h := head(frameAck, 8)
	return binary.BigEndian.AppendUint64(h[:], received)
}

var errProtocol = errors.New("the other end broke the link's protocol")

// readHead reads the head of the next frame.
func readHead(r io.Reader) (kind byte, length int, err error) {
	var h [headLength]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return 0, 0, err
	}
	n := binary.BigEndian.Uint32(h[1:])
	if h[0] >= frameKinds || n > maxPayload || h[0] == frameAck && n != 8 || h[0] > frameAck && n != 0 {
		return 0, 0, errProtocol
	}
	return h[0], int(n), nil
}

// hello is the client's first message on a new stream.
type hello struct {
	key      key
	fresh    bool // the connection is new; otherwise it continues
	received uint64
}

const helloLength = 16 + 1 + 8

func (h hello) encode() []byte {
	out := append(make([]byte, 0, helloLength), h.key[:]...)
	fresh := byte(0)
	if h.fresh {
		fresh = 1
	}
	return binary.BigEndian.AppendUint64(append(out, fresh), h.received)
}

func readHello(r io.Reader) (h hello, err error) {
	var raw [helloLength]byte
	if _, err := io.ReadFull(r, raw[:]); err != nil {
		return h, err
	}
	copy(h.key[:], raw[:])
	h.fresh, h.received = raw[16] == 1, binary.BigEndian.Uint64(raw[17:])
	return h, nil
}

// The server's answer: whether it knows the connection, and in eight bytes how much it has received.
const (
	known        = 1
	answerLength = 1 + 8
)

// present sends a hello to the server on a stream, and returns how many bytes the server has received.
func present(stream io.Writer, r *bufio.Reader, h hello) (received uint64, err error) {
	said := make([]byte, len(greeting))
	if _, err := io.ReadFull(r, said); err != nil {
		return 0, err
	}
	if string(said) != greeting {
		return 0, sandbox.Errorf(sandbox.Unavailable, "the other end says %q where this one says %q", said, greeting).
			WithHint("the two are of different versions: create the sandbox anew")
	}
	if _, err := stream.Write(h.encode()); err != nil {
		return 0, err
	}
	var answer [answerLength]byte
	if _, err := io.ReadFull(r, answer[:]); err != nil {
		return 0, err
	}
	if answer[0] != known {
		return 0, errForgotten
	}
	return binary.BigEndian.Uint64(answer[1:]), nil
}

var errForgotten = errors.New("the other end has given the connection up")

// readCount reads the payload of an ack.
func readCount(r io.Reader) (uint64, error) {
	var raw [8]byte
	_, err := io.ReadFull(r, raw[:])
	return binary.BigEndian.Uint64(raw[:]), err
}
