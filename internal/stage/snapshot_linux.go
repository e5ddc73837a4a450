package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// snapshotFile contains a sandbox.SnapshotInfo.
const snapshotFile = "snapshot.json"

// Save copies the stage's changes to dir, which must not exist, for [Store.Adopt] and [Store.Restore]. No process
// should write to the stage meanwhile. On an error it leaves no files.
func (u *Use) Save(ctx context.Context, dir string) error {
	return createDir(filepath.Dir(dir), dir, func(temp string) error {
		_, err := cloneStage(ctx, u.stage.dir, temp)
		return err
	})
}

// createDir calls fill with a new directory in parent and renames it to final when it is complete. Exists: the name is taken.
// After a kill, the next sweep removes the directory.
func createDir(parent, final string, fill func(temp string) error) error {
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

// Snapshot saves the changes of the stage under a name. Exists: there is a snapshot of that name.
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
	return createDir(s.Dir, s.path(name), func(temp string) error {
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

// FindUsable is like Find, and returns Invalid for a damaged snapshot.
func (s Snapshots) FindUsable(name string) (dir string, err error) {
	if dir, err = s.Find(name); err != nil {
		return "", err
	}
	if info := s.describe(name); info.Problem != "" {
		return "", sandbox.Errorf(sandbox.Invalid, "snapshot %s is damaged: %s", name, info.Problem).
			WithHint("'agent-sandbox snapshots --remove %s NAME' removes it", name)
	}
	return dir, nil
}

// describe returns the description of a snapshot, of a damaged one too.
func (s Snapshots) describe(name string) sandbox.SnapshotInfo {
	var info sandbox.SnapshotInfo
	err := readJSON(filepath.Join(s.path(name), snapshotFile), &info)
	if err == nil && info.Name != name {
		err = fmt.Errorf("%s is of %q", snapshotFile, info.Name)
	}
	if err == nil {
		return info
	}
	damaged := sandbox.SnapshotInfo{Name: name, Problem: fmt.Sprintf("%s: %v", snapshotFile, err)}
	if st, err := os.Lstat(s.path(name)); err == nil {
		damaged.Created = st.ModTime()
	}
	return damaged
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
		if sandbox.CheckSnapshot(e.Name()) != nil {
			continue // the directory is being created or removed
		}
		info := s.describe(e.Name())
		if _, err := os.Lstat(s.path(e.Name())); errors.Is(err, fs.ErrNotExist) {
			continue // it was removed meanwhile
		}
		list = append(list, info)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Created.Before(list[j].Created) })
	return list, nil
}

// Remove removes a snapshot. Denied: a process is restoring it.
func (s Snapshots) Remove(name string) error {
	dir, err := s.Find(name)
	if err != nil {
		return err
	}
	return discard(dir)
}

// cloneSnapshot is like cloneStage for a snapshot, and locks it meanwhile.
func cloneSnapshot(ctx context.Context, dir, to string) error {
	held, err := lock(dir, newHolder([]string{"copy"}))
	if err != nil {
		return err
	}
	defer release(held)
	_, err = cloneStage(ctx, dir, to)
	return err
}

// Copy copies the changes of a snapshot, as Use.Save does for a stage.
func (s Snapshots) Copy(ctx context.Context, name, dir string) error {
	from, err := s.FindUsable(name)
	if err != nil {
		return err
	}
	return createDir(filepath.Dir(dir), dir, func(temp string) error { return cloneSnapshot(ctx, from, temp) })
}

// Restore replaces the changes of a stage by those in from, which Save or Snapshot has written. Right before the
// replacement it calls rest, which ends the processes that use the stage. After an error or a kill the stage has either
// all old or all new changes.
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
	if err = cloneSnapshot(ctx, from, temp); err == nil {
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

// exchange replaces an unused stage by the stage in temp, and removes the old stage; on an error it removes temp.
func (s *Store) exchange(temp, final string) error {
	old, err := lock(final, newHolder([]string{"restore"}))
	if sandbox.CodeOf(err) == sandbox.NotFound { // discarded meanwhile
		return unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, final, unix.RENAME_NOREPLACE)
	}
	if err == nil {
		defer release(old) // closed after the removal
		err = unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, final, unix.RENAME_EXCHANGE)
		err = errors.Join(err, syncDir(s.Dir))
	}
	return errors.Join(err, removeHeld(temp))
}

// rename changes the name of the stage in dir, and checks that it belongs to that workspace.
func rename(dir, workspace, name string) error {
	st, err := readStage(dir)
	if err != nil {
		return err
	}
	if st.Workspace != workspace {
		return sandbox.Errorf(sandbox.Invalid, "the changes are those of workspace %s, not of %s", st.Workspace, workspace)
	}
	st.data.Name = name
	return st.save()
}

// Adopt moves the changes that Save has written to dir into a new stage. It has no effect if dir does not exist.
// Exists: there is a stage of that name.
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
	held, err := lock(dir, newHolder([]string{"adopt"}))
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
		err = createDir(s.Dir, final, func(temp string) error {
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
