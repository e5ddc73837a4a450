package tree

import (
	"errors"
	"io"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
)

// Tree is an open directory. The caller closes it.
type Tree struct {
	fd  int
	own bool
}

// Open opens the directory name, which must not be a symbolic link. In an own tree, a file or directory that its mode
// makes unreadable gets more permissions while it is read.
func Open(name string, own bool) (*Tree, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(name, flags, 0)
	if own && errors.Is(err, unix.EACCES) {
		// Only this user can write to its parent, so no other user can replace it by a link.
		if err = os.Chmod(name, 0o700); err == nil {
			fd, err = unix.Open(name, flags, 0)
		}
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return &Tree{fd: fd, own: own}, nil
}

// FD returns the directory's descriptor, which Close closes.
func (t *Tree) FD() int { return t.fd }

// IsOwn reports whether the tree was opened as an own one.
func (t *Tree) IsOwn() bool { return t.own }

// Close closes the directory.
func (t *Tree) Close() { _ = unix.Close(t.fd) } // opened to read

// OpenAt opens path with flags of open(2) and returns its descriptor. EXDEV: a mount point is on the way; ELOOP: a link.
func (t *Tree) OpenAt(path string, flags int) (int, error) {
	if path == "" {
		path = "."
	}
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_NOFOLLOW | unix.O_CLOEXEC),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV,
	}
	for {
		fd, err := unix.Openat2(t.fd, path, &how)
		// EAGAIN: a concurrent rename prevented the check in the kernel.
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

// In calls f with a descriptor of path's directory and the last component of path.
func (t *Tree) In(path string, f func(dir int, name string) error) error {
	parent := Parent(path)
	dir, err := t.OpenAt(parent, unix.O_PATH|unix.O_DIRECTORY)
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

// Info is the status of an entry; the zero value means that it does not exist.
type Info struct {
	unix.Stat_t
	Exists bool
}

// Lstat returns the status of path. A path that does not exist is not an error.
func (t *Tree) Lstat(path string) (Info, error) {
	var st Info
	if path == "" {
		err := unix.Fstat(t.fd, &st.Stat_t)
		st.Exists = err == nil
		return st, err
	}
	err := t.In(path, func(dir int, name string) error {
		return unix.Fstatat(dir, name, &st.Stat_t, unix.AT_SYMLINK_NOFOLLOW)
	})
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return Info{}, nil
	}
	st.Exists = err == nil
	return st, err
}

// Format returns the type bits of the mode (S_IFMT).
func (i Info) Format() uint32 { return i.Mode & unix.S_IFMT }

// IsDir reports whether the entry is a directory.
func (i Info) IsDir() bool { return i.Exists && i.Format() == unix.S_IFDIR }

// IsFile reports whether the entry is a regular file.
func (i Info) IsFile() bool { return i.Exists && i.Format() == unix.S_IFREG }

// IsWhiteout reports whether the entry is device 0:0, with which the kernel marks a deletion in an overlay. Programs
// inside a sandbox cannot create one.
func (i Info) IsWhiteout() bool { return i.Exists && i.Format() == unix.S_IFCHR && i.Rdev == 0 }

// Fingerprint returns the fingerprint of this status.
func (i Info) Fingerprint() Fingerprint {
	return Fingerprint{
		Inode: i.Ino, Size: i.Size, Mtime: i.Mtim.Nano(), Ctime: i.Ctim.Nano(), Mode: i.Mode,
		Links: uint64(i.Nlink), //nolint:unconvert // 32 bits on some architectures
	}
}

// Kind returns the type of the entry.
func (i Info) Kind() patch.Type {
	switch i.Format() {
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

// Names returns the names in a directory, sorted.
func (t *Tree) Names(path string) ([]string, error) {
	fd, err := t.OpenAt(path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// Readlink returns the target of a symbolic link.
func (t *Tree) Readlink(path string) (string, error) {
	var target string
	err := t.In(path, func(dir int, name string) error {
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

// Open opens a regular file to read.
func (t *Tree) Open(path string) (*os.File, error) {
	// O_NONBLOCK: the open must not block if a FIFO has replaced the file.
	const flags = unix.O_RDONLY | unix.O_NONBLOCK
	fd, err := t.OpenAt(path, flags)
	if t.own && errors.Is(err, unix.EACCES) {
		err = t.Unlocked(path, func() (err error) {
			fd, err = t.OpenAt(path, flags)
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

// Opened is Open in the form of a [patch.Opener].
func (t *Tree) Opened(path string) (io.ReadCloser, error) {
	f, err := t.Open(path)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Unlocked calls f while the owner has all permissions on path, and then restores the mode.
func (t *Tree) Unlocked(path string, f func() error) error {
	fd, err := t.OpenAt(path, unix.O_PATH)
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

// proc returns a path in /proc to the file of fd.
func proc(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Attribute returns an extended attribute of a file or, with dir, a directory, and whether it exists. It returns a value
// over 16 bytes as "".
func (t *Tree) Attribute(path string, dir bool, name string) (string, bool, error) {
	var fd int
	if dir {
		var err error
		if fd, err = t.OpenAt(path, unix.O_RDONLY|unix.O_DIRECTORY); err != nil {
			return "", false, err
		}
		defer unix.Close(fd)
	} else {
		f, err := t.Open(path)
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

// Reading calls f with a descriptor of a file or directory. If the mode makes an own one unreadable, Reading changes
// the mode meanwhile.
func (t *Tree) Reading(path string, st Info, f func(fd int) error) error {
	read := func() error {
		fd, err := t.OpenAt(path, unix.O_RDONLY|unix.O_NONBLOCK)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return f(fd)
	}
	if t.own && st.Mode&0o400 == 0 {
		return t.Unlocked(path, read)
	}
	return read()
}
