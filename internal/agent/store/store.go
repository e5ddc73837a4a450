// Package store holds the state of assistants: chats with their messages, the usage of runs, the audit log, the memory of
// hooks, and the workspaces of agents.
//
// A store is one directory of this user with a database, which several processes may use at once, the workspaces
// and the locks. IDs and names are untrusted; they are encoded before they become part of a path.
package store

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Defaults of [Options].
const (
	DefaultRetention     = 7 * 24 * time.Hour
	DefaultSchedule      = "0 3 * * *"
	DefaultMaxAttachment = 64 << 20
)

// Options configure a store. The zero value is ready to use.
type Options struct {
	Retention        time.Duration    // of unused workspaces; 0: DefaultRetention; negative: for ever
	HistoryRetention time.Duration    // of unused chats with their messages; 0 or negative: for ever
	Schedule         string           // when SweepDue sweeps, as in cron: minute, hour, day, month, weekday; "": DefaultSchedule
	Location         *time.Location   // of days and hours; nil: time.Local
	MaxAttachment    int64            // bytes of an attached file; 0: DefaultMaxAttachment
	Existing         bool             // a missing store is NotFound; false: Open creates it
	Now              func() time.Time // nil: time.Now
}

// Store is an open store. It is safe for concurrent use; other processes may have the same one open.
type Store struct {
	dir      string
	opts     Options
	schedule cron.Schedule
	db       *sql.DB
}

const database = "agent.db"

// Open opens the store in dir, an absolute path, and creates it for this user alone if it is missing. For a damaged
// database, or one of another program or a newer version, it returns an error and changes nothing. The caller
// closes the store.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, sandbox.Errorf(sandbox.Invalid, "the directory of the store is not an absolute path: %q", dir)
	}
	s := &Store{dir: dir, opts: o.complete()}
	var err error
	if s.schedule, err = cron.ParseStandard(s.opts.Schedule); err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "the schedule of clean-ups, %q: %w", s.opts.Schedule, err).
			WithHint("write minute, hour, day, month and weekday, such as '0 3 * * *'")
	}
	if err := s.prepare(); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the store. Close its chats, runs and workspaces first.
func (s *Store) Close() error { return s.failed(s.db.Close()) }

// Dir returns the directory of the store.
func (s *Store) Dir() string { return s.dir }

func (o Options) complete() Options {
	if o.Retention == 0 {
		o.Retention = DefaultRetention
	}
	if o.Schedule == "" {
		o.Schedule = DefaultSchedule
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.MaxAttachment <= 0 {
		o.MaxAttachment = DefaultMaxAttachment
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// prepare creates the directory and an empty database in it.
func (s *Store) prepare() error {
	name := filepath.Join(s.dir, database)
	if s.opts.Existing {
		if _, err := os.Stat(name); err != nil {
			return sandbox.Errorf(sandbox.CodeOf(err), "%w", err)
		}
	}
	for _, dir := range []string{s.dir, s.at("locks"), s.at("workspaces"), s.trash()} {
		if err := makePrivate(dir); err != nil {
			return sandbox.Errorf(sandbox.CodeOf(err), "the store: %w", err).WithHint("make it a directory that only you can write to")
		}
	}
	// SQLite gives its journals the database's mode.
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return sandbox.Errorf(sandbox.CodeOf(err), "the store: %w", err)
	}
	return f.Close()
}

// makePrivate creates a directory for this user alone, or removes other users' permissions from an existing one.
func makePrivate(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return os.MkdirAll(dir, 0o700)
	case err != nil:
		return err
	case !info.IsDir():
		return &os.PathError{Op: "open", Path: dir, Err: os.ErrExist}
	case info.Mode().Perm() != 0o700:
		return os.Chmod(dir, 0o700)
	}
	return nil
}

func (s *Store) at(name string) string { return filepath.Join(s.dir, name) }

func (s *Store) now() time.Time { return s.opts.Now() }

// millis returns a time in the database's form; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func (s *Store) time(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).In(s.opts.Location)
}
