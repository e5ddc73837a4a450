package coreutils

import (
	"io"

	"github.com/seed434b0696/agent-sandbox/shell"
)

// byteSource reads a stream byte by byte. It takes fuel for what it reads.
type byteSource struct {
	lines *lineReader
	in    io.ReadCloser
	ahead []byte // read, not used
}

func newByteSource(p *shell.Proc, in io.ReadCloser) *byteSource {
	return &byteSource{lines: newLineReader(p, in, '\n'), in: in}
}

// read returns the next byte; -1 at the end.
func (s *byteSource) read() int {
	c := s.peek()
	if c >= 0 {
		s.ahead = s.ahead[1:]
	}
	return c
}

// peek returns the byte that read would return.
func (s *byteSource) peek() int {
	if len(s.ahead) == 0 {
		b, ok := s.lines.bytes()
		if !ok {
			return -1
		}
		s.ahead = b
	}
	return int(s.ahead[0])
}

// skip passes over the next byte if it is c.
func (s *byteSource) skip(c byte) {
	if s.peek() == int(c) {
		s.ahead = s.ahead[1:]
	}
}
