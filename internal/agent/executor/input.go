package executor

import (
	"io"
	"sync"
)

// maxPending limits the input that an agent has not read yet, in bytes.
const maxPending = 64 << 20

// input is a queue of lines for an agent's standard input. It is an io.Reader for one reader.
type input struct {
	mu      sync.Mutex
	changed sync.Cond
	pending []byte
	closed  bool
}

func newInput() *input {
	in := &input{}
	in.changed.L = &in.mu
	return in
}

// send appends a line. It fails when the queue is full or its reader has stopped.
func (in *input) send(line []byte) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.closed || len(in.pending) > maxPending {
		return false
	}
	in.pending = append(append(in.pending, line...), '\n')
	in.changed.Signal()
	return true
}

// close ends the input after the lines in the queue.
func (in *input) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.changed.Broadcast()
}

// Read implements io.Reader.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.pending) == 0 {
		if in.closed {
			return 0, io.EOF
		}
		in.changed.Wait()
	}
	n := copy(p, in.pending)
	if in.pending = in.pending[n:]; len(in.pending) == 0 {
		in.pending = nil // free a prompt of some megabytes
	}
	return n, nil
}

// tail retains the last 4 KiB that are written to it, for errors. The zero value is ready to use.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailSize = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p[max(0, len(p)-tailSize):]...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
