package docker

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Freeze stops all processes of commands; the guest does it. The engine's pause would stop the guest too.
func (i *instance) Freeze(ctx context.Context) error {
	return i.withGuest(ctx, func(s *session.Connection) error { return s.Freeze(ctx) })
}

// Thaw continues the processes that Freeze has stopped.
func (i *instance) Thaw(ctx context.Context) error {
	return i.withGuest(ctx, func(s *session.Connection) error { return s.Thaw(ctx) })
}

func (i *instance) withGuest(ctx context.Context, do func(s *session.Connection) error) error {
	now, err := i.current()
	if err != nil {
		return err
	}
	err = do(now.session)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return i.endReason(ctx, err)
	}
	return err
}

func (i *instance) isFrozen() bool {
	now, err := i.current()
	return err == nil && now.session.IsFrozen()
}
