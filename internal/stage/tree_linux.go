package stage

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
)

// tree is a directory whose entries are reached without ever following a symbolic
// link or leaving it: both sides may be written to by hostile programs, even while
// we look. Paths are relative; "" is the directory itself.
type tree struct {
	fd  int
	own bool // ours to chmod when a file in it cannot be read
}

func openTree(name string, own bool) (*tree, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(name, flags, 0)
	if own && errors.Is(err, unix.EACCES) {
		// Its directory is ours alone, so nobody can exchange it for a link.
		if err = os.Chmod(name, 0o700); err == nil {
			fd, err = unix.Open(name, flags, 0)
		}
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return &tree{fd: fd, own: own}, nil
}

func (t *tree) close() { _ = unix.Close(t.fd) } // opened to read

// openat opens below the tree. EXDEV is a mount point in the way, ELOOP a link.
func (t *tree) openat(path string, flags int) (int, error) {
	if path == "" {
		path = "."
	}
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	for {
		fd, err := unix.Openat2(t.fd, path, &how)
		// EAGAIN: something was renamed meanwhile, and the kernel will not guess.
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil {
			return -1, pathError("open", path, err)
		}
		return fd, nil
	}
}

func pathError(op, path string, err error) error {
	return &os.PathError{Op: op, Path: path, Err: err}
}

// in calls f with the directory of path and its last component.
func (t *tree) in(path string, f func(dir int, name string) error) error {
	parent := parentOf(path)
	dir, err := t.openat(parent, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	name := path
	if parent != "" {
		name = path[len(parent)+1:]
	}
	if err := f(dir, name); err != nil {
		if _, ok := errors.AsType[*os.PathError](err); ok {
			return err
		}
		return pathError("change", path, err)
	}
	return nil
}

// info is an entry's status; the zero value says that there is none.
type info struct {
	unix.Stat_t
	exists bool
}

// lstat describes path. No entry is no error.
func (t *tree) lstat(path string) (info, error) {
	var st info
	if path == "" {
		err := unix.Fstat(t.fd, &st.Stat_t)
		st.exists = err == nil
		return st, err
	}
	err := t.in(path, func(dir int, name string) error {
		return unix.Fstatat(dir, name, &st.Stat_t, unix.AT_SYMLINK_NOFOLLOW)
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return info{}, nil
	}
	st.exists = err == nil
	return st, err
}

func (i info) format() uint32 { return i.Mode & unix.S_IFMT }
func (i info) isDir() bool    { return i.exists && i.format() == unix.S_IFDIR }
func (i info) isFile() bool   { return i.exists && i.format() == unix.S_IFREG }

// isWhiteout: the kernel marks what was deleted in an overlay as device 0:0, which
// nobody inside can make.
func (i info) isWhiteout() bool { return i.exists && i.format() == unix.S_IFCHR && i.Rdev == 0 }

func (i info) fingerprint() fingerprint {
	return fingerprint{
		Inode: i.Ino, Size: i.Size, Mtime: i.Mtim.Nano(), Ctime: i.Ctim.Nano(), Mode: i.Mode,
		Links: uint64(i.Nlink), //nolint:unconvert // 32 bits on some architectures
	}
}

func (i info) kind() patch.Type {
	switch i.format() {
	case unix.S_IFREG:
		return patch.File
	case unix.S_IFDIR:
		return patch.Directory
	case unix.S_IFLNK:
		return patch.Symlink
	case unix.S_IFIFO:
		return patch.FIFO
	case unix.S_IFSOCK:
		return patch.Socket
	}
	return patch.Device
}

// names lists a directory, sorted.
func (t *tree) names(path string) ([]string, error) {
	fd, err := t.openat(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (t *tree) readlink(path string) (string, error) {
	var target string
	err := t.in(path, func(dir int, name string) error {
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(dir, name, buf)
		if err == nil {
			target = string(buf[:n])
		}
		return err
	})
	return target, err
}

var errNotFile = errors.New("not a regular file")

// open opens a regular file to read. One of ours that its mode locks is unlocked
// for the moment.
func (t *tree) open(path string) (*os.File, error) {
	// O_NONBLOCK: a FIFO put in its place must not hold us up.
	const flags = unix.O_RDONLY | unix.O_NONBLOCK
	fd, err := t.openat(path, flags)
	if t.own && errors.Is(err, unix.EACCES) {
		err = t.unlocked(path, func() (err error) {
			fd, err = t.openat(path, flags)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = pathError("open", path, errNotFile)
	}
	if err != nil {
		_ = f.Close() // opened to read
		return nil, err
	}
	return f, nil
}

// opened is an [Opener].
func (t *tree) opened(path string) (io.ReadCloser, error) {
	f, err := t.open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// unlocked calls f while path has its owner's permissions.
func (t *tree) unlocked(path string, f func() error) error {
	fd, err := t.openat(path, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP // chmod would follow it
	}
	if err := unix.Chmod(proc(fd), st.Mode&0o7777|0o700); err != nil {
		return err
	}
	return errors.Join(f(), unix.Chmod(proc(fd), st.Mode&0o7777))
}

// proc is a name for what fd refers to.
func proc(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// attribute returns an extended attribute of a file or directory, and whether there
// is one. A value over 16 bytes is returned as empty.
func (t *tree) attribute(path string, dir bool, name string) (string, bool, error) {
	var fd int
	if dir {
		var err error
		if fd, err = t.openat(path, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
			return "", false, err
		}
		defer unix.Close(fd)
	} else {
		f, err := t.open(path)
		if err != nil {
			return "", false, err
		}
		defer f.Close()
		fd = int(f.Fd())
	}
	buf := make([]byte, 16)
	n, err := unix.Fgetxattr(fd, name, buf)
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return "", false, nil
	case errors.Is(err, unix.ERANGE):
		return "", true, nil
	case err != nil:
		return "", false, pathError("getxattr", path, err)
	}
	return string(buf[:n]), true, nil
}
