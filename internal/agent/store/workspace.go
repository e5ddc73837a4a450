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

// Workspace is the directory in which the agents of one chat work. While it is open, sweeps of all processes leave it
// alone; several requests may have it open. Its content is hostile: do not follow links in it.
type Workspace struct {
	Dir string // absolute

	store *Store
	place place
	isNew bool
	mu    sync.Mutex
	held  *held // guarded by mu; nil: closed
}

// place identifies a workspace by its user and chat.
type place struct{ user, chat string }

func (p place) lock() string { return lockName("workspace", p.user, p.chat) }

func (s *Store) workspaces() string { return s.at("workspaces") }

// trash is the directory to which workspaces are moved before removal, on the same file system. Its name begins with a dot, unlike
// a user's directory.
func (s *Store) trash() string { return filepath.Join(s.workspaces(), ".trash") }

func (s *Store) dirOf(p place) string {
	return filepath.Join(s.workspaces(), encodeComponent(p.user), "chat-"+encodeComponent(p.chat))
}

// OpenWorkspace opens the workspace of a chat, and creates an empty directory if it is missing. Exhausted: the
// user has reached the limit on workspaces. The caller closes it.
func (s *Store) OpenWorkspace(ctx context.Context, user, chat string, l Limits) (*Workspace, error) {
	if err := checkOwner(user, chat); err != nil {
		return nil, err
	}
	p := place{user, chat}
	h, err := s.lock(ctx, p.lock(), shared, true) // a removal holds the lock only briefly
	if err != nil {
		return nil, err
	}
	w := &Workspace{Dir: s.dirOf(p), store: s, place: p, held: h}
	if w.isNew, err = s.enroll(ctx, p, l); err != nil {
		h.release(false)
		return nil, err
	}
	if err := makeWorkspace(w.Dir); err != nil {
		h.release(false)
		return nil, sandbox.Errorf(sandbox.CodeOf(err), "workspace of chat %s: %w", chat, err).WithHint("move the file or directory away")
	}
	return w, nil
}

// enroll records the use of a workspace, and reports whether it is new; then it checks the limit.
func (s *Store) enroll(ctx context.Context, p place, l Limits) (isNew bool, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		now := millis(s.now())
		res, err := tx.ExecContext(ctx, "UPDATE workspaces SET used = max(used, ?) WHERE user = ? AND chat = ?", now, p.user, p.chat)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n > 0 {
			return err
		}
		isNew = true
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM workspaces WHERE user = ?", p.user).Scan(&n); err != nil {
			return err
		}
		if l.Workspaces > 0 && n >= l.Workspaces {
			return sandbox.Errorf(sandbox.Exhausted, "user %s has %d workspaces; %d are allowed", quoteBriefly(p.user), n, l.Workspaces).
				WithHint("remove a chat that is not needed any more, with 'agent chats --remove CHAT', or old ones with 'agent prune'")
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO workspaces VALUES (?, ?, ?, ?)", p.user, p.chat, now, now)
		return err
	})
	return isNew, err
}

// makeWorkspace creates a directory for this user alone. Agents cannot change its parents.
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
		return os.Chmod(dir, 0o700) // an agent may have changed the mode
	}
	return nil
}

// Close records the end of the use and releases the workspace. Further calls do nothing.
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

// Withdraw closes the workspace, and removes it if this opening created it and no other request has it open.
func (w *Workspace) Withdraw(ctx context.Context) error {
	err := w.Close()
	if err != nil || !w.isNew {
		return err
	}
	err = w.store.discard(ctx, w.place.user, w.place.chat)
	if errors.Is(err, sandbox.ErrExists) {
		return nil // another request uses it
	}
	return err
}

// discard removes the workspace of a chat if it exists and is not in use.
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

// evict moves a workspace to the trash and returns its name there; "": it is missing. It returns
// errHeld for one in use and, if before is not zero, errRecent for one that was used since.
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

// dispose moves a workspace's directory to the trash and returns its name there; "": it is missing. It fails for a
// mount point, which stays.
func (s *Store) dispose(dir string) (string, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	// Moving a directory to another parent needs write permission on it, which an agent may have removed.
	if err == nil && info.IsDir() && info.Mode().Perm() != 0o700 {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return "", err
	}
	name := NewID(s.now())
	return name, os.Rename(dir, filepath.Join(s.trash(), name))
}
