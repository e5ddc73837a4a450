package shell

import (
	"sync"
	"syscall"
)

// capture collects what a substitution writes.
type capture struct {
	mu   sync.Mutex
	buf  []byte
	max  int
	done chan struct{} // closed when the last writer has closed; made when somebody waits
	over bool
}

func (c *capture) write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.buf)+len(b) > c.max {
		return 0, syscall.ENOMEM
	}
	c.buf = append(c.buf, b...)
	return len(b), nil
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
