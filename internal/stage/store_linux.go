package stage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	newPrefix  = ".new-"
	gonePrefix = ".gone-"
)

// Create creates the stage called name, empty meaning [DefaultName], for workspace. Errors: Invalid for an invalid name
// or workspace, Exists if the stage exists, Unsupported for a workspace with mounts below it, Unavailable if this
// system does not allow mounts in a user namespace.
func (s *Store) Create(workspace, name string) (*Stage, error) {
	name, workspace, err := s.identify(workspace, name)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(workspace); err != nil {
		return nil, err
	}
	s.Sweep()
	final := s.place(workspace, name)
	if _, err := os.Lstat(final); err == nil {
		return nil, exists(name, workspace)
	}
	dir, held, err := newDir(s.Dir, "create")
	if err != nil {
		return nil, err
	}
	defer release(held)
	stage, err := s.build(dir, workspace, name)
	if err == nil {
		err = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, final, unix.RENAME_NOREPLACE)
		if errors.Is(err, unix.EEXIST) {
			err = exists(name, workspace)
		}
	}
	if err != nil {
		return nil, errors.Join(err, removeHeld(dir))
	}
	stage.dir = final
	return stage, passTick(stage.data.Created)
}

func exists(name, workspace string) error {
	return sandbox.Errorf(sandbox.Exists, "there is a stage %s of %s", name, workspace)
}

// build creates a stage in dir.
func (s *Store) build(dir, workspace, name string) (*Stage, error) {
	root, err := os.Lstat(workspace)
	if err != nil {
		return nil, err
	}
	st, ok := root.Sys().(*syscall.Stat_t)
	if !ok {
		return nil, sandbox.Errorf(sandbox.Internal, "no status of %s", workspace)
	}
	stage := newStage(dir, metadata{
		Version: metadataVersion, Name: name, Workspace: rawPath(workspace),
		Created: time.Now().UnixNano(), Inode: st.Ino,
	})
	mode := root.Mode().Perm()
	reason, err := s.tryOverlay(stage, mode)
	if err != nil {
		return nil, err
	}
	stage.data.Kind, stage.data.Reason = Overlay, reason
	if reason != "" {
		if err := s.tryCopy(stage, mode); err != nil {
			return nil, err
		}
	}
	if err := stage.save(); err != nil {
		return nil, err
	}
	return newStage(dir, stage.data), nil
}

// tryOverlay creates the directories of an overlay and mounts it once. reason is the reason why this workspace cannot
// have an overlay; "" if it can.
func (s *Store) tryOverlay(stage *Stage, mode os.FileMode) (reason string, err error) {
	what, err := foreignClock(stage.Workspace)
	if err != nil {
		return "", err
	}
	if what != "" {
		return "the workspace is on " + what, nil
	}
	if err := mkdirs(stage.dir, upperDir, workDir); err != nil {
		return "", err
	}
	if err := os.Chmod(filepath.Join(stage.dir, upperDir), mode); err != nil {
		return "", err
	}
	stage.Kind = Overlay
	reason, err = tryMount(s.Guest, stage)
	if err != nil || reason == "" {
		return "", err
	}
	return reason, errors.Join(tree.Remove(filepath.Join(stage.dir, upperDir)), tree.Remove(filepath.Join(stage.dir, workDir)))
}

// tryCopy copies the workspace, if this system can mount a copy.
func (s *Store) tryCopy(stage *Stage, mode os.FileMode) error {
	if err := mkdirs(stage.dir, treeDir); err != nil {
		return err
	}
	stage.Kind = Copy
	reason, err := tryMount(s.Guest, stage)
	if err != nil {
		return err
	}
	if reason != "" {
		return sandbox.Errorf(sandbox.Unavailable, "neither an overlay (%s) nor a copy (%s) can be mounted", stage.data.Reason, reason)
	}
	cloned, m, err := copyWorkspace(stage.Workspace, filepath.Join(stage.dir, treeDir), stage.data.Inode)
	if err != nil {
		return sandbox.Errorf(sandbox.CodeOf(err), "copy %s: %w", stage.Workspace, err)
	}
	stage.data.Kind = Copy
	if cloned {
		stage.data.Kind = Reflink
	}
	if err := os.Chmod(filepath.Join(stage.dir, treeDir), mode); err != nil {
		return err
	}
	return writeJSON(filepath.Join(stage.dir, manifestFile), m)
}

