package persist

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Stop ends the processes of a sandbox and its keeper; its record stays. It succeeds for a stopped one.
func (s Store) Stop(ctx context.Context, name string) error {
	l, err := s.halt(ctx, name)
	l.release()
	return err
}

// Forget removes the record of a sandbox in a cluster, and does not change the sandbox.
func (s Store) Forget(ctx context.Context, name string) error { return s.destroy(ctx, name) }

// destroy stops a sandbox and removes its directory.
func (s Store) destroy(ctx context.Context, name string) error {
	l, err := s.halt(ctx, name)
	if err != nil {
		return err
	}
	defer l.release()
	return s.remove(name)
}

// halt stops a sandbox and returns with its lock.
func (s Store) halt(ctx context.Context, name string) (*lock, error) {
	conn, err := s.dial(ctx, name)
	switch sandbox.CodeOf(err) {
	case "":
		c, err := session.Connect(ctx, conn)
		if err == nil {
			err = c.Operate(ctx, opStop, nil, nil)
			_ = c.Close()
		}
		if err != nil && sandbox.CodeOf(err) != sandbox.Closed && sandbox.CodeOf(err) != sandbox.Unavailable {
			return nil, err
		}
	case sandbox.Closed:
	default:
		return nil, err
	}
	return s.wait(ctx, name)
}
