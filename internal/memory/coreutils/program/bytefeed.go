package program

import (
	"bytes"
	"io"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// ByteFeed hands out a stream in the pieces that a scanner wants.
type ByteFeed struct {
	Lines *LineReader
	Ahead []byte // read, not used yet
}

// NewByteFeed returns a feed without a stream; Reset gives it one.
func NewByteFeed(p *shell.Proc) *ByteFeed { return &ByteFeed{Lines: NewLineReader(p, nil, '\n')} }

// Reset goes on with another stream.
func (b *ByteFeed) Reset(in io.Reader) {
	b.Lines.Reset(in)
	b.Ahead = nil
}

// More makes sure that there is something ahead; false at the end.
func (b *ByteFeed) More() bool {
	if len(b.Ahead) > 0 {
		return true
	}
	next, ok := b.Lines.Bytes()
	if ok {
		b.Ahead = next
	}
	return ok
}

// At reports whether c comes next.
func (b *ByteFeed) At(c byte) bool { return b.More() && b.Ahead[0] == c }

// RestOfLine passes the rest of a line to fn, with its end, which the last one may lack.
func (b *ByteFeed) RestOfLine(fn func(piece []byte)) {
	for b.More() {
		n := bytes.IndexByte(b.Ahead, '\n') + 1
		if n > 0 {
			fn(b.Ahead[:n])
			b.Ahead = b.Ahead[n:]
			return
		}
		fn(b.Ahead)
		b.Ahead = nil
	}
}
