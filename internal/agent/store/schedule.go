package store

import (
	"context"
	"errors"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// SweepDue sweeps if the schedule has elapsed since the last sweep of any process, and reports whether it
// did. It stops after about the time bound; the next sweep continues. Servers call it after
// each request, or on a timer.
func (s *Store) SweepDue(ctx context.Context, bound time.Duration) (Report, bool, error) {
	if due, err := s.due(ctx); err != nil || !due {
		return Report{}, false, err
	}
	h, err := s.lock(ctx, "sweep", exclusive, false)
	if errors.Is(err, errHeld) {
		return Report{}, false, nil // its holder sweeps
	}
	if err != nil {
		return Report{}, false, err
	}
	defer h.release(true)
	// Another process may just have swept.
	if due, err := s.due(ctx); err != nil || !due {
		return Report{}, false, err
	}
	within, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	r := Report{Workspaces: []Removed{}, Chats: []Removed{}}
	err = s.sweep(within, Sweeping{}, &r)
	if within.Err() != nil && ctx.Err() == nil && (err == nil || sandbox.CodeOf(err) == sandbox.Timeout || sandbox.CodeOf(err) == sandbox.Canceled) {
		return r, true, nil
	}
	if err != nil {
		return r, true, err
	}
	_, err = s.db.ExecContext(ctx, "UPDATE sweeps SET last = ?", millis(s.now()))
	return r, true, s.failed(err)
}

// due reports whether the schedule has elapsed since the last sweep.
func (s *Store) due(ctx context.Context) (bool, error) {
	var ms int64
	if err := s.db.QueryRowContext(ctx, "SELECT last FROM sweeps").Scan(&ms); err != nil {
		return false, s.failed(err)
	}
	now, last := s.now(), s.time(ms)
	if last.After(now.Add(24 * time.Hour)) {
		return true, nil // the clock was wrong then
	}
	next := s.schedule.Next(last)
	return !next.IsZero() && !next.After(now), nil // zero: never, as on 31 February
}
