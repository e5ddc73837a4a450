// Package announced matches TCP connections with what was said about them before they arrived. Both ends of such a connection
// are on one loopback, so that its port identifies it.
package announced

import (
	"slices"
	"sync"
	"time"
)

const (
	maxExpected = 4096 // connections that were announced and have not arrived

	// expectTime is the time within which an announced connection arrives: that of TCP's attempts (tcp_syn_retries in tcp(7)).
	expectTime = 130 * time.Second
)

// Connections are the connections that are expected, with where they lead. The zero value is ready for use. It is safe for concurrent
// use.
type Connections[T any] struct {
	mu       sync.Mutex
	expected []expectation[T] // oldest first
}

// expectation is a connection that was announced.
type expectation[T any] struct {
	from  uint16 // the port from which it comes
	to    T
	until time.Time
}

// Expect stores where the next connection from a port leads. Of too many it forgets the oldest: clients that gave up leave theirs.
// withdraw forgets that connection.
func (c *Connections[T]) Expect(from uint16, to T) (withdraw func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.expected) >= maxExpected {
		c.expected = slices.Delete(c.expected, 0, 1)
	}
	c.expected = append(c.expected, expectation[T]{from, to, time.Now().Add(expectTime)})
	return func() { c.forget(from) }
}

// Take returns where the connection from a port leads, if it was announced. Connections from one port arrive in the order of their
// announcements.
func (c *Connections[T]) Take(from uint16) (to T, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.expected = slices.DeleteFunc(c.expected, func(e expectation[T]) bool { return now.After(e.until) })
	at := c.find(from)
	if at < 0 {
		return to, false
	}
	to = c.expected[at].to
	c.expected = slices.Delete(c.expected, at, at+1)
	return to, true
}

// forget withdraws the oldest announcement of a connection from a port.
func (c *Connections[T]) forget(from uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.find(from); at >= 0 {
		c.expected = slices.Delete(c.expected, at, at+1)
	}
}

// find returns the index of the oldest connection from a port, or -1. The caller holds mu.
func (c *Connections[T]) find(from uint16) int {
	return slices.IndexFunc(c.expected, func(e expectation[T]) bool { return e.from == from })
}
