package tmpstore

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Prepare creates the store, and returns its path without symbolic links. Invalid: the store and the workspace contain one
// another. Denied: another user could write to the store.
func (s Store) Prepare(workspace string) (string, error) {
	root, dir, err := s.open(workspace)
	if err != nil {
		return "", err
	}
	return dir, unix.Close(root)
}

// Path returns the path that Ensure would return, if the store exists. It creates nothing.
func (s Store) Path(workspace string) (string, error) {
	w, err := newIdentity(workspace)
	if err != nil {
		return "", err
	}
	return filepath.Join(s.Dir, w.name(), filesDir), nil
}

// Ensure creates the /tmp of a workspace, with mode 0700, and returns its path without symbolic links. It follows no link
// in the store, and gives a directory back the mode that a command has changed. workspace is absolute, resolved and an
// existing directory. Errors are those of Prepare.
func (s Store) Ensure(workspace string) (string, error) {
	w, err := newIdentity(workspace)
	if err != nil {
		return "", err
	}
	root, dir, err := s.open(workspace)
	if err != nil {
		return "", err
	}
	defer unix.Close(root)
	own, err := makePrivate(root, w.name())
	if err != nil {
		return "", err
	}
	defer unix.Close(own)
	if err := w.write(own); err != nil {
		return "", err
	}
	files, err := makePrivate(own, filesDir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, w.name(), filesDir), unix.Close(files)
}

// Prune removes the directories of workspaces that do not exist any more, and returns these workspaces. It removes nothing
// of a workspace that it cannot examine.
func (s Store) Prune() (workspaces []string, err error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	failed := []error{err}
	for _, e := range entries {
		dir := filepath.Join(s.Dir, e.Name())
		if strings.HasPrefix(e.Name(), gonePrefix) { // a killed process has left it
			failed = append(failed, stage.RemoveTree(dir))
			continue
		}
		w, err := readIdentity(dir)
		if err != nil || !w.isGone() {
			continue
		}
		// The rename ends it for all processes at once.
		gone := filepath.Join(s.Dir, gonePrefix+rand.Text())
		if err = os.Rename(dir, gone); err == nil {
			workspaces = append(workspaces, w.path)
			err = stage.RemoveTree(gone)
		}
		if !errors.Is(err, fs.ErrNotExist) { // another process removes it
			failed = append(failed, err)
		}
	}
	return workspaces, errors.Join(failed...)
}

// open opens the store with O_PATH, creates it, and returns its path without links.
func (s Store) open(workspace string) (fd int, dir string, err error) {
	parent := filepath.Dir(s.Dir)
	if !filepath.IsAbs(s.Dir) {
		return -1, "", sandbox.Errorf(sandbox.Invalid, "the directory %q is not absolute", s.Dir)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return -1, "", err
	}
	real, err := filepath.EvalSymlinks(parent)
	if err != nil {
		return -1, "", err
	}
	dir = filepath.Join(real, filepath.Base(s.Dir))
	if isWithin(dir, workspace) || isWithin(workspace, dir) {
		return -1, "", sandbox.Errorf(sandbox.Invalid, "the directory for /tmp, %s, and the workspace %s contain one another", dir, workspace).
			WithHint("work in a directory below, or leave --tmp keep out")
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	at, err := unix.Openat2(unix.AT_FDCWD, real, &how)
	if err != nil {
		return -1, "", &os.PathError{Op: "open", Path: real, Err: err}
	}
	defer unix.Close(at)
	fd, err = makePrivate(at, filepath.Base(dir))
	return fd, dir, err
}

// makePrivate creates a directory that only this user can enter, if it is not there, and opens it with O_PATH.
func makePrivate(at int, name string) (fd int, err error) {
	wrap := func(op string, err error) error { return &os.PathError{Op: op, Path: name, Err: err} }
	if err := unix.Mkdirat(at, name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return -1, wrap("mkdir", err)
	}
	fd, err = unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, wrap("open", err)
	}
	defer func() {
		if err != nil {
			_ = unix.Close(fd)
		}
	}()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return -1, wrap("stat", err)
	}
	if int(st.Uid) != os.Geteuid() {
		return -1, sandbox.Errorf(sandbox.Denied, "the directory %s for /tmp belongs to another user", name)
	}
	if st.Mode&0o7777 != 0o700 {
		// fchmod(2) takes no O_PATH descriptor, and another open could lack the permission.
		if err := os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700); err != nil {
			return -1, err
		}
	}
	return fd, nil
}

// identity identifies a workspace: a new directory at the path of an old one is another workspace.
type identity struct {
	path  string
	inode string // with the time of the directory's creation, where the file system has it, because numbers are used again
}

func newIdentity(workspace string) (identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, workspace, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return identity{}, &os.PathError{Op: "statx", Path: workspace, Err: err}
	}
	return identity{workspace, fmt.Sprintf("%d.%d.%d", st.Ino, st.Btime.Sec, st.Btime.Nsec)}, nil
}

func (w identity) String() string { return w.inode + " " + w.path }

func (w identity) name() string {
	sum := sha256.Sum256([]byte(w.String()))
	return hex.EncodeToString(sum[:16])
}

// write stores w in the directory. Processes that do it at the same time write the same.
func (w identity) write(dir int) error {
	fd, err := unix.Openat(dir, workspaceFile, unix.O_WRONLY|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "open", Path: workspaceFile, Err: err}
	}
	f := os.NewFile(uintptr(fd), workspaceFile)
	_, err = f.WriteString(w.String())
	return errors.Join(err, f.Close())
}

func readIdentity(dir string) (identity, error) {
	data, err := os.ReadFile(filepath.Join(dir, workspaceFile))
	if err != nil {
		return identity{}, err
	}
	inode, path, _ := strings.Cut(string(data), " ")
	w := identity{path, inode}
	if w.name() != filepath.Base(dir) {
		return identity{}, fs.ErrInvalid // a killed process has written a part
	}
	return w, nil
}

// isGone reports whether the workspace is known not to exist any more.
func (w identity) isGone() bool {
	now, err := newIdentity(w.path)
	if err == nil {
		return now.inode != w.inode
	}
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)
}
