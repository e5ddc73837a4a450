package memory

import (
	"fmt"
	"io"
	"sync"
)

// clip is a writer that stores the head and the tail of its input, and passes all of it on.
type clip struct {
	limit int       // bytes to store; negative: all
	next  io.Writer // may be nil

	mu    sync.Mutex
	head  []byte
	tail  []byte // a ring of limit/2 bytes once it is full
	at    int    // where the ring's oldest byte is
	total int64
}

// Write stores as many bytes as fit. Its error is that of next.
func (c *clip) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.store(p)
	c.mu.Unlock()
	if c.next == nil {
		return len(p), nil
	}
	return c.next.Write(p)
}

func (c *clip) store(p []byte) {
	c.total += int64(len(p))
	if c.limit < 0 {
		c.head = append(c.head, p...)
		return
	}
	half := c.limit / 2
	n := min(len(p), c.limit-half-len(c.head))
	c.head = append(c.head, p[:n]...)
	p = p[n:]
	if len(p) > half {
		p = p[len(p)-half:]
	}
	if n := min(len(p), half-len(c.tail)); n > 0 {
		c.tail = append(c.tail, p[:n]...)
		p = p[n:]
	}
	for len(p) > 0 {
		n := copy(c.tail[c.at:], p)
		p = p[n:]
		c.at = (c.at + n) % half
	}
}

// isCut reports whether bytes were left out.
func (c *clip) isCut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total > int64(len(c.head)+len(c.tail))
}

// text returns the stored bytes, and between head and tail how many were left out.
func (c *clip) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := string(c.tail[c.at:]) + string(c.tail[:c.at])
	if lost := c.total - int64(len(c.head)+len(c.tail)); lost > 0 {
		return fmt.Sprintf("%s\n[... %d bytes left out ...]\n%s", c.head, lost, tail)
	}
	return string(c.head) + tail
}
