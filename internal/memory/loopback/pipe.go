package loopback

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeSize is the capacity of one direction in bytes. net.Pipe has none: two ends that both write would wait for
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
	broken bool          // the reader has closed it
	change chan struct{} // closed when something of this changes
}

func newStream() *stream { return &stream{change: make(chan struct{})} }

// changed wakes waiting readers and writers; the caller holds mu.
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

// closeWrite ends the stream; with reader, it also drops data that was not read.
func (s *stream) closeWrite(reader bool) {
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

// Write returns when all of p is in the pipe, or with an error.
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

// Close ends both directions. The other end still gets the data that was written before.
func (c *pipeConn) Close() error {
	c.in.closeWrite(true)
	c.out.closeWrite(false)
	c.readLate.set(time.Time{})
	c.writeLate.set(time.Time{})
	return nil
}

// CloseWrite ends the writing direction.
func (c *pipeConn) CloseWrite() error {
	c.out.closeWrite(false)
	return nil
}

// LocalAddr returns a placeholder: a connection in memory has no address.
func (c *pipeConn) LocalAddr() net.Addr { return memoryAddr{} }

// RemoteAddr returns the same placeholder.
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

// deadline is the time at which a blocked Read or Write ends.
type deadline struct {
	mu     sync.Mutex
	timer  *time.Timer
	passed chan struct{} // closed when the time has come
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
