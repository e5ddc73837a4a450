package codec

import (
	"bufio"
	"io"
)

// lzwReader reads the format of compress(1): codes of 9 to 16 bits, the lowest bit first, in
// groups of eight codes.
type lzwReader struct {
	in     *bufio.Reader
	maxBit uint
	block  bool // code 256 empties the table

	bits  uint
	group [16]byte
	have  uint // bits of group
	at    uint // bits of group that are read
	begun bool

	prefix []uint16
	suffix []byte
	free   int
	last   int // -1: none
	first  byte
	out    []byte // what a code stands for, backwards
	err    error
}

func newLZWReader(in *bufio.Reader) *lzwReader { return &lzwReader{in: in} }

func (l *lzwReader) begin() error {
	var h [3]byte
	if _, err := io.ReadFull(l.in, h[:]); err != nil {
		return truncatedError(err)
	}
	if h[0] != 0x1f || h[1] != 0x9d {
		return fault(NotFormat)
	}
	l.maxBit, l.block = uint(h[2]&0x1f), h[2]&0x80 != 0
	if l.maxBit < 9 || l.maxBit > 16 {
		return fault(Unsupported)
	}
	l.prefix, l.suffix = make([]uint16, 1<<l.maxBit), make([]byte, 1<<l.maxBit) // bounded: 16 bits, of a format that is only read
	for i := range 256 {
		l.suffix[i] = byte(i)
	}
	l.clear()
	l.begun = true
	return nil
}

func (l *lzwReader) clear() {
	l.bits, l.last, l.have, l.at = 9, -1, 0, 0
	l.free = 256
	if l.block {
		l.free = 257
	}
}

// Read returns the decoded data.
func (l *lzwReader) Read(b []byte) (n int, err error) {
	if !l.begun && l.err == nil {
		l.err = l.begin()
	}
	for n < len(b) {
		if len(l.out) > 0 {
			b[n] = l.out[len(l.out)-1]
			l.out = l.out[:len(l.out)-1]
			n++
			continue
		}
		if l.err != nil {
			break
		}
		l.err = l.next()
	}
	if n > 0 || len(b) == 0 {
		return n, nil
	}
	return 0, l.err
}

// code reads the next code; the codes of one width fill whole groups.
func (l *lzwReader) code() (int, error) {
	if l.at+l.bits > l.have {
		n, err := io.ReadFull(l.in, l.group[:l.bits])
		l.have, l.at = uint(n)*8, 0
		if l.have < l.bits {
			if n > 0 || err == nil {
				err = io.EOF // the padding of the last code
			}
			return 0, eofOr(unexpectedIsEnd(err))
		}
	}
	code := 0
	for i := range l.bits {
		bit := l.at + i
		code |= int(l.group[bit/8]>>(bit%8)&1) << i
	}
	l.at += l.bits
	return code, nil
}

func unexpectedIsEnd(err error) error {
	if FaultOf(truncatedError(err)) == Truncated {
		return io.EOF
	}
	return err
}

func (l *lzwReader) next() error {
	if l.free >= 1<<l.bits && l.bits < l.maxBit {
		l.bits++
		l.have, l.at = 0, 0
	}
	code, err := l.code()
	if err != nil {
		return err
	}
	if code == 256 && l.block {
		l.clear()
		return nil
	}
	if l.last < 0 {
		if code > 255 {
			return fault(Corrupt)
		}
		l.first, l.last = byte(code), code
		l.out = append(l.out, byte(code))
		return nil
	}
	if code > l.free || code == l.free && l.free >= 1<<l.maxBit {
		return fault(Corrupt)
	}
	at := code
	if code == l.free {
		l.out = append(l.out, l.first)
		at = l.last
	}
	for at > 255 {
		l.out = append(l.out, l.suffix[at])
		at = int(l.prefix[at])
	}
	l.first = byte(at)
	l.out = append(l.out, l.first)
	if l.free < 1<<l.maxBit {
		l.prefix[l.free], l.suffix[l.free] = uint16(l.last), l.first
		l.free++
	}
	l.last = code
	return nil
}
