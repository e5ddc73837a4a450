package docker

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// instance is one container that runs, and the session with the guest in it.
type instance struct {
	*prepared

	ended   chan struct{} // closed when the container has ended by itself
	over    sync.Once
	running atomic.Int64

	changing sync.Mutex // held by what changes the container

	mu     sync.Mutex
	now    holding
	closed bool
}

// held is what runs, or Closed.
func (i *instance) held() (holding, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || i.now.session == nil {
		return i.now, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	return i.now, nil
}

// holder is the ID of the container.
func (i *instance) holder() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.container
}

func (i *instance) ID() string { return i.id }

// Limits returns the limits of the policy.
func (i *instance) Limits() (sandbox.Limits, error) { return i.plan.Limits.Limits, nil }

// Start runs cmd in the container.
func (i *instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	now, err := i.held()
	if err != nil {
		return nil, err
	}
	dir := cmd.Dir
	if dir == "" {
		dir = i.dir()
	}
	p, err := now.session.Start(ctx, session.Command{
		Args: cmd.Args, Dir: dir, TTY: cmd.TTY, Env: i.environment(now.network.environ(i.policyEnv()), cmd),
	}, stdio)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.why(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	i.running.Add(1)
	go func() {
		<-p.Done()
		i.running.Add(-1)
	}()
	return p, nil
}

// Listen listens inside, until the container is started anew.
func (i *instance) Listen(ctx context.Context, address string) (net.Listener, error) {
	now, err := i.held()
	if err != nil {
		return nil, err
	}
	l, err := now.session.Listen(ctx, address)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.why(ctx, err)
	}
	return l, err
}

// why tells how a container ended that should run.
func (i *instance) why(ctx context.Context, err error) error {
	found, ierr := i.engine.ContainerInspect(ctx, i.holder(), client.ContainerInspectOptions{})
	switch {
	case sandbox.CodeOf(i.engine.Wrap(ierr, "look at the container")) == sandbox.NotFound:
		return sandbox.Errorf(sandbox.Closed, "the sandbox's container was removed or has ended")
	case ierr != nil:
		return errors.Join(err, i.engine.Wrap(ierr, "look at the container"))
	case found.Container.State != nil && found.Container.State.OOMKilled:
		return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: its memory limit was reached")
	}
	return err
}

// Status counts what runs.
func (i *instance) Status(context.Context) (sandbox.Status, error) {
	return sandbox.Status{
		Info: sandbox.Info{
			ID: i.id, Name: i.spec.Name, Backend: i.driver.Name(), Workspace: i.plan.Workspace, Created: i.created,
		},
		Running: int(i.running.Load()),
	}, nil
}

// Ended is closed when the container has ended, or nobody can speak with it any more.
func (i *instance) Ended() <-chan struct{} { return i.ended }

func (i *instance) isClosed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closed
}

// Close removes the container with all that runs in it. One that goes on later is only stopped.
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
	if i.state.persistent() {
		return err
	}
	return errors.Join(err, i.removeOwn())
}

// end ends what runs.
func (i *instance) end(ctx context.Context) error {
	i.mu.Lock()
	now := i.now
	i.now = holding{container: now.container}
	i.mu.Unlock()
	if now.session != nil {
		_ = now.session.Close() // the container goes anyway
	}
	now.network.close()
	switch {
	case now.container == "":
		return nil
	case i.state.persistent():
		return i.kill(ctx, now.container)
	}
	return i.remove(ctx, now.container)
}

// take asks for the container's removal.
func (i *instance) take(ctx context.Context, id string) error {
	_, err := i.engine.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	return i.engine.Wrap(err, "remove the container")
}

// remove removes the container and waits until it is gone: with its end the engine begins to remove it, too.
func (i *instance) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	end := i.await(ctx, id, container.WaitConditionRemoved)
	err := i.take(ctx, id)
	if err != nil && strings.Contains(err.Error(), "container state improper") { // Podman, of one that was just ending
		if err = i.engine.Wrap(<-i.await(ctx, id, container.WaitConditionNotRunning), "wait for the container's end"); err == nil {
			err = i.take(ctx, id)
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
