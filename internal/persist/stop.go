package persist

import (
	"context"
	"net"

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

// removeStopped removes the directory of a sandbox that is stopped. It reports whether it did: not of one that runs, that is being
// created or started, or that another process has removed.
func (s Store) removeStopped(name string) (bool, error) {
	held, err := s.take(name)
	if code := sandbox.CodeOf(err); code == sandbox.Exists || code == sandbox.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer held.release()
	err = s.remove(name)
	return err == nil, err
}

// halt stops a sandbox and returns with its lock.
func (s Store) halt(ctx context.Context, name string) (*lock, error) {
	conn, err := s.dial(ctx, name)
	switch sandbox.CodeOf(err) {
	case "":
		if err := askToStop(ctx, name, conn); err != nil {
			return nil, err
		}
	case sandbox.Closed:
	default:
		return nil, err
	}
	return s.awaitLock(ctx, name)
}

// Kill ends the process that holds a sandbox with SIGKILL, for one that does not answer. The sandbox is stopped then, with the
// files that it had. It succeeds for a stopped sandbox. Unavailable: the process has not ended.
func (s Store) Kill(ctx context.Context, name string) error {
	f, err := s.openLock(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := killHolders(f); err != nil {
		return err
	}
	held, err := s.awaitLock(ctx, name)
	held.release()
	return err
}

// askToStop tells a keeper to stop its sandbox. It succeeds for one that ends meanwhile.
func askToStop(ctx context.Context, name string, conn net.Conn) error {
	ctx, done := awaitKeeper(ctx, name, conn, answerTime)
	defer done()
	c, err := session.Connect(ctx, conn)
	if err == nil {
		err = c.Operate(ctx, opStop, nil, nil)
		_ = c.Close()
	}
	if err != nil && ctx.Err() != nil {
		return silence(ctx, err)
	}
	if code := sandbox.CodeOf(err); code == sandbox.Closed || code == sandbox.Unavailable {
		return nil
	}
	return err
}
