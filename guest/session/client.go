package session

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/yamux"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Client is the host's end of a session. It is safe for concurrent use.
type Client struct{ open func() (stream, error) }

// stream is one of the session's.
type stream interface {
	io.ReadWriteCloser
	StreamID() uint32
}

// Connection is a session that this process holds.
type Connection struct {
	Client

	mux *yamux.Session
}

// Connect greets the guest at the other end of conn, until ctx ends. An end that is no guest, or one of another
// version, is Unavailable. The caller closes the connection, and conn with it.
func Connect(ctx context.Context, conn io.ReadWriteCloser) (*Connection, error) {
	if err := greet(ctx, conn); err != nil {
		_ = conn.Close()
		if _, ok := errors.AsType[*sandbox.Error](err); ok {
			return nil, err
		}
		return nil, sandbox.Errorf(sandbox.Unavailable, "the guest did not answer: %w", err)
	}
	mux, err := yamux.Client(conn, settings())
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	go refuse(mux)
	c := &Connection{mux: mux}
	c.open = func() (stream, error) { return mux.OpenStream() }
	return c, nil
}

// refuse closes what the guest opens: it has nothing to ask.
func refuse(mux *yamux.Session) {
	for {
		s, err := mux.AcceptStream()
		if err != nil {
			return
		}
		_ = s.Close()
	}
}

// Done is closed when the connection has ended.
func (c *Connection) Done() <-chan struct{} { return c.mux.CloseChan() }

// Close ends the connection; the guest kills what runs.
func (c *Connection) Close() error { return c.mux.Close() }

// Command is what a guest is asked to run.
type Command struct {
	Args []string          // the program and its arguments; the program is looked up in the PATH of Env
	Env  []string          // the whole environment
	Dir  string            // absolute; empty: where the sandbox starts, which a guest does not know
	TTY  *sandbox.Terminal // it gets a terminal of this size, on which its errors are output, too; nil: pipes
}

// Start runs a command. When ctx ends, what the command has started is killed, all of it. A program that
// cannot be found or executed is an error with an *[sandbox.ExecError].
func (c *Client) Start(ctx context.Context, cmd Command, stdio sandbox.Stdio) (*Process, error) {
	if err := checkCommand(cmd); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	req := request{Args: byteStrings(cmd.Args), Env: byteStrings(cmd.Env), Dir: cmd.Dir, TTY: cmd.TTY}
	p := &Process{name: cmd.Args[0], stdio: stdio, done: make(chan struct{})}
	if stdio.Stdin != nil {
		in, err := c.openStream()
		if err != nil {
			return nil, err
		}
		p.input, req.Input = in, in.StreamID()
	}
	s, err := c.openStream()
	if err != nil {
		p.close()
		return nil, err
	}
	p.stream = s
	p.stop = context.AfterFunc(ctx, p.kill)
	if err := p.begin(req); err != nil {
		p.stop()
		p.close()
		return nil, firstOf(ctx.Err(), err)
	}
	return p, nil
}

func (c *Client) openStream() (stream, error) {
	s, err := c.open()
	if err != nil {
		return nil, ended(err)
	}
	return s, nil
}

// ended is the error of a session that has ended.
func ended(err error) error {
	return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: %w", err)
}

// checkCommand refuses what could not be passed on unchanged.
func checkCommand(cmd Command) error {
	for _, s := range slices.Concat(cmd.Args, cmd.Env, []string{cmd.Dir}) {
		if strings.ContainsRune(s, 0) {
			return sandbox.Errorf(sandbox.Invalid, "%.100q holds a NUL byte", s)
		}
	}
	for _, kv := range cmd.Env {
		if !strings.Contains(kv, "=") || strings.HasPrefix(kv, "=") {
			return sandbox.Errorf(sandbox.Invalid, "environment entry %.100q is not NAME=VALUE", kv)
		}
	}
	switch {
	case len(cmd.Args) == 0 || cmd.Args[0] == "":
		return sandbox.Errorf(sandbox.Invalid, "no command was given")
	case cmd.Dir != "" && !strings.HasPrefix(cmd.Dir, "/"):
		return sandbox.Errorf(sandbox.Invalid, "working directory %q is not absolute", cmd.Dir)
	}
	return nil
}
