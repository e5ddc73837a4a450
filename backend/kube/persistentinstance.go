package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// persistentInstance is a persistent sandbox: a connection to its pod, or none when it is stopped.
type persistentInstance struct {
	*record.Sandbox

	driver  *PersistentDriver
	cluster *cluster.Cluster
	env     []string // that its commands and forks get

	working sync.Mutex // one thing at a time is done to its files

	mu     sync.Mutex
	inner  *instance // nil: it is stopped
	closed bool
}

// connected is the connection, or why there is none.
func (k *persistentInstance) connected() (*instance, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	case k.inner == nil:
		return nil, isStopped(k.Record.ID)
	}
	return k.inner, nil
}

// ID is its name in the namespace.
func (k *persistentInstance) ID() string { return k.Record.ID }

// Limits returns the limits of the policy.
func (k *persistentInstance) Limits() (sandbox.Limits, error) { return k.Form.Limits, nil }

// Start runs cmd in the pod.
func (k *persistentInstance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	i, err := k.connected()
	if err != nil {
		return nil, err
	}
	return i.Start(ctx, cmd, stdio)
}

// Files reach inside through the guest.
func (k *persistentInstance) Files() sandbox.Files { return files.New(k.Start) }

// Status counts the commands that run.
func (k *persistentInstance) Status(ctx context.Context) (sandbox.Status, error) {
	st := sandbox.Status{Info: k.Record.Info()}
	i, err := k.connected()
	if sandbox.CodeOf(err) == sandbox.Closed && !k.isClosed() {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	inner, err := i.state(ctx)
	if err != nil {
		return st, err
	}
	st.Running = inner.Running
	return st, nil
}

func (k *persistentInstance) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}

// leave ends our connection, for good.
func (k *persistentInstance) leave() *instance {
	k.mu.Lock()
	defer k.mu.Unlock()
	inner := k.inner
	k.closed, k.inner = true, nil
	return inner
}

// Detach leaves the sandbox as it is.
func (k *persistentInstance) Detach() error {
	if i := k.leave(); i != nil {
		return i.detach(context.Background())
	}
	return nil
}

// Close destroys the sandbox. One that somebody else has destroyed is fine.
func (k *persistentInstance) Close(ctx context.Context) error {
	i := k.leave()
	var err error
	if i != nil {
		err = i.end(ctx)
	}
	return errors.Join(err, k.driver.remove(ctx, k.cluster, k.Claim))
}

// detach ends the connection to a pod, which stays.
func (i *instance) detach(ctx context.Context) error {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	var err error
	if i.session != nil {
		err = i.session.Close()
	}
	if s := i.current(); s != nil {
		wait, cancel := context.WithTimeout(ctx, cluster.EndTime)
		defer cancel()
		select { // the guest hears that we go
		case <-s.Done():
		case <-wait.Done():
			s.Abort()
		}
	}
	return err
}

// end ends all that anybody runs in the pod, and deletes it.
func (i *instance) end(ctx context.Context) error {
	i.mu.Lock()
	i.closed = true // nobody connects again
	i.mu.Unlock()
	ending, cancel := context.WithTimeout(ctx, cluster.EndTime)
	defer cancel()
	_ = i.session.Operate(ending, podinit.OpEnd, nil, nil) // its answer is the end, and the pod goes anyway
	return i.remove(ctx)
}

// maxState bounds what a guest may say of its state.
const maxState = 4 << 10

// state is what the guest says of itself.
func (i *instance) state(ctx context.Context) (st podinit.State, err error) {
	var said bounded
	if err := i.session.Operate(ctx, podinit.OpStatus, nil, &said); err != nil {
		if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
			err = i.whyEnded(ctx, err)
		}
		return st, err
	}
	if err := json.Unmarshal(said.Bytes(), &st); err != nil {
		return st, sandbox.Errorf(sandbox.Internal, "what the guest says of its state: %w", err)
	}
	return st, nil
}

// bounded keeps little.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxState {
		return 0, sandbox.Errorf(sandbox.Internal, "the guest says more than %d bytes", maxState)
	}
	return b.Buffer.Write(p)
}

// still stops all commands until resume is called, or we are gone.
func (i *instance) still(ctx context.Context) (resume func(), err error) {
	return session.Hold(ctx, func(ctx context.Context, answer io.Writer) error {
		return i.session.Operate(ctx, podinit.OpPause, nil, answer)
	})
}
