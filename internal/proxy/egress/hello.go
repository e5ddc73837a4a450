package egress

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// Bounds of a ClientHello: real ones have at most a few KiB, post-quantum key shares
// included, in one to three records.
const (
	maxHello        = 32 << 10
	maxHelloRecords = 64
	maxExtensions   = 128
)

const (
	recordAlert     = 21
	recordHandshake = 22
	typeClientHello = 1
	extServerName   = 0
	alertUnknown    = 112 // unrecognized_name, RFC 6066 §3
)

// tlsAlert is a fatal alert record that every version understands.
func tlsAlert(code byte) []byte { return []byte{recordAlert, 3, 1, 0, 2, 2, code} }

// readHello reads one ClientHello (RFC 8446 §4.1.2), which may be cut into records at
// any byte, and returns it with the raw bytes of its records.
func readHello(br *bufio.Reader) (hello, raw []byte, err error) {
	need := 4
	for range maxHelloRecords {
		var head [5]byte
		if _, err := io.ReadFull(br, head[:]); err != nil {
			return nil, raw, err
		}
		n := int(binary.BigEndian.Uint16(head[3:]))
		if head[0] != recordHandshake || head[1] != 3 || n == 0 || n > 1<<14 || len(raw)+n > maxHello {
			return nil, raw, errors.New("not a TLS ClientHello")
		}
		at := len(raw) + len(head)
		raw = append(append(raw, head[:]...), make([]byte, n)...)
		if _, err := io.ReadFull(br, raw[at:]); err != nil {
			return nil, raw, err
		}
		hello = append(hello, raw[at:]...)
		if len(hello) >= 4 && need == 4 {
			need = 4 + int(hello[1])<<16 + int(hello[2])<<8 + int(hello[3])
			if hello[0] != typeClientHello || need > maxHello {
				return nil, raw, errors.New("not a TLS ClientHello")
			}
		}
		switch {
		case len(hello) == need && need > 4:
			return hello[4:], raw, nil
		case len(hello) > need:
			// RFC 8446 §5.1: no data may follow in the record, because another parser
			// could read a second message as the ClientHello.
			return nil, raw, errors.New("bytes after the TLS ClientHello")
		}
	}
	return nil, raw, errors.New("a TLS ClientHello in too many records")
}

// serverName returns the server name in a ClientHello, or "". Data that two parsers could
// read differently is an error.
func serverName(hello []byte) (string, error) {
	b := parser{data: hello}
	b.skip(2 + 32)           // legacy_version, random
	b.vector(1)              // legacy_session_id
	b.vector(2)              // cipher_suites
	b.vector(1)              // legacy_compression_methods
	if !b.bad && b.empty() { // TLS 1.2 allows it to end here
		return "", nil
	}
	exts := parser{data: b.vector(2)}
	if b.bad || !b.empty() {
		return "", errors.New("a broken TLS ClientHello")
	}
	var seen []int
	name := ""
	for !exts.empty() {
		kind, body := exts.uint(2), exts.vector(2)
		if exts.bad || len(seen) == maxExtensions || slices.Contains(seen, kind) {
			return "", errors.New("a broken TLS ClientHello")
		}
		seen = append(seen, kind)
		if kind != extServerName {
			continue
		}
		var err error
		if name, err = hostName(body); err != nil {
			return "", err
		}
	}
	return name, nil
}

// hostName reads a server_name extension with exactly one host_name (RFC 6066 §3).
func hostName(ext []byte) (string, error) {
	b := parser{data: ext}
	list := parser{data: b.vector(2)}
	kind, name := list.uint(1), list.vector(2)
	if b.bad || list.bad || !b.empty() || !list.empty() || kind != 0 || len(name) == 0 {
		return "", errors.New("a broken server name in the TLS ClientHello")
	}
	return string(name), nil
}

// parser reads a TLS structure. After a read beyond the end, bad is set and all results
// are empty.
type parser struct {
	data []byte
	bad  bool
}

func (p *parser) skip(n int) []byte {
	if n > len(p.data) {
		p.bad, p.data = true, nil
		return nil
	}
	out := p.data[:n]
	p.data = p.data[n:]
	return out
}

func (p *parser) uint(size int) int {
	n := 0
	for _, c := range p.skip(size) {
		n = n<<8 | int(c)
	}
	return n
}

// vector reads a length of size bytes and then that number of bytes.
func (p *parser) vector(size int) []byte { return p.skip(p.uint(size)) }

func (p *parser) empty() bool { return len(p.data) == 0 }
