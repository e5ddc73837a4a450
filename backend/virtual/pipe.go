package virtual

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// listener accepts connections that are made in memory. Nothing of the host can connect to it.
type listener struct {
	arriving chan net.Conn
	closed   chan struct{}
	close    func()
}

func newListener() *listener {
	l := &listener{arriving: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.arriving:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It may be called more than once.
func (l *listener) Close() error {
	l.close()
	return nil
}

// Addr is nobody's.
func (l *listener) Addr() net.Addr { return memoryAddr{} }

// dial connects.
func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	mine, theirs := newPipe()
	select {
	case l.arriving <- theirs:
		return mine, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }

// pipeSize is how much a direction holds. net.Pipe holds nothing: two ends that both write would wait for
// each other, as a proxy does that refuses a request which is still being sent.
const pipeSize = 64 << 10

// newPipe returns the two ends of a connection in memory.
func newPipe() (a, b *pipeConn) {
	there, back := newStream(), newStream()
	return newEnd(back, there), newEnd(there, back)
}

// stream is one direction.
type stream struct {
	mu     sync.Mutex
	data   []byte
	ended  bool          // nothing more is written
	broken bool          // nobody reads
	change chan struct{} // closed when something of this changes
}

func newStream() *stream { return &stream{change: make(chan struct{})} }

// changed wakes who waits; the caller holds mu.
func (s *stream) changed() {
	close(s.change)
	s.change = make(chan struct{})
}

func (s *stream) read(p []byte) (n int, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.broken:
		return 0, nil, io.ErrClosedPipe
	case len(s.data) > 0:
		n = copy(p, s.data)
		s.data = s.data[n:]
		if len(s.data) == 0 {
			s.data = nil
		}
		s.changed()
		return n, nil, nil
	case s.ended:
		return 0, nil, io.EOF
	}
	return 0, s.change, nil
}

func (s *stream) write(p []byte) (n int, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken || s.ended {
		return 0, nil, io.ErrClosedPipe
	}
	if n = min(len(p), pipeSize-len(s.data)); n > 0 {
		s.data = append(s.data, p[:n]...)
		s.changed()
		return n, nil, nil
	}
	return 0, s.change, nil
}

// end is the end of what is written; with reader, also of what is read.
func (s *stream) end(reader bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = true; reader {
		s.broken, s.data = true, nil
	}
	s.changed()
}

// pipeConn is an end of a connection in memory.
type pipeConn struct {
	in, out             *stream
	readLate, writeLate deadline
}

func newEnd(in, out *stream) *pipeConn {
	c := &pipeConn{in: in, out: out}
	c.readLate.passed, c.writeLate.passed = make(chan struct{}), make(chan struct{})
	return c
}

// Read waits for data, the end or the deadline.
func (c *pipeConn) Read(p []byte) (int, error) {
	for {
		late := c.readLate.wait()
		if isClosed(late) {
			return 0, os.ErrDeadlineExceeded
		}
		if len(p) == 0 {
			return 0, nil
		}
		n, wait, err := c.in.read(p)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-wait:
		case <-late:
		}
	}
}

// Write returns when all of p is on its way, or with an error.
func (c *pipeConn) Write(p []byte) (int, error) {
	total := 0
	for total < len(p) {
		late := c.writeLate.wait()
		if isClosed(late) {
			return total, os.ErrDeadlineExceeded
		}
		n, wait, err := c.out.write(p[total:])
		total += n
		if err != nil {
			return total, err
		}
		if n > 0 {
			continue
		}
		select {
		case <-wait:
		case <-late:
		}
	}
	return total, nil
}

// Close ends both directions. The other end still gets what was written before.
func (c *pipeConn) Close() error {
	c.in.end(true)
	c.out.end(false)
	c.readLate.set(time.Time{})
	c.writeLate.set(time.Time{})
	return nil
}

// CloseWrite ends what is written.
func (c *pipeConn) CloseWrite() error {
	c.out.end(false)
	return nil
}

// LocalAddr is nobody's.
func (c *pipeConn) LocalAddr() net.Addr { return memoryAddr{} }

// RemoteAddr is nobody's.
func (c *pipeConn) RemoteAddr() net.Addr { return memoryAddr{} }

// SetDeadline sets both deadlines.
func (c *pipeConn) SetDeadline(t time.Time) error {
	c.readLate.set(t)
	c.writeLate.set(t)
	return nil
}

// SetReadDeadline also ends a Read that waits.
func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.readLate.set(t)
	return nil
}

// SetWriteDeadline also ends a Write that waits.
func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.writeLate.set(t)
	return nil
}

// deadline is a moment after which nothing is waited for.
type deadline struct {
	mu     sync.Mutex
	timer  *time.Timer
	passed chan struct{} // closed when it has
}

func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}

func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.passed // It is about to be closed.
	}
	d.timer = nil
	if isClosed(d.passed) {
		d.passed = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	passed := d.passed
	if left := time.Until(t); left > 0 {
		d.timer = time.AfterFunc(left, func() { close(passed) })
	} else {
		close(passed)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
