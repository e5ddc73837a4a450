package kube

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Freeze stops all processes of commands in the pod; the guest does it.
func (i *instance) Freeze(ctx context.Context) error {
	return i.withGuest(ctx, func(s *session.Connection) error { return s.Freeze(ctx) })
}

// Thaw continues the processes that Freeze of any client has stopped.
func (i *instance) Thaw(ctx context.Context) error {
	return i.withGuest(ctx, func(s *session.Connection) error { return s.Thaw(ctx) })
}

func (i *instance) withGuest(ctx context.Context, do func(s *session.Connection) error) error {
	if i.isClosed() {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	err := do(i.session)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return i.explainEnd(ctx, err)
	}
	return err
}

// Freeze stops all processes of commands in the pod.
func (k *persistentInstance) Freeze(ctx context.Context) error {
	i, err := k.connection()
	if err != nil {
		return err
	}
	return i.Freeze(ctx)
}

// Thaw continues the processes that Freeze of any client has stopped.
func (k *persistentInstance) Thaw(ctx context.Context) error {
	i, err := k.connection()
	if err != nil {
		return err
	}
	return i.Thaw(ctx)
}
