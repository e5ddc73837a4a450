package coreutils

import (
	"bytes"
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// byteFeed hands out a stream in the pieces that a scanner wants.
type byteFeed struct {
	lines *lineReader
	ahead []byte // read, not used yet
}

func newByteFeed(p *shell.Proc) *byteFeed { return &byteFeed{lines: newLineReader(p, nil, '\n')} }

// reset goes on with another stream.
func (b *byteFeed) reset(in io.Reader) {
	b.lines.reset(in)
	b.ahead = nil
}

// more makes sure that there is something ahead; false at the end.
func (b *byteFeed) more() bool {
	if len(b.ahead) > 0 {
		return true
	}
	next, ok := b.lines.bytes()
	if ok {
		b.ahead = next
	}
	return ok
}

// at tells whether c comes next.
func (b *byteFeed) at(c byte) bool { return b.more() && b.ahead[0] == c }

// restOfLine passes what is left of a line to fn, with its end, which the last one may lack.
func (b *byteFeed) restOfLine(fn func(piece []byte)) {
	for b.more() {
		n := bytes.IndexByte(b.ahead, '\n') + 1
		if n > 0 {
			fn(b.ahead[:n])
			b.ahead = b.ahead[n:]
			return
		}
		fn(b.ahead)
		b.ahead = nil
	}
}
