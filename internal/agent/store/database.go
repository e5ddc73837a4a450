package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// connect opens the database and migrates it to this version.
func (s *Store) connect(ctx context.Context) error {
	// With NORMAL, the death of a process loses nothing; a crash of the machine may lose the last transactions, and the database
	// stays consistent (sqlite.org/pragma.html#pragma_synchronous).
	dsn := url.URL{Scheme: "file", Path: s.at(database), RawQuery: "_txlock=immediate&_pragma=busy_timeout(30000)" +
		"&_pragma=foreign_keys(1)&_pragma=synchronous(NORMAL)"}
	c, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return s.failed(err)
	}
	s.db = sql.OpenDB(c)
	s.db.SetMaxOpenConns(8)
	s.db.SetMaxIdleConns(8)
	if err := s.migrate(ctx); err != nil {
		return errors.Join(err, s.db.Close())
	}
	return nil
}

// write runs one transaction that excludes other writers.
func (s *Store) write(ctx context.Context, change func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.failed(err)
	}
	if err := change(tx); err != nil {
		_ = tx.Rollback() // the first error is returned
		return s.failed(err)
	}
	return s.failed(tx.Commit())
}

// failed converts a database error to one with a code. Errors that have a code stay unchanged.
func (s *Store) failed(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*sandbox.Error](err); ok {
		return err
	}
	name := s.at(database)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return sandbox.Errorf(sandbox.CodeOf(err), "%s: %w", name, err)
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return sandbox.Errorf(sandbox.CodeOf(err), "%s: %w", name, err)
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return sandbox.Errorf(sandbox.Exhausted, "%s: the disk is full: %w", name, err).WithHint("make room, and try again; its content is intact")
	case sqlite3.SQLITE_IOERR:
		return sandbox.Errorf(sandbox.Unavailable, "%s: the disk cannot be written or read: %w", name, err).
			WithHint("see whether the disk is full or broken; the store's content is intact")
	case sqlite3.SQLITE_BUSY:
		return sandbox.Errorf(sandbox.Timeout, "%s: other processes hold its lock: %w", name, err).WithHint("try again")
	case sqlite3.SQLITE_INTERRUPT:
		return sandbox.Errorf(sandbox.Canceled, "%s: %w", name, err)
	case sqlite3.SQLITE_NOTADB:
		return sandbox.Errorf(sandbox.Invalid, "%s is not a database", name).WithHint("move it away, and a new one is made")
	case sqlite3.SQLITE_CORRUPT:
		return sandbox.Errorf(sandbox.Unavailable, "%s is damaged: %w", name, err).
			WithHint("move it away, and a new one is made; 'sqlite3 FILE .recover' saves its content")
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return sandbox.Errorf(sandbox.Denied, "%s: %w", name, err).WithHint("make it writable")
	case sqlite3.SQLITE_CANTOPEN:
		return sandbox.Errorf(sandbox.Unavailable, "%s: %w", name, err).WithHint("see whether it is a file that you can write, on a disk with room")
	}
	return sandbox.Errorf(sandbox.Internal, "%s: %w", name, err)
}
