package stage

import (
	"os"

	"golang.org/x/sys/unix"
)

// These make and change entries, and follow nothing. What exists is an error.

func (t *tree) mkdir(path string, mode uint32) error {
	return t.in(path, func(dir int, name string) error { return unix.Mkdirat(dir, name, mode) })
}

func (t *tree) symlink(target, path string) error {
	return t.in(path, func(dir int, name string) error { return unix.Symlinkat(target, dir, name) })
}

func (t *tree) mkfifo(path string) error {
	return t.in(path, func(dir int, name string) error { return unix.Mknodat(dir, name, unix.S_IFIFO|0o600, 0) })
}

// mknod makes a socket, a device or an overlay's mark of a deletion like that of st.
func (t *tree) mknod(path string, st info) error {
	return t.in(path, func(dir int, name string) error {
		return unix.Mknodat(dir, name, st.format()|0o600, int(st.Rdev))
	})
}

// create makes an empty file that only its owner can use.
func (t *tree) create(path string) (*os.File, error) {
	var f *os.File
	err := t.in(path, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == nil {
			f = os.NewFile(uintptr(fd), path)
		}
		return err
	})
	return f, err
}

// link gives the file at path a second name.
func (t *tree) link(path, name string) error {
	fd, err := t.openat(path, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return t.linkFile(fd, name)
}

func (t *tree) linkFile(fd int, path string) error {
	return t.in(path, func(dir int, name string) error {
		return unix.Linkat(unix.AT_FDCWD, proc(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
	})
}

// chmod changes the mode of anything but a link.
func (t *tree) chmod(path string, mode uint32) error {
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
		return pathError("chmod", path, unix.ELOOP)
	}
	return unix.Chmod(proc(fd), mode)
}

func (t *tree) unlink(path string) error {
	return t.in(path, func(dir int, name string) error { return unix.Unlinkat(dir, name, 0) })
}

func (t *tree) rmdir(path string) error {
	return t.in(path, func(dir int, name string) error { return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) })
}

// rename moves within one directory; flags are those of renameat2(2).
func (t *tree) rename(from, to string, flags uint) error {
	return t.in(from, func(dir int, name string) error {
		parent := parentOf(to)
		base := to
		if parent != "" {
			base = to[len(parent)+1:]
		}
		return unix.Renameat2(dir, name, dir, base, flags)
	})
}
