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

// keep is the number of bytes of an overlong line that are retained.
const keep = 1 << 10

// Line is one line without its line end.
type Line struct {
	Text []byte // valid until the next line; if Cut is set, only the beginning
	Size int64  // of the whole line in bytes
	Cut  bool   // the line was longer than the limit, and its rest was discarded
}

// Lines reads r to its end, line by line, and leaves out empty lines. Of a line of more than limit
// bytes it yields only the beginning. The last line need not end with a line break. It checks ctx
// between lines; to end a read that blocks, the owner of r closes it. The last pair has the error, if
// any, which is never io.EOF.
func Lines(ctx context.Context, r io.Reader, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var buf []byte
		for {
			if err := ctx.Err(); err != nil {
				yield(Line{}, err)
				return
			}
			line, err := readLine(in, buf[:0], limit)
			buf = line.Text
			line.Text = bytes.TrimSpace(line.Text)
			if len(line.Text) > 0 && !yield(line, nil) {
				return
			}
			if cap(buf) > 1<<20 {
				buf = nil // release the memory of a long line
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

// readLine reads up to the next line break into buf.
func readLine(in *bufio.Reader, buf []byte, limit int) (Line, error) {
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
