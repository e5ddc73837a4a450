//go:build linux

package bwrap

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Freeze stops all processes of a resident sandbox; its supervisor does it. Unsupported: each command has its own isolation.
func (i *instance) Freeze(ctx context.Context) error {
	return i.withSupervisor(ctx, func(r *resident) error { return r.session.Freeze(ctx) })
}

// Thaw continues the processes that Freeze has stopped.
func (i *instance) Thaw(ctx context.Context) error {
	return i.withSupervisor(ctx, func(r *resident) error { return r.session.Thaw(ctx) })
}

func (i *instance) withSupervisor(ctx context.Context, do func(r *resident) error) error {
	if !i.spec.Resident {
		return sandbox.Errorf(sandbox.Unsupported, "each command has its own isolation; only a resident sandbox can be frozen as a whole").
			WithHint("create a resident sandbox: Spec.Resident, or 'agent-sandbox create'")
	}
	i.quiet.RLock()
	defer i.quiet.RUnlock()
	r, err := i.ensureResident(ctx)
	if err != nil {
		return err
	}
	err = do(r)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return r.ended()
	}
	return err
}

// isFrozen reports whether the commands are stopped. The caller holds mu.
func (i *instance) isFrozen() bool { return i.shared != nil && i.shared.session.IsFrozen() }
