package store

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Workspace is the directory that the agents of one chat work in. While it is open no sweep removes it, also when that
// is of another process; several requests may have it open. What is in it is hostile: follow no link of it.
type Workspace struct {
	Dir string // absolute

	store *Store
	place place
	mu    sync.Mutex
	held  *held // guarded by mu; nil: closed
}

// place is whose workspace it is.
type place struct{ user, chat string }

func (p place) lock() string { return lockName("workspace", p.user, p.chat) }

func (s *Store) workspaces() string { return s.at("workspaces") }

// trash is where workspaces are moved to be removed: beside the others, on the same file system. No user's directory
// begins with a dot.
func (s *Store) trash() string { return filepath.Join(s.workspaces(), ".trash") }

func (s *Store) dirOf(p place) string {
	return filepath.Join(s.workspaces(), component(p.user), "chat-"+component(p.chat))
}

// OpenWorkspace opens the workspace of a chat, which is made where it is not there: its directory is empty then. A user
// who has as many as limits allow gets no new one: that is Exhausted. The caller closes it.
func (s *Store) OpenWorkspace(ctx context.Context, user, chat string, l Limits) (*Workspace, error) {
	if err := checkOwner(user, chat); err != nil {
		return nil, err
	}
	p := place{user, chat}
	h, err := s.lock(ctx, p.lock(), shared, true) // a removal holds it only for a moment
	if err != nil {
		return nil, err
	}
	w := &Workspace{Dir: s.dirOf(p), store: s, place: p, held: h}
	if err := s.enroll(ctx, p, l); err != nil {
		h.release(false)
		return nil, err
	}
	if err := makeWorkspace(w.Dir); err != nil {
		h.release(false)
		return nil, sandbox.Errorf(sandbox.CodeOf(err), "workspace of chat %s: %w", chat, err).WithHint("move what is there away")
	}
	return w, nil
}

// enroll books that a workspace is used, and that there is one more if it is new.
func (s *Store) enroll(ctx context.Context, p place, l Limits) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		now := millis(s.now())
		res, err := tx.ExecContext(ctx, "UPDATE workspaces SET used = max(used, ?) WHERE user = ? AND chat = ?", now, p.user, p.chat)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return err
		}
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM workspaces WHERE user = ?", p.user).Scan(&n); err != nil {
			return err
		}
		if l.Workspaces > 0 && n >= l.Workspaces {
			return sandbox.Errorf(sandbox.Exhausted, "user %s has %d workspaces; %d are allowed", brief(p.user), n, l.Workspaces).
				WithHint("remove a chat that is not needed any more, with 'agent chats --remove CHAT', or old ones with 'agent prune'")
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO workspaces VALUES (?, ?, ?, ?)", p.user, p.chat, now, now)
		return err
	})
}

// makeWorkspace makes a directory that is ours alone. Its parents are no agent's.
func makeWorkspace(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return &os.PathError{Op: "open", Path: dir, Err: os.ErrExist}
	}
	if info.Mode().Perm() != 0o700 {
		return os.Chmod(dir, 0o700) // an agent may have opened its own to others, or shut it
	}
	return nil
}

// Close books that the workspace was used until now, and lets go of it. Further calls do nothing.
func (w *Workspace) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil {
		return nil
	}
	_, err := w.store.db.ExecContext(context.Background(), "UPDATE workspaces SET used = max(used, ?) WHERE user = ? AND chat = ?",
		millis(w.store.now()), w.place.user, w.place.chat)
	w.held.release(false)
	w.held = nil
	return w.store.failed(err)
}

// discard removes the workspace of a chat, if there is one and it is not in use.
func (s *Store) discard(ctx context.Context, user, chat string) error {
	p := place{user, chat}
	moved, err := s.evict(ctx, p, time.Time{})
	if errors.Is(err, errHeld) {
		return sandbox.Errorf(sandbox.Exists, "the workspace of chat %s is in use", chat).WithHint("wait until the request that uses it has ended")
	}
	if err != nil || moved == "" {
		return err
	}
	var r Report
	if err := s.empty(ctx, &r); err != nil {
		return err
	}
	if len(r.Left) > 0 {
		return r.Left[0]
	}
	return nil
}

// evict moves a workspace to the trash, and returns its name there; "": there was none. One
// in use is errHeld; where before is not zero, one that was used since is errRecent.
func (s *Store) evict(ctx context.Context, p place, before time.Time) (string, error) {
	h, err := s.lock(ctx, p.lock(), exclusive, false)
	if err != nil {
		return "", err
	}
	defer h.release(true)
	if !before.IsZero() {
		var used int64
		err := s.db.QueryRowContext(ctx, "SELECT coalesce(max(used), 0) FROM workspaces WHERE user = ? AND chat = ?", p.user, p.chat).Scan(&used)
		if err != nil {
			return "", s.failed(err)
		}
		if used >= millis(before) {
			return "", errRecent
		}
	}
	name, err := s.dispose(s.dirOf(p))
	if err != nil {
		return "", sandbox.Errorf(sandbox.CodeOf(err), "workspace of chat %s: %w", p.chat, err).WithHint("look at mounts and the owner of its files")
	}
	_, err = s.db.ExecContext(ctx, "DELETE FROM workspaces WHERE user = ? AND chat = ?", p.user, p.chat)
	return name, s.failed(err)
}

// dispose moves a workspace's directory to the trash, and tells its name there; "": there is none. A mount on it makes
// this fail, and it stays.
func (s *Store) dispose(dir string) (string, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	// A directory that we may not write to cannot be moved to another, and an agent may have shut its own.
	if err == nil && info.IsDir() && info.Mode().Perm() != 0o700 {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return "", err
	}
	name := NewID(s.now())
	return name, os.Rename(dir, filepath.Join(s.trash(), name))
}
