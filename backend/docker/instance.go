package docker

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// instance is a running container with the session to its guest.
type instance struct {
	*prepared

	ended   chan struct{} // closed when the container has ended by itself
	over    sync.Once     // closes ended
	running atomic.Int64

	changing sync.Mutex // held while the container is changed

	mu     sync.Mutex
	now    holding
	closed bool
}

// current returns the running parts. Closed: the sandbox is closed.
func (i *instance) current() (holding, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || i.now.session == nil {
		return i.now, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	return i.now, nil
}

// containerID returns the ID of the container.
func (i *instance) containerID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.container
}

func (i *instance) ID() string { return i.id }

// Limits returns the limits of the policy.
func (i *instance) Limits() (sandbox.Limits, error) { return i.plan.Limits.Limits, nil }

// Start runs cmd in the container.
func (i *instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	now, err := i.current()
	if err != nil {
		return nil, err
	}
	dir := cmd.Dir
	if dir == "" {
		dir = i.dir()
	}
	now.reporter.Again()
	p, err := now.session.Start(ctx, session.Command{
		Args: cmd.Args, Dir: dir, TTY: cmd.TTY, Leave: cmd.Leave, Env: i.environment(now.network.environ(i.policyEnv()), cmd),
	}, stdio)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.endReason(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	i.running.Add(1)
	go func() {
		<-p.Done()
		i.inspect(now)
		i.running.Add(-1)
	}()
	return &process{p, i}, nil
}

// process is a command. When its container ends first, Wait returns why.
type process struct {
	*session.Process

	instance *instance
}

// Wait waits for the end of the command. Closed: the container ended first, with the reason.
func (p *process) Wait() (sandbox.Exit, error) {
	exit, err := p.Process.Wait()
	if sandbox.CodeOf(err) == sandbox.Closed && !p.instance.isClosed() {
		err = p.instance.endReason(context.Background(), err)
	}
	return exit, err
}

// Dial connects to a port on the container's loopback. Denied: the port is that of the sandbox's proxy.
func (i *instance) Dial(ctx context.Context, port int) (net.Conn, error) {
	now, err := i.current()
	if err != nil {
		return nil, err
	}
	if port == guestnet.ProxyPort && len(now.network.relays()) > 0 {
		return nil, sandbox.Errorf(sandbox.Denied, "port %d inside belongs to the sandbox's proxy", port)
	}
	conn, err := now.session.DialPort(ctx, port)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.endReason(ctx, err)
	}
	return conn, err
}

// Listen listens inside until the container is started anew.
func (i *instance) Listen(ctx context.Context, address string) (net.Listener, error) {
	now, err := i.current()
	if err != nil {
		return nil, err
	}
	l, err := now.session.Listen(ctx, address)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.endReason(ctx, err)
	}
	return l, err
}

// endTime bounds the wait for the engine to learn of a container's end.
const endTime = 5 * time.Second

// endReason returns the error for a container that has ended unexpectedly.
func (i *instance) endReason(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	// Its guest has ended, which the engine learns a moment later.
	err = errors.Join(err, <-i.await(ctx, i.containerID(), container.WaitConditionNotRunning))
	found, ierr := i.engine.ContainerInspect(ctx, i.containerID(), client.ContainerInspectOptions{})
	state := found.Container.State
	switch {
	case sandbox.CodeOf(i.engine.Wrap(ierr, "look at the container")) == sandbox.NotFound,
		state != nil && (state.Status == container.StateRemoving || state.Status == container.StateDead):
		return sandbox.Errorf(sandbox.Closed, "the sandbox's container was removed by another program").
			WithHint("agent-sandbox start begins with a new one; the workspace and the volumes are as they were")
	case ierr != nil:
		return errors.Join(err, i.engine.Wrap(ierr, "look at the container"))
	case state != nil && state.OOMKilled:
		return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: its memory limit was reached")
	case state != nil && !state.Running:
		return sandbox.Errorf(sandbox.Closed, "%w (its container ended with status %d)", err, state.ExitCode)
	}
	return err
}

// Status counts the running commands.
func (i *instance) Status(context.Context) (sandbox.Status, error) {
	return sandbox.Status{
		Info: sandbox.Info{
			ID: i.id, Name: i.spec.Name, Backend: i.driver.Name(), Workspace: i.plan.Workspace, Created: i.created,
		},
		Running: int(i.running.Load()), Frozen: i.isFrozen(),
	}, nil
}

// Ended returns a channel that is closed when the container or the connection to it has ended by itself.
func (i *instance) Ended() <-chan struct{} { return i.ended }

func (i *instance) isClosed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closed
}

// Close kills and removes the container. It only stops that of a persistent sandbox.
func (i *instance) Close(ctx context.Context) error {
	i.mu.Lock()
	was := i.closed
	i.closed = true
	i.mu.Unlock()
	if was {
		return nil
	}
	i.changing.Lock()
	defer i.changing.Unlock()
	err := i.end(ctx)
	if i.state.isPersistent() {
		return err
	}
	return errors.Join(err, i.removeOwn())
}

// end kills all processes and closes the connections.
func (i *instance) end(ctx context.Context) error {
	i.mu.Lock()
	now := i.now
	i.now = holding{container: now.container}
	i.mu.Unlock()
	if now.session != nil {
		_ = now.session.Close() // the container ends anyway
		now.reporter.Again()
	}
	now.network.close()
	switch {
	case now.container == "":
		return nil
	case i.state.isPersistent():
		err := i.kill(ctx, now.container)
		i.inspect(now)
		return err
	}
	err := i.remove(ctx, now.container)
	i.inspect(now)
	return err
}

// requestRemoval asks the engine to remove the container.
func (p *prepared) requestRemoval(ctx context.Context, id string) error {
	_, err := p.engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	return p.engine.Wrap(err, "remove the container")
}

// remove removes the container and waits for that. The engine itself also begins to remove it when it ends.
func (i *instance) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := i.await(ctx, id, container.WaitConditionRemoved)
	err := i.requestRemoval(ctx, id)
	if err != nil && strings.Contains(err.Error(), "container state improper") { // Podman, for one that is just ending
		if err = i.engine.Wrap(<-i.await(ctx, id, container.WaitConditionNotRunning), "wait for the container's end"); err == nil {
			err = i.requestRemoval(ctx, id)
		}
	}
	switch {
	case sandbox.CodeOf(err) == sandbox.NotFound:
		return nil
	case err == nil, strings.Contains(err.Error(), "already in progress"):
	default:
		return err
	}
	if err = i.engine.Wrap(<-end, "wait for the container's end"); sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}
