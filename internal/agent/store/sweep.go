package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Sweeping selects what a sweep removes.
type Sweeping struct {
	OlderThan time.Duration // workspaces unused for that long; 0: the store's Retention; negative: none
	History   time.Duration // chats unused for that long; 0: the store's HistoryRetention; negative: none
	DryRun    bool          // report and remove nothing
}

// Removed is a workspace or a chat that a sweep removed or, in a dry run, would remove.
type Removed struct {
	User string    `json:"user"`
	Chat string    `json:"chat"`
	Used time.Time `json:"used"` // the last use
}

// Report is the result of a sweep.
type Report struct {
	Workspaces []Removed `json:"workspaces"`
	Chats      []Removed `json:"chats"`
	Busy       int       `json:"busy"`  // old workspaces and chats that are in use
	Files      int64     `json:"files"` // removed files and directories
	Left       []error   `json:"-"`     // at most 100 errors of what could not be removed; the next sweep retries
}

// Sweep removes the workspaces, and the chats if they have a retention, that were unused for longer than the retention and
// are not in use now. Exists: another sweep is running. When ctx ends, Sweep stops, and the next one continues.
//
// It does not follow links and does not remove anything below a mount.
func (s *Store) Sweep(ctx context.Context, w Sweeping) (Report, error) {
	r := Report{Workspaces: []Removed{}, Chats: []Removed{}}
	h, err := s.lock(ctx, "sweep", exclusive, false)
	if errors.Is(err, errHeld) {
		return r, sandbox.Errorf(sandbox.Exists, "another clean-up is under way").WithHint("wait for it")
	}
	if err != nil {
		return r, err
	}
	defer h.release(true)
	return r, s.sweep(ctx, w, &r)
}

func (s *Store) sweep(ctx context.Context, w Sweeping, r *Report) error {
	if w.OlderThan == 0 {
		w.OlderThan = s.opts.Retention
	}
	if w.History == 0 {
		w.History = max(-1, s.opts.HistoryRetention)
		if s.opts.HistoryRetention == 0 {
			w.History = -1
		}
	}
	now := s.now()
	if w.OlderThan > 0 {
		if !w.DryRun {
			if err := s.sweepOrphans(ctx, now.Add(-w.OlderThan), r); err != nil {
				return err
			}
		}
		if err := s.sweepWorkspaces(ctx, now.Add(-w.OlderThan), w.DryRun, r); err != nil {
			return err
		}
	}
	if w.History > 0 {
		if err := s.sweepChats(ctx, now.Add(-w.History), w.DryRun, r); err != nil {
			return err
		}
	}
	if w.DryRun {
		return nil
	}
	if _, err := s.db.ExecContext(ctx, "DELETE FROM memory WHERE expires != 0 AND expires <= ?", millis(now)); err != nil {
		return s.failed(err)
	}
	return s.empty(ctx, r)
}

func (s *Store) sweepWorkspaces(ctx context.Context, before time.Time, dry bool, r *Report) error {
	old, err := s.old(ctx, "SELECT user, chat, used FROM workspaces WHERE used < ? ORDER BY used", before)
	if err != nil {
		return err
	}
	return s.sweepEach(ctx, old, r, &r.Workspaces, func(o Removed) error {
		p := place{o.User, o.Chat}
		if dry {
			return s.free(ctx, p.lock())
		}
		_, err := s.evict(ctx, p, before)
		return err
	})
}

func (s *Store) sweepChats(ctx context.Context, before time.Time, dry bool, r *Report) error {
	old, err := s.old(ctx, "SELECT user, chat, used FROM chats WHERE used < ? ORDER BY used", before)
	if err != nil {
		return err
	}
	return s.sweepEach(ctx, old, r, &r.Chats, func(o Removed) error {
		if dry {
			return s.free(ctx, lockName("chat", o.User, o.Chat))
		}
		err := s.removeChat(ctx, o.User, o.Chat, before)
		if errors.Is(err, sandbox.ErrExists) { // it or its workspace is in use
			return errHeld
		}
		return err
	})
}

// sweepEach calls remove for each object, which fails with errHeld for one in use and with errRecent for one that has been
// used meanwhile, and adds those that it removed to removed.
func (s *Store) sweepEach(ctx context.Context, old []Removed, r *Report, removed *[]Removed, remove func(Removed) error) error {
	for _, o := range old {
		err := remove(o)
		switch {
		case errors.Is(err, errHeld):
			r.Busy++
		case errors.Is(err, errRecent):
		case ctx.Err() != nil:
			return s.failed(ctx.Err())
		case err != nil:
			r.leave(err)
		default:
			*removed = append(*removed, o)
		}
	}
	return nil
}

func (s *Store) old(ctx context.Context, query string, before time.Time) ([]Removed, error) {
	var out []Removed
	err := s.each(ctx, func(rows *sql.Rows) error {
		var o Removed
		var used int64
		err := rows.Scan(&o.User, &o.Chat, &used)
		o.Used = s.time(used)
		out = append(out, o)
		return err
	}, query, millis(before))
	return out, err
}

// errRecent means that a user used an object after a sweep had selected it.
var errRecent = errors.New("used a moment ago")

// free returns errHeld if a lock is held.
func (s *Store) free(ctx context.Context, name string) error {
	h, err := s.lock(ctx, name, exclusive, false)
	if err == nil {
		h.release(true)
	}
	return err
}

func (r *Report) leave(err error) {
	if len(r.Left) < 100 {
		r.Left = append(r.Left, err)
	}
}
