package store

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// sweepOrphans removes workspaces that are not in the database, for example after the database was moved, once an earlier
// sweep has seen them too.
func (s *Store) sweepOrphans(ctx context.Context, before time.Time, r *Report) error {
	found, err := s.directories()
	if err != nil {
		return sandbox.Errorf(sandbox.CodeOf(err), "workspaces: %w", err)
	}
	// A workspace is enrolled before its directory exists, so an orphan cannot come into use within this transaction.
	return s.write(ctx, func(tx *sql.Tx) error {
		known, err := s.enrolled(ctx, tx)
		if err != nil {
			return err
		}
		for _, dir := range found {
			if known[dir] {
				if _, err := tx.ExecContext(ctx, "DELETE FROM orphans WHERE dir = ?", dir); err != nil {
					return err
				}
				continue
			}
			if err := s.orphan(ctx, tx, dir, before, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// orphan records when a directory was first seen, and moves it to the trash after the retention.
func (s *Store) orphan(ctx context.Context, tx *sql.Tx, dir string, before time.Time, r *Report) error {
	const see = "INSERT INTO orphans VALUES (?, ?) ON CONFLICT DO UPDATE SET seen = seen RETURNING seen"
	var seen int64
	if err := tx.QueryRowContext(ctx, see, dir, millis(s.now())).Scan(&seen); err != nil || seen >= millis(before) {
		return err
	}
	if _, err := s.dispose(filepath.Join(s.workspaces(), dir)); err != nil {
		r.leave(err)
		return nil
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM orphans WHERE dir = ?", dir)
	return err
}

// enrolled returns the directories of the workspaces in the database.
func (s *Store) enrolled(ctx context.Context, tx *sql.Tx) (map[string]bool, error) {
	rows, err := tx.QueryContext(ctx, "SELECT user, chat FROM workspaces")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	known := map[string]bool{}
	for rows.Next() {
		var p place
		if err := rows.Scan(&p.user, &p.chat); err != nil {
			return nil, err
		}
		known[strings.TrimPrefix(s.dirOf(p), s.workspaces()+"/")] = true
	}
	return known, rows.Err()
}

// directories returns the directories of all workspaces as USER/chat-CHAT.
func (s *Store) directories() ([]string, error) {
	users, err := os.ReadDir(s.workspaces())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, u := range users {
		if strings.HasPrefix(u.Name(), ".") || !u.IsDir() {
			continue
		}
		chats, err := os.ReadDir(filepath.Join(s.workspaces(), u.Name()))
		if err != nil {
			return nil, err
		}
		for _, c := range chats {
			if strings.HasPrefix(c.Name(), "chat-") {
				out = append(out, u.Name()+"/"+c.Name())
			}
		}
	}
	return out, nil
}
