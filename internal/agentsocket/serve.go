// Package agentsocket accepts the connections of commands to an agent that holds the user's keys, and makes those to the agent
// itself. What may pass between them is up to the caller.
package agentsocket

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	// TransferTime is the time in which the rest of a message is read, or a message written.
	TransferTime = 10 * time.Second
	// AnswerTime is the time in which an agent answers: it may ask the user, or wait for a touch.
	AnswerTime = 5 * time.Minute
	// MaxConnections is the number of connections at one time; more wait in the listener's queue.
	MaxConnections = 16
)

// Options configure a server.
type Options struct {
	Dial    func(context.Context) (net.Conn, error) // connects to the user's agent
	Refused func(what string)                       // receives each refused request, from several goroutines; what is one of a few texts
}

// Serve calls answer for each connection to l, in a goroutine of its own, until ctx ends or l fails. Serve closes l and all
// connections, and returns when all calls have returned.
func Serve(ctx context.Context, l net.Listener, dial func(context.Context) (net.Conn, error), answer func(context.Context, *Conn)) {
	ctx, cancel := context.WithCancel(ctx)
	var served sync.WaitGroup
	defer served.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	slots := make(chan struct{}, MaxConnections)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			_ = l.Close()
			return
		}
		inside, err := l.Accept()
		if err != nil {
			_ = l.Close()
			return
		}
		served.Go(func() {
			defer func() { <-slots }()
			c := &Conn{Inside: inside, dial: dial}
			defer context.AfterFunc(ctx, c.close)()
			defer c.close()
			answer(ctx, c)
		})
	}
}

// Conn is the connection of one client, and its own to the agent.
type Conn struct {
	Inside net.Conn // that of the client

	dial   func(context.Context) (net.Conn, error)
	mu     sync.Mutex
	agent  net.Conn // nil before the first call of Agent
	closed bool
}

// close may be called at any time and again.
func (c *Conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	_ = c.Inside.Close()
	if c.agent != nil {
		_ = c.agent.Close()
	}
}

// Agent returns the connection to the agent, and makes it first if there is none; nil: nothing answers there. Only the goroutine of
// the call of answer calls it.
func (c *Conn) Agent(ctx context.Context) (net.Conn, error) {
	if c.agent != nil {
		return c.agent, nil
	}
	dialing, cancel := context.WithTimeout(ctx, TransferTime)
	defer cancel()
	agent, err := c.dial(dialing)
	if err != nil {
		return nil, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.Join(net.ErrClosed, agent.Close())
	}
	c.agent = agent
	return agent, nil
}
