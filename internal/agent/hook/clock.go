package hook

import (
	"sync"
	"time"
)

// clock calls a function once when it has run for so long; it stands still while it is paused.
type clock struct {
	mu    sync.Mutex
	timer *time.Timer
	since time.Time
	left  time.Duration
}

func startClock(limit time.Duration, ring func()) *clock {
	return &clock{timer: time.AfterFunc(limit, ring), since: time.Now(), left: limit}
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now()
	c.timer.Reset(max(c.left, time.Millisecond))
}

// stop ends the clock, and reports whether it had not rung.
func (c *clock) stop() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timer.Stop()
}
