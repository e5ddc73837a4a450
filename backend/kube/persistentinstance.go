package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// persistentInstance is a persistent sandbox with a connection to its pod, or none when it is stopped.
type persistentInstance struct {
	*record.Sandbox

	driver  *PersistentDriver
	cluster *cluster.Cluster
	env     []string // for its commands and forks

	working sync.Mutex // held during an operation on the files

	mu     sync.Mutex
	inner  *instance // nil: it is stopped
	closed bool
}

// connection returns the connection. Closed: there is none, with the reason.
func (k *persistentInstance) connection() (*instance, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	case k.inner == nil:
		return nil, stoppedError(k.Record.ID)
	}
	return k.inner, nil
}

// ID returns the sandbox's name in the namespace.
func (k *persistentInstance) ID() string { return k.Record.ID }

// Limits returns the limits of the policy.
func (k *persistentInstance) Limits() (sandbox.Limits, error) { return k.Form.Limits, nil }

// Start runs cmd in the pod.
func (k *persistentInstance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	i, err := k.connection()
	if err != nil {
		return nil, err
	}
	p, err := i.Start(ctx, cmd, stdio)
	return p, persist.NameFrozen(err, k.Record.ID)
}

// CheckDial returns Unsupported for a pod without a network.
func (k *persistentInstance) CheckDial() error { return checkDial(k.Form.Network) }

// Dial connects to a port on the pod's loopback.
func (k *persistentInstance) Dial(ctx context.Context, port int) (net.Conn, error) {
	i, err := k.connection()
	if err != nil {
		return nil, err
	}
	return i.Dial(ctx, port)
}

// Listen listens in the pod as long as this connection to it lasts.
func (k *persistentInstance) Listen(ctx context.Context, address string) (net.Listener, error) {
	i, err := k.connection()
	if err != nil {
		return nil, err
	}
	return i.Listen(ctx, address)
}

// Files returns the files of the pod, which the guest serves.
func (k *persistentInstance) Files() sandbox.Files { return files.New(k.Start) }

// Status counts the commands that run.
func (k *persistentInstance) Status(ctx context.Context) (sandbox.Status, error) {
	st := sandbox.Status{Info: k.Record.Info()}
	i, err := k.connection()
	if sandbox.CodeOf(err) == sandbox.Closed && !k.isClosed() {
		return st, nil
	}
	if err != nil {
		return st, err
	}
	inner, err := i.readState(ctx)
	if err != nil {
		return st, err
	}
	st.Running, st.Frozen = inner.Running, inner.Frozen
	return st, nil
}

func (k *persistentInstance) isClosed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closed
}

// takeConnection closes the instance and returns the connection that it had, or nil.
func (k *persistentInstance) takeConnection() *instance {
	k.mu.Lock()
	defer k.mu.Unlock()
	inner := k.inner
	k.closed, k.inner = true, nil
	return inner
}

// Detach ends the connection. The sandbox stays as it is.
func (k *persistentInstance) Detach() error {
	if i := k.takeConnection(); i != nil {
		return i.detach(context.Background())
	}
	return nil
}

// Close destroys the sandbox. It succeeds for a sandbox that is already destroyed.
func (k *persistentInstance) Close(ctx context.Context) error {
	i := k.takeConnection()
	var err error
	if i != nil {
		err = i.destroy(ctx)
	}
	return errors.Join(err, k.driver.remove(ctx, k.cluster, k.Claim))
}

// detach ends the connection to a pod. The pod stays.
func (i *instance) detach(ctx context.Context) error {
	i.mu.Lock()
	i.closed = true
	i.mu.Unlock()
	var err error
	if i.session != nil {
		err = i.session.Close()
	}
	if s := i.currentStream(); s != nil {
		wait, cancel := context.WithTimeout(ctx, cluster.EndTime)
		defer cancel()
		select { // the guest learns that the client leaves
		case <-s.Done():
		case <-wait.Done():
			s.Abort()
		}
	}
	return err
}

// destroy ends the commands of all clients in the pod, and deletes it.
func (i *instance) destroy(ctx context.Context) error {
	i.mu.Lock()
	i.closed = true // no reconnection
	i.mu.Unlock()
	ending, cancel := context.WithTimeout(ctx, cluster.EndTime)
	defer cancel()
	_ = i.session.Operate(ending, podinit.OpEnd, nil, nil) // its answer is its end, and the pod is deleted anyway
	return i.remove(ctx)
}

// maxState limits how many bytes of its state a guest may send.
const maxState = 4 << 10

// readState returns the state that the guest reports.
func (i *instance) readState(ctx context.Context) (st podinit.State, err error) {
	var said boundedBuffer
	if err := i.session.Operate(ctx, podinit.OpStatus, nil, &said); err != nil {
		if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
			err = i.explainEnd(ctx, err)
		}
		return st, err
	}
	if err := json.Unmarshal(said.Bytes(), &st); err != nil {
		return st, sandbox.Errorf(sandbox.Internal, "invalid state from the guest: %w", err)
	}
	return st, nil
}

// boundedBuffer is a buffer of up to maxState bytes.
type boundedBuffer struct{ bytes.Buffer }

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxState {
		return 0, sandbox.Errorf(sandbox.Internal, "the guest's state is longer than %d bytes", maxState)
	}
	return b.Buffer.Write(p)
}