func mkdirs(dir string, names ...string) error {
	for _, n := range names {
		if err := os.Mkdir(filepath.Join(dir, n), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Open returns the stage called name, empty meaning [DefaultName], of workspace;
// NotFound when there is none.
func (s *Store) Open(workspace, name string) (*Stage, error) {
	name, workspace, err := s.identify(workspace, name)
	if err != nil {
		return nil, err
	}
	stage, err := readStage(s.place(workspace, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sandbox.Errorf(sandbox.NotFound, "no stage %s of %s", name, workspace)
	}
	return stage, err
}

// Ensure opens the stage called name, or creates it. It replaces a copy without changes by a new one, because the copy
// may be older than the workspace; an overlay always shows the current workspace.
func (s *Store) Ensure(workspace, name string) (*Stage, error) {
	stage, err := s.Open(workspace, name)
	if err == nil && stage.Kind != Overlay && stage.IsPristine() {
		if err := stage.Discard(); err != nil {
			return stage, nil //nolint:nilerr // it is in use, and the error of Use names the process
		}
		err = sandbox.ErrNotFound
	}
	if !errors.Is(err, sandbox.ErrNotFound) {
		s.Sweep()
		return stage, err
	}
	stage, err = s.Create(workspace, name)
	if errors.Is(err, sandbox.ErrExists) { // another process created it meanwhile
		return s.Open(workspace, name)
	}
	return stage, err
}

// List returns the stages of all workspaces, ordered by workspace and name. If a stage cannot be read, it returns an
// error with the other stages.
func (s *Store) List() ([]*Stage, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var stages []*Stage
	var failed []error
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		stage, err := readStage(filepath.Join(s.Dir, e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // discarded meanwhile
		case err != nil:
			failed = append(failed, err)
		default:
			stages = append(stages, stage)
		}
	}
	sort.Slice(stages, func(i, j int) bool {
		return stages[i].Workspace+"\x00"+stages[i].Name < stages[j].Workspace+"\x00"+stages[j].Name
	})
	return stages, errors.Join(failed...)
}

// Discard removes the stage and its changes. Denied while it is in use.
func (s *Stage) Discard() error { return discard(s.dir) }

// Await waits until no process uses the stage, or ctx ends.
func (s *Stage) Await(ctx context.Context) error {
	f, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the file is created by the first use
	}
	if err != nil {
		return err
	}
	return awaitLock(ctx, f)
}

// Drop waits until no process uses the stage, or ctx ends, and discards it. It succeeds if another process discards it.
func (s *Stage) Drop(ctx context.Context) error {
	err := s.Await(ctx)
	if err == nil {
		err = s.Discard()
	}
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

func discard(dir string) error {
	held, err := lock(dir, newHolder([]string{"discard"}))
	if err != nil {
		return err
	}
	defer release(held)
	// The rename removes it for all processes at once; after a kill, a sweep removes the rest.
	gone := filepath.Join(filepath.Dir(dir), gonePrefix+rand.Text())
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	return removeHeld(gone)
}

// identify checks the name of a stage and resolves the workspace.
func (s *Store) identify(workspace, name string) (string, string, error) {
	if name == "" {
		name = DefaultName
	}
	if !isValidName(name) {
		return "", "", sandbox.Errorf(sandbox.Invalid, "stage name %q", name).
			WithHint("use up to 64 letters, digits, '.', '_' and '-'")
	}
	if !filepath.IsAbs(s.Dir) || !filepath.IsAbs(workspace) {
		return "", "", sandbox.Errorf(sandbox.Invalid, "store %q or workspace %q is not absolute", s.Dir, workspace)
	}
	real, err := filepath.EvalSymlinks(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return name, filepath.Clean(workspace), nil // its stages can still be listed and discarded
	}
	return name, real, err
}

// prepare creates the store and checks that neither it nor the workspace contains the other.
func (s *Store) prepare(workspace string) error {
	info, err := os.Stat(workspace)
	if err != nil {
		return err
	}
	if !info.IsDir() || workspace == "/" {
		return sandbox.Errorf(sandbox.Invalid, "%s cannot be staged", workspace).WithHint("name a directory other than /")
	}
	// Check before creating the store, so that nothing is written to the workspace.
	real, err := resolveMissing(s.Dir)
	if err != nil {
		return err
	}
	if isWithin(real, workspace) || isWithin(workspace, real) {
		return sandbox.Errorf(sandbox.Invalid, "the directory of stages %s and the workspace %s contain one another", real, workspace).
			WithHint("put stages elsewhere, or stage a directory below")
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	own, err := os.Stat(s.Dir)
	if err != nil {
		return err
	}
	// Another user who can write there could change files that are applied later.
	if st, ok := own.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() || own.Mode().Perm()&0o077 != 0 {
		return sandbox.Errorf(sandbox.Denied, "%s is not a directory that only you can access", s.Dir).WithHint("chmod 700 %s", s.Dir)
	}
	point, err := findSubmount(workspace)
	if err == nil && point != "" {
		err = sandbox.Errorf(sandbox.Unsupported, "the workspace has a mount below it, %s, which a stage would not show", point).
			WithHint("unmount it, or stage a directory without one")
	}
	return err
}

// resolveMissing resolves the links of a path as far as it exists.
func resolveMissing(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	dir, err := resolveMissing(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

func isWithin(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// place returns the directory of a stage.
func (s *Store) place(workspace, name string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:10])+"-"+name)
}

// Sweep removes stages that killed processes have left half created or half removed. Create
// and Ensure call it.
func (s *Store) Sweep() { sweep(s.Dir) }

func sweep(in string) {
	claimed := map[string]*os.File{}
	_ = Between(in, unix.LOCK_EX, func() error { // the next use of the directory reports the error
		entries, err := os.ReadDir(in)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), newPrefix) && !strings.HasPrefix(e.Name(), gonePrefix) {
				continue
			}
			dir := filepath.Join(in, e.Name())
			if f, err := lock(dir, newHolder([]string{"sweep"})); err == nil {
				claimed[dir] = f
			}
		}
		return err
	})
	for dir, f := range claimed {
		_ = removeHeld(dir) // the next sweep tries again
		release(f)
	}
}

// removeHeld removes a directory; the caller has its lock. It removes the lock file last, between two sweeps, so that
// no sweep removes the directory at the same time.
func removeHeld(dir string) error {
	if err := tree.Empty(dir, lockFile); err != nil {
		return err
	}
	return Between(filepath.Dir(dir), unix.LOCK_SH, func() error { return tree.Remove(dir) })
}

// newDir creates and locks a directory in parent between two sweeps, so that no sweep removes it.
func newDir(parent, what string) (dir string, held *os.File, err error) {
	dir = filepath.Join(parent, newPrefix+rand.Text())
	err = Between(parent, unix.LOCK_SH, func() error {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		held, err = lock(dir, newHolder([]string{what}))
		return err
	})
	if err != nil {
		return "", nil, errors.Join(err, tree.Remove(dir))
	}
	return dir, held, nil
}
