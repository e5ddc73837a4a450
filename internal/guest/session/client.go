package session

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Client is the host's end of a session. It is safe for concurrent use.
type Client struct {
	mux     *mux.Session
	fall    *fall
	sandbox string // name of the sandbox in requests; empty: the other end has one sandbox
}

// Of returns a client for one of several sandboxes that the process at the other end holds; see [Shared].
func (c *Client) Of(sandbox string) *Client { return &Client{c.mux, c.fall, sandbox} }

// Connection is a session that this process holds.
type Connection struct {
	Client

	relays *relays

	freezing sync.Mutex  // held during Freeze and Thaw
	frozen   atomic.Bool // this connection has frozen the sandbox
}

// Connect exchanges greetings with the guest at the other end of conn; ctx limits only that. Unavailable: the other end
// is not a guest of this version. The caller closes the connection, which also closes conn.
func Connect(ctx context.Context, conn io.ReadWriteCloser) (*Connection, error) {
	r, err := greet(ctx, conn)
	if err != nil {
		_ = conn.Close()
		if _, ok := errors.AsType[*sandbox.Error](err); ok {
			return nil, err
		}
		return nil, sandbox.Errorf(sandbox.Unavailable, "the guest did not answer: %w", err)
	}
	m := mux.Client(conn, r)
	c := &Connection{Client: Client{mux: m, fall: &fall{}}, relays: &relays{end: m.Done(), all: map[string]*relayListener{}}}
	go c.relays.accept(m)
	return c, nil
}

// Done is closed when the connection has ended.
func (c *Connection) Done() <-chan struct{} { return c.mux.Done() }

// Close ends the connection; the guest kills the client's commands.
func (c *Connection) Close() error { return c.mux.Close() }

// Command is a command for a guest.
type Command struct {
	Args []string          // the program and its arguments; the program is looked up in the PATH of Env
	Env  []string          // the whole environment
	Dir  string            // absolute; empty: the initial directory, for shared sandboxes only
	TTY  *sandbox.Terminal // the size of its terminal, to which standard error goes, too; nil: pipes
	// Leave ends Wait with the command itself; see [sandbox.Cmd].
	Leave bool
}

// Start starts a command. When ctx ends, the guest kills the command and everything that it has started. For a program that cannot
// be found or executed the error has an *[sandbox.ExecError].
func (c *Client) Start(ctx context.Context, cmd Command, stdio sandbox.Stdio) (*Process, error) {
	if err := checkCommand(cmd); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	req := request{Sandbox: c.sandbox, Args: byteStrings(cmd.Args), Env: byteStrings(cmd.Env), Dir: cmd.Dir, TTY: cmd.TTY, Leave: cmd.Leave}
	p := &Process{mux: c.mux, name: cmd.Args[0], stdio: stdio, done: make(chan struct{})}
	if stdio.Stdin != nil {
		in, err := c.openStream()
		if err != nil {
			return nil, err
		}
		p.input, req.Input, req.Typed = in, in.ID(), inputTerminal(stdio.Stdin)
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

// typed is input from a terminal of this size.
type typed struct {
	io.Reader

	size sandbox.Terminal
}

// Terminal returns the size of the terminal. The in-memory shell uses this method to recognize terminals.
func (t typed) Terminal() (columns, rows int, ok bool) {
	return int(t.size.Cols), int(t.size.Rows), true
}

// inputTerminal returns the size of the terminal from which the input comes; nil: the input has another source. The
// command then gets a terminal, too, because programs such as rg would search a pipe instead of the directory.
func inputTerminal(r io.Reader) *sandbox.Terminal {
	var columns, rows int
	var ok bool
	switch r := r.(type) {
	case interface {
		Terminal() (columns, rows int, ok bool)
	}:
		columns, rows, ok = r.Terminal()
	case *os.File:
		columns, rows, ok = terminalSize(r)
	}
	if !ok || columns < 0 || rows < 0 || columns > 0xffff || rows > 0xffff {
		return nil
	}
	return &sandbox.Terminal{Rows: uint16(rows), Cols: uint16(columns)}
}

// terminalSize returns the size of the terminal if the file is one.
func terminalSize(f *os.File) (columns, rows int, ok bool) {
	conn, err := f.SyscallConn() // Fd would make the file blocking
	if err != nil {
		return 0, 0, false
	}
	var size *unix.Winsize
	failed := conn.Control(func(fd uintptr) {
		size, err = unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
	})
	if failed != nil || err != nil {
		return 0, 0, false
	}
	return int(size.Col), int(size.Row), true
}

func (c *Client) openStream() (*mux.Stream, error) {
	s, err := c.mux.Open()
	if err != nil {
		return nil, ended(err)
	}
	return s, nil
}

// ended returns the error of a session that has ended.
func ended(err error) error {
	return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: %w", err)
}

// checkCommand returns an error for a command that cannot be sent unchanged.
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
