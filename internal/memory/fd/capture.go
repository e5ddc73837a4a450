package fd

import (
	"sync"
	"syscall"
	"unsafe"
)

// Memory counts the memory of captures.
type Memory interface {
	// Take counts n more bytes. False: there are not as many, and none was counted.
	Take(n int) bool
}

// Capture collects the output of a substitution.
type Capture struct {
	mu   sync.Mutex
	buf  []byte
	m    Memory
	told int
	full int           // how much was too much
	done chan struct{} // closed when the last writer has closed; made by the first Wait
	over bool
}

// NewCapture returns a capture whose memory is taken from m.
func NewCapture(m Memory) *Capture { return &Capture{m: m} }

// Full returns how many bytes were too many, 0 when there was memory for all.
func (c *Capture) Full() int { return c.full }

// Write implements io.Writer. EPIPE: the memory does not suffice.
func (c *Capture) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if need := len(c.buf) + len(b); need > cap(c.buf) && need > 1<<12 || c.full > 0 {
		size := need + need/2
		if c.full == 0 && !c.m.Take(size-c.told) {
			c.full = need
		}
		if c.full > 0 { // The reader is dead by then: in bash the parent runs out of memory, not the writer.
			return 0, syscall.EPIPE
		}
		c.told = size
		c.buf = append(make([]byte, 0, size), c.buf...)
	}
	c.buf = append(c.buf, b...)
	return len(b), nil
}

// Text returns the output, without newlines at the end, and the bytes that it has taken for it.
// All writers have closed, or what they write later is lost.
func (c *Capture) Text() (s string, told int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.buf)
	for n > 0 && c.buf[n-1] == '\n' {
		n--
	}
	told, c.told = c.told, 0
	c.full = max(c.full, 1)
	if n < 1<<12 || n < cap(c.buf)/2 {
		return string(c.buf[:n]), told
	}
	return unsafe.String(unsafe.SliceData(c.buf), n), told
}

// finish notes that the last writer has closed.
func (c *Capture) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.done != nil {
		close(c.done)
	}
}

// Wait returns a channel that is closed when the last writer closes; nil when there is none.
func (c *Capture) Wait() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return nil
	}
	if c.done == nil {
		c.done = make(chan struct{})
	}
	return c.done
}

// Description returns a description that writes to c.
func (c *Capture) Description() *Description {
	d := &Description{capt: c, Mode: ModeWrite, Name: "pipe"}
	d.refs.Store(1)
	return d
}
