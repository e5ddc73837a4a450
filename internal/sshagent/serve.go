package sshagent

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

const (
	maxConnections = 16               // at one time; more wait in the listener's queue
	transferTime   = 10 * time.Second // in which the rest of a message is read or a message written
	answerTime     = 5 * time.Minute  // in which the agent answers: it may ask the user, or wait for a touch
)

// Options configure Serve.
type Options struct {
	Dial    func(context.Context) (net.Conn, error) // connects to the user's agent
	Refused func(what string)                       // receives each refused request, from several goroutines; what is one of a few texts
}

// Serve answers those who connect to l until ctx ends or l fails: requests to list identities, to sign and to bind a session
// go to the user's agent, and all others fail without reaching it. Each connection has one of its own to the agent, from its
// first permitted request on. Serve closes l, and returns when all connections are closed.
func Serve(ctx context.Context, l net.Listener, o Options) {
	ctx, cancel := context.WithCancel(ctx)
	var served sync.WaitGroup
	defer served.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	slots := make(chan struct{}, maxConnections)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			_ = l.Close()
			return
		}
		conn, err := l.Accept()
		if err != nil {
			_ = l.Close()
			return
		}
		served.Go(func() {
			defer func() { <-slots }()
			c := connection{inside: conn, options: o}
			defer context.AfterFunc(ctx, c.close)()
			defer c.close()
			c.serve(ctx)
		})
	}
}

// connection is that of one client, and its own to the agent.
type connection struct {
	inside  net.Conn
	options Options

	mu     sync.Mutex
	agent  net.Conn // nil before the first permitted request
	closed bool
}

// close may be called at any time and again.
func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	_ = c.inside.Close()
	if c.agent != nil {
		_ = c.agent.Close()
	}
}

// serve answers until the client ends or breaks the protocol, or the agent does not answer.
func (c *connection) serve(ctx context.Context) {
	for {
		message, err := c.read()
		if err != nil {
			return
		}
		answer := []byte{failure}
		if isPermitted(message) {
			var err error
			if answer, err = c.ask(ctx, message); err != nil {
				return
			}
		} else {
			c.options.Refused(describe(message))
		}
		if c.inside.SetWriteDeadline(time.Now().Add(transferTime)) != nil || writeMessage(c.inside, answer) != nil {
			return
		}
	}
}

// read waits for a message without a limit, and reads the rest of one that has begun within transferTime.
func (c *connection) read() ([]byte, error) {
	var header [4]byte
	if err := c.inside.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c.inside, header[:1]); err != nil {
		return nil, err
	}
	if err := c.inside.SetReadDeadline(time.Now().Add(transferTime)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c.inside, header[1:]); err != nil {
		return nil, err
	}
	return readBody(c.inside, header)
}

// ask passes a request on and returns the agent's answer, or failure if it cannot connect to the agent.
func (c *connection) ask(ctx context.Context, message []byte) ([]byte, error) {
	agent, err := c.connect(ctx)
	if err != nil || agent == nil {
		return []byte{failure}, err
	}
	if err := agent.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return nil, err
	}
	if err := writeMessage(agent, message); err != nil {
		return nil, err
	}
	return readMessage(agent)
}

// connect returns the connection to the agent; nil: nothing answers there.
func (c *connection) connect(ctx context.Context) (net.Conn, error) {
	if c.agent != nil { // only this goroutine sets it
		return c.agent, nil
	}
	dialing, cancel := context.WithTimeout(ctx, transferTime)
	defer cancel()
	agent, err := c.options.Dial(dialing)
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
