package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// trash is the state of emptying the trash directory. It does not descend into trees: it moves directories that are not empty to
// the top of the trash one by one, and empties each there. Thus no tree is too deep and no path too long, the next
// sweep can continue, and a mount cannot be moved and is never entered.
type trash struct {
	root   *os.Root
	report *Report
	fresh  func() string
	todo   []string        // directories at the top
	stuck  map[string]bool // that cannot be emptied
}

const (
	maxTodo  = 10_000 // the next pass finds more
	maxStuck = 1_000
)

// empty removes everything in the trash in as many passes as needed; concurrent calls are harmless. It stops when ctx ends.
func (s *Store) empty(ctx context.Context, r *Report) error {
	root, err := os.OpenRoot(s.trash())
	if err != nil {
		return sandbox.Errorf(sandbox.CodeOf(err), "trash: %w", err)
	}
	defer root.Close()
	t := &trash{root: root, report: r, fresh: func() string { return NewID(s.now()) }, stuck: map[string]bool{}}
	for {
		more, err := t.look(ctx)
		if err != nil {
			return sandbox.Errorf(sandbox.CodeOf(err), "the trash of workspaces: %w", err)
		}
		if !more || len(t.stuck) > maxStuck {
			return nil
		}
	}
}

// look makes one pass over the top directory, and reports whether it removed anything.
func (t *trash) look(ctx context.Context) (more bool, err error) {
	top, err := t.root.Open(".")
	if err != nil {
		return false, err
	}
	defer top.Close()
	before := t.report.Files
	for {
		names, err := top.Readdirnames(1000)
		for _, name := range names {
			if t.stuck[name] {
				continue
			}
			if err := t.remove(ctx, name); err != nil {
				return false, err
			}
		}
		if errors.Is(err, io.EOF) {
			return t.report.Files > before, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// remove removes an entry at the top, and the entries that it moved to the top meanwhile.
func (t *trash) remove(ctx context.Context, name string) error {
	t.todo = append(t.todo, name)
	for len(t.todo) > 0 {
		next := t.todo[len(t.todo)-1]
		t.todo = t.todo[:len(t.todo)-1]
		if err := t.one(ctx, next); err != nil {
			if ctx.Err() != nil {
				return err
			}
			if !errors.Is(err, fs.ErrNotExist) { // another process may remove it, too
				t.stuck[next] = true
				t.report.leave(sandbox.Errorf(sandbox.CodeOf(err), "trash: %w", err).WithHint("look at mounts, modes and the owner in %s", t.root.Name()))
			}
		}
	}
	return nil
}

// one removes an entry at the top. It first empties a directory.
func (t *trash) one(ctx context.Context, name string) error {
	info, err := t.root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return t.unlink(name)
	}
	if err := t.open(name, info); err != nil {
		return err
	}
	for {
		gone, err := t.entries(ctx, name)
		if err != nil {
			return err
		}
		switch err := t.unlink(name); {
		case err == nil || gone == 0:
			return err
		case errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
}

// open restores our permissions on a directory that an agent changed.
func (t *trash) open(name string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o700 == 0o700 {
		return nil
	}
	return t.root.Chmod(name, 0o700) // stays within the trash, even if name is replaced
}

// entries removes the entries of a directory and counts them.
func (t *trash) entries(ctx context.Context, dir string) (gone int, err error) {
	d, err := t.root.Open(dir)
	if err != nil {
		return 0, err
	}
	defer d.Close()
	var stays error
	for {
		found, err := d.ReadDir(1000)
		for _, e := range found {
			if ctx.Err() != nil {
				return gone, ctx.Err()
			}
			if err := t.entry(dir+"/"+e.Name(), e.IsDir()); err != nil && !errors.Is(err, fs.ErrNotExist) {
				stays = err
				continue
			}
			gone++
		}
		switch {
		case errors.Is(err, io.EOF) && gone == 0:
			return 0, stays
		case errors.Is(err, io.EOF):
			return gone, nil
		case err != nil:
			return gone, err
		}
	}
}

// entry removes an entry of a directory at the top, or moves it up.
func (t *trash) entry(name string, dir bool) error {
	err := t.unlink(name)
	if err == nil || !dir || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := t.root.Lstat(name)
	if err != nil {
		return err
	}
	// A directory without write permission cannot be moved to another directory.
	if err := t.open(name, info); err != nil {
		return err
	}
	up := t.fresh()
	if err := t.root.Rename(name, up); err != nil {
		return err
	}
	if len(t.todo) < maxTodo {
		t.todo = append(t.todo, up)
	}
	return nil
}

func (t *trash) unlink(name string) error {
	err := t.root.Remove(name)
	if err == nil {
		t.report.Files++
	}
	return err
}
