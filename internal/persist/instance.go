package persist

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// instance is a client of a sandbox that a keeper holds.
type instance struct {
	Operated

	driver *Driver
	name   string
	conn   *session.Connection
	first  status
	env    []string // the environment of its forks

	refusals sync.Mutex
	taken    uint64 // denials that Denials has returned; guarded by refusals
}

func newInstance(d *Driver, name string, c *session.Connection) *instance {
	return &instance{
		driver: d, name: name, conn: c, env: d.Env,
		Operated: func(ctx context.Context, op string, arg any, answer io.Writer) error {
			return c.Operate(ctx, op, arg, answer)
		},
	}
}

func (i *instance) ID() string { return i.name }

// Limits returns the limits of the sandbox's policy.
func (i *instance) Limits() (sandbox.Limits, error) { return i.first.Limits, nil }

func (i *instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	p, err := i.conn.Start(ctx, session.Command{Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, TTY: cmd.TTY, Leave: cmd.Leave}, stdio)
	if err != nil {
		return nil, NameFrozen(err, i.name)
	}
	return p, nil
}

func (i *instance) Files() sandbox.Files { return files.New(i.Start) }

func (i *instance) status(ctx context.Context) (st status, err error) {
	return st, i.Ask(ctx, opStatus, nil, &st)
}

func (i *instance) Status(ctx context.Context) (sandbox.Status, error) {
	st, err := i.status(ctx)
	return st.Status, err
}

// Denials returns the latest denials, of all users of the sandbox, since the last call of Denials or the begin of this
// connection.
func (i *instance) Denials(ctx context.Context) (list []sandbox.Denial, err error) {
	i.refusals.Lock()
	defer i.refusals.Unlock()
	err = i.Ask(ctx, opRefused, since{After: i.first.Refused + i.taken}, &list)
	i.taken += uint64(len(list))
	return list, err
}

// Fork implements [sandbox.Forker].
func (i *instance) Fork(ctx context.Context, name, snapshot string) (sandbox.Instance, error) {
	return i.driver.fork(ctx, i.Operated, i.name, name, snapshot, i.env)
}

// Dial connects to a port inside, through the keeper.
func (i *instance) Dial(ctx context.Context, port int) (net.Conn, error) {
	return i.conn.DialPort(ctx, port)
}

// CheckDial implements [DialChecker].
func (i *instance) CheckDial() error {
	if i.first.Undial == nil {
		return nil
	}
	return i.first.Undial.restore()
}

// Listen listens inside, through the keeper, as long as this connection to it lasts.
func (i *instance) Listen(ctx context.Context, address string) (net.Listener, error) {
	return i.conn.Listen(ctx, address)
}

// Ended returns a channel that is closed when the sandbox or this connection has ended.
func (i *instance) Ended() <-chan struct{} { return i.conn.Done() }

// Detach ends the connection and leaves the sandbox running.
func (i *instance) Detach() error { return i.conn.Close() }

// Close destroys the sandbox.
func (i *instance) Close(ctx context.Context) error {
	err := i.conn.Close()
	derr := i.driver.destroy(ctx, i.name)
	if sandbox.CodeOf(derr) == sandbox.NotFound {
		derr = nil
	}
	return errors.Join(err, derr)
}
