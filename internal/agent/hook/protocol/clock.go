package protocol

import (
	"sync"
	"time"
)

// Clock calls a function once after it has run for a time. Pauses do not count.
type Clock struct {
	mu    sync.Mutex
	timer *time.Timer
	since time.Time
	left  time.Duration
}

// StartClock returns a running Clock that calls ring after limit.
func StartClock(limit time.Duration, ring func()) *Clock {
	return &Clock{timer: time.AfterFunc(limit, ring), since: time.Now(), left: limit}
}

// Pause stops the clock until Resume.
func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

// Resume continues after Pause.
func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now()
	c.timer.Reset(max(c.left, time.Millisecond))
}

// Stop ends the clock and reports whether it had not fired yet.
func (c *Clock) Stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timer.Stop()
}
