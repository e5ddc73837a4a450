//go:build linux

package bwrap

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// resident is the one set of walls that the commands of a resident sandbox share: bubblewrap with the
// guest's supervisor as its command, and the session with that.
type resident struct {
	process *process
	session *session.Connection
	plan    *policy.Plan
	words   session.Words // what the supervisor said on stderr

	replaced atomic.Bool // others are to be built in their place
}

// startResident starts cmd within the sandbox's walls, and builds these first when cmd is the first.
func (i *instance) startResident(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	i.quiet.RLock()
	defer i.quiet.RUnlock()
	r, err := i.resident(ctx)
	if err != nil {
		return nil, err
	}
	r.process.reporter.Again()
	p, err := r.session.Start(ctx, session.Command{
		Args: cmd.Args, Dir: startDir(r.plan, cmd), TTY: cmd.TTY, Env: environment(r.plan, cmd, r.process.network),
	}, stdio)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, r.ended()
	}
	if err != nil {
		return nil, err
	}
	i.resides.Add(1)
	return &residing{p, i}, nil
}

// residing is a command within the walls of a resident sandbox.
type residing struct {
	*session.Process

	instance *instance
}

// Wait waits, and counts before it tells.
func (r *residing) Wait() (sandbox.Exit, error) {
	exit, err := r.Process.Wait()
	r.instance.resides.Add(-1)
	return exit, err
}

// Dial connects to a port inside; only resident sandboxes have an inside between two commands.
func (i *instance) Dial(ctx context.Context, port int) (net.Conn, error) {
	if !i.spec.Resident {
		return nil, sandbox.Errorf(sandbox.Unsupported, "each command has its own loopback, and a sandbox without a resident none").
			WithHint("publish the port, or create a sandbox that stays")
	}
	r, err := i.resident(ctx)
	if err != nil {
		return nil, err
	}
	if n := r.process.network; n != nil && n.proxy != nil && port == guestnet.ProxyPort {
		return nil, sandbox.Errorf(sandbox.Denied, "port %d inside is the sandbox's own way out", port)
	}
	conn, err := r.session.DialPort(ctx, port)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, r.ended()
	}
	return conn, err
}

// Listen listens inside. With the host's network the loopback is not the sandbox's own.
func (i *instance) Listen(ctx context.Context, address string) (net.Listener, error) {
	if !i.spec.Resident {
		return nil, sandbox.Errorf(sandbox.Unsupported, "each command has walls of its own, and a sandbox without a resident none").
			WithHint("create a sandbox that stays: Spec.Resident")
	}
	r, err := i.resident(ctx)
	if err != nil {
		return nil, err
	}
	if r.plan.Network.Mode == sandbox.NetworkHost && !strings.HasPrefix(address, "unix:") {
		return nil, sandbox.Errorf(sandbox.Unsupported, "with the host's network %q is the whole host's", address).
			WithHint("listen on unix:/PATH, or take the network away")
	}
	l, err := r.session.Listen(ctx, address)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, r.ended()
	}
	return l, err
}

// resident returns the walls, which are built once: when they have fallen the sandbox has ended.
func (i *instance) resident(ctx context.Context) (*resident, error) {
	i.building.Lock()
	defer i.building.Unlock()
	if i.walls != nil {
		return i.walls, nil
	}
	r, err := i.build(ctx)
	for left := attempts - 1; left > 0 && err != nil && r != nil && r.process.disturbed(); left-- {
		r, err = i.build(ctx)
	}
	if err != nil {
		return nil, err
	}
	i.walls = r
	return r, nil
}

// build returns the walls also when they fell before anything ran in them, with the error.
func (i *instance) build(ctx context.Context) (*resident, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plan, err := i.planFor()
	if err != nil {
		return nil, err
	}
	cmd := sandbox.Cmd{Args: []string{layout.Program, "serve"}}
	staged, err := i.onStage(plan, cmd)
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(err, staged.leave())
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "guest"), os.NewFile(uintptr(pair[1]), "host")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, errors.Join(err, staged.leave())
	}
	r := &resident{plan: staged.adapt(plan)}
	// It outlives the command that it is built for.
	r.process, err = i.launch(context.WithoutCancel(ctx), r.plan, staged, cmd, sandbox.Stdio{Stderr: &r.words}, theirs)
	if err != nil {
		return nil, errors.Join(err, conn.Close(), staged.leave())
	}
	_ = theirs.Close() // so that its end is noticed
	if r.session, err = session.Connect(ctx, conn); err != nil {
		r.process.kill()
		if _, werr := r.process.Wait(); werr != nil {
			err = werr
		}
		return r, r.told(err)
	}
	go func() {
		<-r.process.ended
		_ = r.session.Close()
		if !r.replaced.Load() {
			close(i.over)
		}
	}()
	return r, nil
}

// Ended is closed when the walls of a resident sandbox have fallen, and not for others to be built.
func (i *instance) Ended() <-chan struct{} { return i.over }

// ended says how the walls fell.
func (r *resident) ended() error {
	<-r.process.ended
	if _, err := r.process.Wait(); err != nil {
		return r.told(err)
	}
	if reason := r.process.exit.Reason; reason != "" {
		return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: %s", reason)
	}
	return r.told(sandbox.Errorf(sandbox.Closed, "the sandbox has ended: its supervisor was killed from inside"))
}

// told adds the supervisor's own words to an error.
func (r *resident) told(err error) error {
	if text := r.words.String(); text != "" {
		return sandbox.Errorf(sandbox.CodeOf(err), "%w (%s)", err, text)
	}
	return err
}
