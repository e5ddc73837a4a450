package stage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// snapshotFile describes a snapshot.
const snapshotFile = "snapshot.json"

// Save keeps the stage's changes in dir, a directory that is not there yet: [Store.Adopt] and [Store.Restore] take them
// from it. What writes to the stage should rest. When it fails, nothing is there.
func (u *Use) Save(ctx context.Context, dir string) error {
	return making(filepath.Dir(dir), dir, func(temp string) error {
		_, err := cloneStage(ctx, u.stage.dir, temp)
		return err
	})
}

// making fills a new directory in parent and gives it its name, final, when it is complete. Exists: the name is taken. A
// killed process leaves what the next sweep removes.
func making(parent, final string, fill func(temp string) error) error {
	temp, held, err := newDir(parent, "save")
	if err != nil {
		return err
	}
	defer release(held)
	err = fill(temp)
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, final, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EEXIST) {
			err = sandbox.Errorf(sandbox.Exists, "there is a %s already", filepath.Base(final))
		}
	}
	if err != nil {
		return errors.Join(err, removeHeld(temp))
	}
	return syncDir(parent)
}

// Snapshot keeps the changes of the stage under a name. Exists: there is one.
func (s Snapshots) Snapshot(ctx context.Context, u *Use, name string) error {
	if err := sandbox.CheckSnapshot(name); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	sweep(s.Dir)
	if _, err := os.Lstat(s.path(name)); err == nil {
		return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
	}
	info := sandbox.SnapshotInfo{Name: name, Created: time.Now()}
	return making(s.Dir, s.path(name), func(temp string) error {
		size, err := cloneStage(ctx, u.stage.dir, temp)
		if err != nil {
			return err
		}
		info.Size = size
		return writeJSON(filepath.Join(temp, snapshotFile), info)
	})
}

func (s Snapshots) path(name string) string { return filepath.Join(s.Dir, name) }

// Find returns the directory of a snapshot, or NotFound.
func (s Snapshots) Find(name string) (dir string, err error) {
	if err := sandbox.CheckSnapshot(name); err != nil {
		return "", err
	}
	if _, err := os.Lstat(s.path(name)); err != nil {
		return "", noSnapshot(name)
	}
	return s.path(name), nil
}

func noSnapshot(name string) error {
	return sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name).WithHint("'agent-sandbox snapshots NAME' lists them")
}

// List returns the snapshots, oldest first.
func (s Snapshots) List() ([]sandbox.SnapshotInfo, error) {
	sweep(s.Dir)
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []sandbox.SnapshotInfo{}
	for _, e := range entries {
		var info sandbox.SnapshotInfo
		if sandbox.CheckSnapshot(e.Name()) != nil || readJSON(filepath.Join(s.path(e.Name()), snapshotFile), &info) != nil {
			continue // being made, or removed just now
		}
		info.Name = e.Name()
		list = append(list, info)
	}
	slices.SortFunc(list, func(a, b sandbox.SnapshotInfo) int { return a.Created.Compare(b.Created) })
	return list, nil
}

// Remove removes a snapshot. Denied: somebody restores it right now.
func (s Snapshots) Remove(name string) error {
	dir, err := s.Find(name)
	if err != nil {
		return err
	}
	return discard(dir)
}

// copyOf is cloneStage for a snapshot, which stays while it is copied.
func copyOf(ctx context.Context, dir, to string) error {
	held, err := lock(dir, holder([]string{"copy"}))
	if err != nil {
		return err
	}
	defer release(held)
	_, err = cloneStage(ctx, dir, to)
	return err
}

// Copy is Use.Save for the changes of a snapshot.
func (s Snapshots) Copy(ctx context.Context, name, dir string) error {
	from, err := s.Find(name)
	if err != nil {
		return err
	}
	return making(filepath.Dir(dir), dir, func(temp string) error { return copyOf(ctx, from, temp) })
}

// Restore exchanges the changes of a stage for those in from, which Save or a snapshot has kept. rest is called when they
// are ready to take their place, and ends what uses the stage. All of the stage is as it was when this fails or is killed,
// or all is exchanged.
func (s *Store) Restore(ctx context.Context, workspace, name, from string, rest func() error) error {
	name, workspace, err := s.identify(workspace, name)
	if err != nil {
		return err
	}
	s.Sweep()
	temp, held, err := newDir(s.Dir, "restore")
	if err != nil {
		return err
	}
	defer release(held)
	if err = copyOf(ctx, from, temp); err == nil {
		err = rename(temp, workspace, name)
	}
	if err == nil {
		err = rest()
	}
	if err != nil {
		return errors.Join(err, removeHeld(temp))
	}
	return s.exchange(temp, s.place(workspace, name))
}

// exchange gives a directory the place of a stage that nobody uses, and removes what is left over: the old one when all
// went well.
func (s *Store) exchange(temp, final string) error {
	old, err := lock(final, holder([]string{"restore"}))
	if sandbox.CodeOf(err) == sandbox.NotFound { // discarded meanwhile
		return unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, final, unix.RENAME_NOREPLACE)
	}
	if err == nil {
		defer release(old) // held until it is removed
		err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, final, unix.RENAME_EXCHANGE)
		err = errors.Join(err, syncDir(s.Dir))
	}
	return errors.Join(err, removeHeld(temp))
}

// rename gives the stage in dir another name, and checks that it is one of that workspace.
func rename(dir, workspace, name string) error {
	st, err := readStage(dir)
	if err != nil {
		return err
	}
	if st.Workspace != workspace {
		return sandbox.Errorf(sandbox.Invalid, "%s was staged, and not %s", st.Workspace, workspace)
	}
	st.data.Name = name
	return st.save()
}

// Adopt makes what Save has put into dir a stage, and takes it away from there; nothing is done when there is no such
// directory. Exists: there is a stage of that name.
func (s *Store) Adopt(ctx context.Context, workspace, name, dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name, workspace, err := s.identify(workspace, name)
	if err == nil {
		err = s.prepare(workspace)
	}
	if err != nil {
		return err
	}
	held, err := lock(dir, holder([]string{"adopt"}))
	if err != nil {
		return err
	}
	defer release(held)
	if err := rename(dir, workspace, name); err != nil {
		return err
	}
	final := s.place(workspace, name)
	err = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, final, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EXDEV) {
		err = making(s.Dir, final, func(temp string) error {
			_, err := cloneStage(ctx, dir, temp)
			return err
		})
		if err == nil {
			err = tree.Remove(dir)
		}
	}
	if errors.Is(err, unix.EEXIST) || errors.Is(err, sandbox.ErrExists) {
		return exists(name, workspace)
	}
	return err
}
