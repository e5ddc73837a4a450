package hostfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

const nonblock = unix.O_NONBLOCK

// walk is a directory that was reached only through admitted links. It keeps each directory open, so that later changes
// of the path have no effect.
type walk struct {
	name     string // as the user gave it
	writable Writable
	dir      int    // of the directory, opened with O_PATH
	at       string // its path
	links    int    // followed so far
}

func newWalk(name string, w Writable) (*walk, error) {
	k := &walk{name: name, writable: w, dir: -1}
	return k, k.toTop()
}

func (k *walk) close() {
	if k.dir >= 0 {
		_ = unix.Close(k.dir) // it was never written to
	}
}

func (k *walk) replace(dir int, at string) {
	k.close()
	k.dir, k.at = dir, at
}

func (k *walk) toTop() error {
	dir, err := openat(unix.AT_FDCWD, "/", unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return k.failed(err)
	}
	k.replace(dir, "/")
	return nil
}

// step enters the directory name, or returns the text of a link of that name.
func (k *walk) step(name string) (text string, err error) {
	fd, err := openat(k.dir, name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", k.failed(err)
	}
	if name == ".." {
		k.replace(fd, filepath.Dir(k.at))
		return "", nil
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
		k.replace(fd, join(k.at, name))
		return "", nil
	}
	defer unix.Close(fd)
	switch {
	case err != nil:
		return "", k.failed(err)
	case st.Mode&unix.S_IFMT != unix.S_IFLNK:
		return "", k.failed(unix.ENOTDIR)
	}
	return k.readLink(fd, join(k.at, name))
}

// readLink admits and reads a link.
func (k *walk) readLink(fd int, at string) (string, error) {
	if err := k.admitLink(at); err != nil {
		return "", err
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	switch {
	case err != nil:
		return "", k.failed(err)
	case n == 0 || n == len(buf):
		return "", k.failed(unix.ENOENT)
	}
	return string(buf[:n]), nil
}

// openFile opens the file base, or the target of links there, and returns its path.
func (k *walk) openFile(base string, flags int, perm fs.FileMode) (*os.File, string, error) {
	for {
		if flags&(os.O_CREATE|os.O_EXCL) != os.O_CREATE|os.O_EXCL {
			var err error
			if base, err = k.followFile(base); err != nil {
				return nil, "", err
			}
		}
		// Do not open a FIFO, socket or device that commands made.
		var st unix.Stat_t
		at := join(k.at, base)
		err := unix.Fstatat(k.dir, base, &st, unix.AT_SYMLINK_NOFOLLOW)
		if kind := st.Mode & unix.S_IFMT; err == nil && kind != unix.S_IFREG && kind != unix.S_IFLNK && kind != unix.S_IFCHR {
			return nil, "", irregular(k.name, modes[kind])
		}
		fd, err := openat(k.dir, base, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, uint32(perm.Perm()))
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), k.name), at, nil
		case errors.Is(err, unix.ELOOP): // a link has replaced the file
		default:
			return nil, "", k.failed(err)
		}
		if k.links++; k.links > maxLinks {
			return nil, "", k.failed(unix.ELOOP)
		}
	}
}

var modes = map[uint32]fs.FileMode{unix.S_IFDIR: fs.ModeDir, unix.S_IFIFO: fs.ModeNamedPipe, unix.S_IFSOCK: fs.ModeSocket, unix.S_IFBLK: fs.ModeDevice}

// followFile follows links at the file base. The walk then is in the directory of the last target, and followFile
// returns the target's name there.
func (k *walk) followFile(base string) (string, error) {
	for base != "." {
		fd, err := openat(k.dir, base, unix.O_PATH|unix.O_NOFOLLOW, 0)
		if errors.Is(err, unix.ENOENT) {
			return base, nil
		}
		if err != nil {
			return "", k.failed(err)
		}
		var st unix.Stat_t
		var text string
		if err = unix.Fstat(fd, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			text, err = k.readLink(fd, join(k.at, base))
		}
		_ = unix.Close(fd) // it was never written to
		if err != nil || text == "" {
			return base, err
		}
		if base, err = k.enter(text); err != nil {
			return "", err
		}
	}
	return base, nil
}

// root opens the directory again, for reading.
func (k *walk) root() (*os.Root, error) {
	r, err := os.OpenRoot("/proc/self/fd/" + strconv.Itoa(k.dir))
	if err != nil {
		if cause, ok := errors.AsType[*fs.PathError](err); ok {
			err = cause.Err
		}
		return nil, k.failed(err)
	}
	return r, nil
}

// OpenResolved opens a path that was resolved before. It does not follow a link that commands have put on the path
// since, and a FIFO in place of the file does not block it.
func OpenResolved(path string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: flags, Resolve: unix.RESOLVE_NO_SYMLINKS})
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		default:
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// openat is openat(2) with O_CLOEXEC.
func openat(dir int, name string, flags int, perm uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, perm)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
