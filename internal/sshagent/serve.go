package sshagent

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agentsocket"
)

// Serve answers those who connect to l until ctx ends or l fails: requests to list identities, to sign and to bind a session
// go to the user's agent, and all others fail without reaching it. Each connection has one of its own to the agent, from its
// first permitted request on. Serve closes l, and returns when all connections are closed.
func Serve(ctx context.Context, l net.Listener, o agentsocket.Options) {
	agentsocket.Serve(ctx, l, o.Dial, func(ctx context.Context, conn *agentsocket.Conn) {
		c := connection{conn, o}
		c.serve(ctx)
	})
}

// connection is that of one client.
type connection struct {
	*agentsocket.Conn
	options agentsocket.Options
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
		if c.Inside.SetWriteDeadline(time.Now().Add(agentsocket.TransferTime)) != nil || writeMessage(c.Inside, answer) != nil {
			return
		}
	}
}

// read waits for a message without a limit, and reads the rest of one that has begun within TransferTime.
func (c *connection) read() ([]byte, error) {
	var header [4]byte
	if err := c.Inside.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c.Inside, header[:1]); err != nil {
		return nil, err
	}
	if err := c.Inside.SetReadDeadline(time.Now().Add(agentsocket.TransferTime)); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(c.Inside, header[1:]); err != nil {
		return nil, err
	}
	return readBody(c.Inside, header)
}

// ask passes a request on and returns the agent's answer, or failure if it cannot connect to the agent.
func (c *connection) ask(ctx context.Context, message []byte) ([]byte, error) {
	agent, err := c.Agent(ctx)
	if err != nil || agent == nil {
		return []byte{failure}, err
	}
	if err := agent.SetDeadline(time.Now().Add(agentsocket.AnswerTime)); err != nil {
		return nil, err
	}
	if err := writeMessage(agent, message); err != nil {
		return nil, err
	}
	return readMessage(agent)
}
