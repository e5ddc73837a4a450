package fd

import (
	"context"
	"io"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/errno"
)

// unreader is an input that takes back bytes; see shell.Unreader.
type unreader interface{ Unread(b []byte) }

// Host is a reader or writer of the program that runs the shell.
type Host struct {
	r io.Reader
	w io.Writer

	mu   sync.Mutex    // one read or write at a time
	done chan struct{} // closed when it must not be used any more
	end  sync.Once

	late sync.Mutex // held to decide whether what was fetched comes before done

	pending chan []byte // a read that goes on; closed at the end of the input
	rest    []byte
}

// NewHost returns a description of a reader or writer; the other one is nil.
func NewHost(r io.Reader, w io.Writer, name string) *Description {
	h := &Host{r: r, w: w, done: make(chan struct{})}
	d := &Description{Host: h, Name: name}
	if r != nil {
		d.Mode |= ModeRead
	}
	if w != nil {
		d.Mode |= ModeWrite
	}
	d.refs.Store(1)
	return d
}

// Done is closed when the stream is not used any more.
func (h *Host) Done() <-chan struct{} { return h.done }

// Finish ends all use of the caller's stream: the run ends, though a job may go on.
func (h *Host) Finish() {
	h.end.Do(func() {
		h.late.Lock()
		defer h.late.Unlock()
		close(h.done)
	})
	h.mu.Lock() // A write that is being made ends before Finish returns.
	defer h.mu.Unlock()
	select {
	case data, ok := <-h.pending:
		if ok {
			h.rest = data
		}
	default:
	}
	h.unread(h.rest)
	h.rest = nil
}

// unread gives back bytes that no process has read.
func (h *Host) unread(b []byte) {
	if to, ok := h.r.(unreader); ok && len(b) > 0 {
		to.Unread(b)
	}
}

// terminal returns the size of the caller's terminal.
func (h *Host) terminal() (columns, rows int, ok bool) {
	type terminal interface {
		Terminal() (columns, rows int, ok bool)
	}
	for _, stream := range []any{h.r, h.w} {
		if t, is := stream.(terminal); is {
			return t.Terminal()
		}
	}
	return 0, 0, false
}

func (h *Host) finished() bool {
	select {
	case <-h.done:
		return true
	default:
		return false
	}
}

func (h *Host) write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.finished() {
		return 0, syscall.EIO
	}
	if len(b) == 0 { // The reader would not see it, and a missing reader is no error then.
		return 0, nil
	}
	n, err := h.w.Write(b)
	if err != nil && errno.Of(err) == 0 {
		err = syscall.EIO
	}
	return n, err
}

// lengther is a reader in memory, which never waits.
type lengther interface{ Len() int }

// read reads from the caller's reader. One that may wait is read by a goroutine of its own, so that
// the end of ctx ends the wait; that goroutine lasts until the reader returns.
func (h *Host) read(ctx context.Context, b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.r.(lengther); ok {
		if h.finished() {
			return 0, io.EOF
		}
		return h.r.Read(b)
	}
	if len(h.rest) == 0 {
		if h.pending == nil {
			h.pending = make(chan []byte, 1)
			go h.fetch(h.pending)
		}
		select {
		case data, ok := <-h.pending:
			if !ok { // And it stays closed: the end of the input.
				return 0, io.EOF
			}
			h.rest, h.pending = data, nil
		case <-h.done:
			return 0, io.EOF
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	n := copy(b, h.rest)
	h.rest = h.rest[n:]
	return n, nil
}

// fetch reads once for each request: input that no process requests stays with the caller.
func (h *Host) fetch(to chan<- []byte) {
	buf := make([]byte, 32<<10)
	for {
		n, err := h.r.Read(buf)
		if n > 0 {
			h.deliver(to, buf[:n])
			return
		}
		if err != nil {
			close(to)
			return
		}
	}
}

// deliver passes the fetched data on, or returns it when it is too late.
func (h *Host) deliver(to chan<- []byte, data []byte) {
	h.late.Lock()
	defer h.late.Unlock()
	if h.finished() {
		h.unread(data)
		return
	}
	to <- data
}
