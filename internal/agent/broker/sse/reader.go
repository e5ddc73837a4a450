// Package sse reads and writes server-sent events as the APIs of models use them
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). Its input is untrusted: the size is bounded.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Event is one event.
type Event struct {
	Name string // its type; "": none given
	Data []byte // its data lines, joined by line breaks
	Raw  []byte // the original bytes, with comments before it and the empty line after it; Append ignores it
}

// ErrTooLong means that an event was longer than the reader's bound.
var ErrTooLong = errors.New("a server-sent event is too long")

// Reader reads events. It is not safe for concurrent use.
type Reader struct {
	in  *bufio.Reader
	max int
	raw []byte
	buf []byte // the data
	cr  bool   // the last line ended with CR, so that an LF right after it belongs to that line end
}

// NewReader returns a reader of events; limit is the size of an event in bytes, including its comments.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 16<<10), max: limit}
}

// Next returns the next event that has data; its bytes are valid until the next call. At the end it returns io.EOF, or
// io.ErrUnexpectedEOF after an incomplete event, which the standard says to discard. An event above the bound
// is [ErrTooLong]; the reader is unusable after it.
func (r *Reader) Next() (Event, error) {
	r.raw = r.raw[:0]
	e := Event{Data: r.buf[:0]}
	has := false
	for {
		line, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && (has || len(line) > 0 || e.Name != "") {
				err = io.ErrUnexpectedEOF
			}
			return Event{}, err
		}
		if len(line) == 0 {
			if has {
				e.Raw, r.buf = r.raw, e.Data
				return e, nil
			}
			e.Name = ""
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name = string(value)
		case "data":
			if has {
				e.Data = append(e.Data, '\n')
			}
			e.Data, has = append(e.Data, value...), true
		}
	}
}

// Ready reports whether another event is buffered, so that Next returns at once.
func (r *Reader) Ready() bool {
	chunk, err := r.in.Peek(r.in.Buffered())
	return err == nil && (bytes.Contains(chunk, []byte("\n\n")) || bytes.Contains(chunk, []byte("\n\r\n")))
}

// line reads one line into raw and returns it without its line end.
func (r *Reader) line() ([]byte, error) {
	if r.cr {
		r.cr = false
		if b, err := r.in.Peek(1); err == nil && b[0] == '\n' {
			r.raw = append(r.raw, '\n')
			if _, err := r.in.Discard(1); err != nil {
				return nil, err
			}
		}
	}
	start := len(r.raw)
	for {
		if _, err := r.in.Peek(1); err != nil {
			return r.raw[start:], err
		}
		chunk, err := r.in.Peek(r.in.Buffered())
		if err != nil {
			return nil, err
		}
		i := bytes.IndexAny(chunk, "\r\n")
		n := len(chunk)
		if i >= 0 {
			n = i + 1
		}
		if len(r.raw)+n > r.max {
			return nil, fmt.Errorf("%w: over %d bytes", ErrTooLong, r.max)
		}
		r.raw = append(r.raw, chunk[:n]...)
		r.cr = i >= 0 && chunk[i] == '\r'
		if _, err := r.in.Discard(n); err != nil {
			return nil, err
		}
		if i >= 0 {
			return r.raw[start : len(r.raw)-1], nil
		}
	}
}

// Append appends the encoded event.
func Append(to []byte, e Event) []byte {
	if e.Name != "" {
		to = append(append(append(to, "event: "...), e.Name...), '\n')
	}
	for line := range bytes.SplitSeq(e.Data, []byte("\n")) {
		to = append(append(append(to, "data: "...), line...), '\n')
	}
	return append(to, '\n')
}
