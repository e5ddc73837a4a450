package executor

import (
	"io"
	"sync"
)

// maxPending is how much may wait for an agent that does not read.
const maxPending = 64 << 20

// input is what an agent is told: lines that wait until it reads them. It is an io.Reader for one reader.
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

// send appends a line. It fails when too much waits already, and when nothing is read any more.
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

// close ends the input after what was sent.
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
		in.pending = nil // a prompt of some megabytes is not kept
	}
	return n, nil
}

// tail keeps the end of what is written to it, for errors. The zero value keeps 4 KiB.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailSize = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-tailSize):]...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
