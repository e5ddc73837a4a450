package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// The bounds on what a server sends.
const (
	maxFrame  = 16 << 20  // bytes of one event
	maxStream = 128 << 20 // bytes of one stream
	maxSaid   = 16 << 20  // bytes of one answer: text, thinking and the arguments of tools
	maxCalls  = 128       // tools that one answer asks for
)

// frame is one server-sent event. Its data is valid until the next.
type frame struct {
	name string
	data []byte
}

// frames reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) within bounds.
type frames struct {
	in    *bufio.Reader
	data  []byte
	size  int64
	limit int64  // of size
	alive func() // called for each line, also for comments, which servers send to keep the connection open
}

func newFrames(r io.Reader, alive func()) *frames {
	return &frames{in: bufio.NewReaderSize(r, 8<<10), limit: maxStream, alive: alive}
}

// next returns the next event that has data, and io.EOF at the end. At the end of the stream an event
// counts without its empty line when its data is complete.
func (f *frames) next() (frame, error) {
	var name string
	f.data = f.data[:0]
	for {
		line, err := f.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return frame{}, err
		}
		if field, value, ok := cutField(line); ok {
			switch field {
			case "event":
				name = value
			case "data":
				if len(f.data) > 0 {
					f.data = append(f.data, '\n')
				}
				f.data = append(f.data, value...)
			}
			if len(f.data) > maxFrame {
				return frame{}, fmt.Errorf("it sent an event of over %d MiB", maxFrame>>20)
			}
		}
		data := bytes.TrimSpace(f.data)
		switch {
		case err != nil && len(data) > 0 && (json.Valid(data) || isDone(data)):
			return frame{name, data}, nil
		case err != nil:
			return frame{}, err
		case len(line) > 0:
		case len(data) > 0:
			return frame{name, data}, nil
		default:
			name, f.data = "", f.data[:0]
		}
	}
}

func isDone(data []byte) bool { return bytes.HasPrefix(data, []byte("[DONE]")) }

// cutField splits "field: value"; a line that begins with a colon is a comment.
func cutField(line []byte) (field, value string, ok bool) {
	name, rest, _ := bytes.Cut(line, []byte(":"))
	rest = bytes.TrimPrefix(rest, []byte(" "))
	return string(name), string(rest), len(name) > 0
}

// line reads one line without its end.
func (f *frames) line() ([]byte, error) {
	var long []byte
	for {
		part, err := f.in.ReadSlice('\n')
		if f.size == 0 {
			part = bytes.TrimPrefix(part, []byte("\xef\xbb\xbf"))
		}
		f.size += int64(len(part))
		switch {
		case f.size > f.limit:
			return nil, fmt.Errorf("it sent over %d MiB for one answer", f.limit>>20)
		case len(long)+len(part) > maxFrame:
			return nil, fmt.Errorf("it sent a line of over %d MiB", maxFrame>>20)
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
			continue
		}
		if long != nil {
			part = append(long, part...)
		}
		if err == nil {
			f.alive()
		}
		return bytes.TrimRight(part, "\r\n"), err
	}
}
