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

// resident is the isolation that the commands of a resident sandbox share: bubblewrap with the guest's supervisor as its
// command, and the session with the supervisor.
type resident struct {
	process *process
	session *session.Connection
	plan    *policy.Plan
	words   session.Words // the supervisor's standard error

	replaced atomic.Bool // it ends so that the next command builds another one
}

// startResident starts cmd in the shared isolation, which the first command builds.
func (i *instance) startResident(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	i.quiet.RLock()
	defer i.quiet.RUnlock()
	r, err := i.ensureResident(ctx)
	if err != nil {
		return nil, err
	}
	r.process.reporter.Again()
	p, err := r.session.Start(ctx, session.Command{
		Args: cmd.Args, Dir: startDir(r.plan, cmd), TTY: cmd.TTY, Leave: cmd.Leave, Env: i.environment(r.plan, cmd, r.process.network),
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

// residing is a command of a resident sandbox.
type residing struct {
	*session.Process

	instance *instance
}

// Wait waits for the end, and decrements the number of running commands before it returns.
func (r *residing) Wait() (sandbox.Exit, error) {
	exit, err := r.Process.Wait()
	r.instance.resides.Add(-1)
	return exit, err
}

// Dial connects to a port inside. Unsupported: the sandbox is not resident, so its network ends with each command.
func (i *instance) Dial(ctx context.Context, port int) (net.Conn, error) {
	if !i.spec.Resident {
		return nil, sandbox.Errorf(sandbox.Unsupported, "each command has its own loopback; only a resident sandbox has one between commands").
			WithHint("publish the port, or create a persistent sandbox")
	}
	r, err := i.ensureResident(ctx)
	if err != nil {
		return nil, err
	}
	if n := r.process.network; n != nil && n.proxy != nil && port == guestnet.ProxyPort {
		return nil, sandbox.Errorf(sandbox.Denied, "port %d inside belongs to the sandbox's proxy", port)
	}
	conn, err := r.session.DialPort(ctx, port)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, r.ended()
	}
	return conn, err
}

// Listen listens inside. Unsupported: the sandbox is not resident, or it has the host's network and address is not a Unix
// socket.
func (i *instance) Listen(ctx context.Context, address string) (net.Listener, error) {
	if !i.spec.Resident {
		return nil, sandbox.Errorf(sandbox.Unsupported, "each command has its own namespaces; only a resident sandbox has some between commands").
			WithHint("create a resident sandbox: Spec.Resident")
	}
	r, err := i.ensureResident(ctx)
	if err != nil {
		return nil, err
	}
	if r.plan.Network.Mode == sandbox.NetworkHost && !strings.HasPrefix(address, "unix:") {
		return nil, sandbox.Errorf(sandbox.Unsupported, "%q would be an address of the host, whose network the sandbox shares", address).
			WithHint("listen on unix:/PATH, or take the network away")
	}
	l, err := r.session.Listen(ctx, address)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, r.ended()
	}
	return l, err
}

// ensureResident returns the shared isolation and builds it at the first call. When the isolation has ended, so has the sandbox.
func (i *instance) ensureResident(ctx context.Context) (*resident, error) {
	i.building.Lock()
	defer i.building.Unlock()
	if i.shared != nil {
		return i.shared, nil
	}
	r, err := i.build(ctx)
	for left := attempts - 1; left > 0 && err != nil && r != nil && r.process.isDisturbed(); left-- {
		r, err = i.build(ctx)
	}
	if err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.shared = r
	return r, nil
}

// build returns the isolation together with the error when it was built and ended before anything ran in it.
func (i *instance) build(ctx context.Context) (*resident, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	plan, err := i.nextPlan()
	if err != nil {
		return nil, err
	}
	cmd := sandbox.Cmd{Args: []string{layout.Program, "serve"}}
	staged, err := i.onStage(plan, cmd)
	if sandbox.CodeOf(err) == sandbox.Denied && i.awaitStage(ctx) {
		staged, err = i.onStage(plan, cmd)
	}
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
	// It outlives the command for which it is built.
	r.process, err = i.launch(context.WithoutCancel(ctx), r.plan, staged, cmd, sandbox.Stdio{Stderr: &r.words}, theirs)
	if err != nil {
		return nil, errors.Join(err, conn.Close(), staged.leave())
	}
	_ = theirs.Close() // so that reads return EOF when the supervisor ends
	if r.session, err = session.Connect(ctx, conn); err != nil {
		r.process.kill()
		if _, werr := r.process.Wait(); werr != nil {
			err = werr
		}
		return r, r.withOutput(err)
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

// Ended returns a channel that is closed when a resident sandbox has ended, but not when Restore or Rest ends its
// isolation for another one.
func (i *instance) Ended() <-chan struct{} { return i.over }

// ended waits for the end and returns its reason, with code Closed unless the process has failed.
func (r *resident) ended() error {
	<-r.process.ended
	if _, err := r.process.Wait(); err != nil {
		return r.withOutput(err)
	}
	if reason := r.process.exit.Reason; reason != "" {
		return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: %s", reason)
	}
	return r.withOutput(sandbox.Errorf(sandbox.Closed, "the sandbox has ended: its supervisor was killed from inside"))
}

// withOutput appends the supervisor's standard error to an error.
func (r *resident) withOutput(err error) error {
	if text := r.words.String(); text != "" {
		return sandbox.Errorf(sandbox.CodeOf(err), "%w (%s)", err, text)
	}
	return err
}
