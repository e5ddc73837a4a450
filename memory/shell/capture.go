package shell

import (
	"sync"
	"syscall"
	"unsafe"
)

// capture collects what a substitution writes.
type capture struct {
	mu   sync.Mutex
	buf  []byte
	m    *machine // whose memory it takes
	told int
	full int           // how much was too much
	done chan struct{} // closed when the last writer has closed; made when somebody waits
	over bool
}

func (c *capture) write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if need := len(c.buf) + len(b); need > cap(c.buf) && need > 1<<12 || c.full > 0 {
		size := need + need/2
		if c.full == 0 && !c.m.take(size-c.told) {
			c.full = need
		}
		if c.full > 0 { // Who reads is dead by then: bash's parent is out of memory, not the writer.
			return 0, syscall.EPIPE
		}
		c.told = size
		c.buf = append(make([]byte, 0, size), c.buf...)
	}
	c.buf = append(c.buf, b...)
	return len(b), nil
}

// text returns what has been written, without newlines at the end, and passes on what is told of its memory.
// Nobody writes any more, or what they write is behind it.
func (c *capture) text() (s string, told int) {
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

func (c *capture) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.done != nil {
		close(c.done)
	}
}

// wait returns a channel that is closed when nobody can write any more; nil when it is so already.
func (c *capture) wait() <-chan struct{} {
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

// newCapture returns a description that writes to c.
func newCapture(c *capture) *description {
	d := &description{capt: c, mode: modeWrite, name: "pipe"}
	d.refs.Store(1)
	return d
}
