// Package jsonl reads lines of JSON from untrusted programs: for any input, the
// memory that reading takes stays bounded.
package jsonl

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
)

// keep is how many bytes of a line above the bound remain.
const keep = 1 << 10

// Line is one line without its end.
type Line struct {
	Text []byte // valid until the next line; the beginning only when Cut is set
	Size int64  // of the whole line in bytes
	Cut  bool   // the line was longer than the bound, and the rest of it was thrown away
}

// Lines reads r to its end, line by line, and leaves out empty lines. A line of more than limit
// bytes is skipped, except for its beginning. The last line needs no end. Between lines ctx is
// looked at; a read that blocks ends when the owner of r closes it. The last pair has an error, if any,
// and that is never io.EOF.
func Lines(ctx context.Context, r io.Reader, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var buf []byte
		for {
			if err := ctx.Err(); err != nil {
				yield(Line{}, err)
				return
			}
			line, err := next(in, buf[:0], limit)
			buf = line.Text
			line.Text = bytes.TrimSpace(line.Text)
			if len(line.Text) > 0 && !yield(line, nil) {
				return
			}
			if cap(buf) > 1<<20 {
				buf = nil // one long line does not hold memory for ever
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					yield(Line{}, err)
				}
				return
			}
		}
	}
}

// next reads up to the next end of a line into buf.
func next(in *bufio.Reader, buf []byte, limit int) (Line, error) {
	line := Line{Text: buf}
	for {
		part, err := in.ReadSlice('\n')
		line.Size += int64(len(part))
		switch {
		case line.Cut:
		case line.Size > int64(limit)+1, line.Size > int64(limit) && part[len(part)-1] != '\n':
			line.Text = append(line.Text, part...)
			line.Text = bytes.Clone(line.Text[:min(len(line.Text), keep, limit)])
			line.Cut = true
		default:
			line.Text = append(line.Text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			if n := len(part); n > 0 && part[n-1] == '\n' {
				line.Size--
			}
			return line, err
		}
	}
}
