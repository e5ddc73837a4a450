package persist

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	// answerTime bounds the wait for the answer of a keeper that has started. It is long because the machine may be busy.
	answerTime = time.Minute
	// endTime bounds the wait for the end of a keeper that was told to stop its sandbox, or that was killed.
	endTime = 2 * time.Minute
	// suspendPause is the interval at which the state of a keeper is read. The kernel has no event for a process that a signal
	// suspends and that is not a child.
	suspendPause = 100 * time.Millisecond
)

// awaitKeeper returns a context for a conversation with the keeper at the other end of conn. It ends after limit, and as soon
// as a signal has suspended the keeper; [silence] returns the reason. The caller calls done.
func awaitKeeper(ctx context.Context, name string, conn net.Conn, limit time.Duration) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	pid := peerPID(conn)
	late := time.AfterFunc(limit, func() {
		cancel(unanswering(sandbox.Errorf(sandbox.Unavailable, "the process of sandbox %s, %d, has not answered for %v", name, pid, limit), name))
	})
	go func() {
		for {
			select {
			case <-time.After(suspendPause):
			case <-ctx.Done():
				return
			}
			if isSuspended(pid) {
				cancel(unanswering(sandbox.Errorf(sandbox.Unavailable, "a signal has suspended the process of sandbox %s, %d", name, pid), name))
			}
		}
	}()
	return ctx, func() {
		late.Stop()
		cancel(nil)
	}
}

func unanswering(err *sandbox.Error, name string) error {
	return err.WithHint("'agent-sandbox destroy --force %s' ends it; SIGCONT continues a suspended one", name)
}

// silence returns the reason for which awaitKeeper has ended ctx, otherwise err.
func silence(ctx context.Context, err error) error {
	if cause, ok := errors.AsType[*sandbox.Error](context.Cause(ctx)); ok {
		return cause
	}
	return err
}

// takeStopped takes the lock of a stopped sandbox. It waits for a keeper that is ending. Exists: the sandbox runs.
func (s Store) takeStopped(ctx context.Context, name string) (*lock, error) {
	for {
		held, runs := s.take(name)
		if sandbox.CodeOf(runs) != sandbox.Exists {
			return held, runs
		}
		conn, err := s.dial(ctx, name) // waits for a keeper that is starting
		if sandbox.CodeOf(err) == sandbox.Closed {
			continue // it has ended
		}
		if err != nil {
			return nil, err
		}
		if err := s.greet(ctx, name, conn); err == nil {
			return nil, runs
		} else if sandbox.CodeOf(err) != sandbox.Closed {
			return nil, err
		}
		// It has accepted the connection and ends.
		return s.awaitLock(ctx, name)
	}
}

// greet exchanges greetings with a keeper, and closes conn. Closed: the keeper is ending.
func (s Store) greet(ctx context.Context, name string, conn net.Conn) error {
	ctx, done := awaitKeeper(ctx, name, conn, answerTime)
	defer done()
	c, err := session.Connect(ctx, conn)
	if err == nil {
		return c.Close()
	}
	if ctx.Err() != nil {
		return silence(ctx, err)
	}
	return sandbox.Errorf(sandbox.Closed, "sandbox %s ends: %w", name, err)
}

// awaitLock waits for the end of a keeper and takes its lock, within endTime. Unavailable: it has not ended.
func (s Store) awaitLock(ctx context.Context, name string) (*lock, error) {
	within, cancel := context.WithTimeoutCause(ctx, endTime,
		unanswering(sandbox.Errorf(sandbox.Unavailable, "the process of sandbox %s has not ended within %v", name, endTime), name))
	defer cancel()
	held, err := s.wait(within, name)
	if err != nil && ctx.Err() == nil {
		err = silence(within, err)
	}
	return held, err
}
