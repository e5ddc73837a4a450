package tree

import (
	"os"

	"golang.org/x/sys/unix"
)

// Mkdir creates a directory; EEXIST if path exists, as for the others below.
func (t *Tree) Mkdir(path string, mode uint32) error {
	return t.In(path, func(dir int, name string) error { return unix.Mkdirat(dir, name, mode) })
}

// Symlink creates a symbolic link.
func (t *Tree) Symlink(target, path string) error {
	return t.In(path, func(dir int, name string) error { return unix.Symlinkat(target, dir, name) })
}

// Mkfifo creates a FIFO with mode 0600.
func (t *Tree) Mkfifo(path string) error {
	return t.In(path, func(dir int, name string) error { return unix.Mknodat(dir, name, unix.S_IFIFO|0o600, 0) })
}

// Mknod creates a socket, a device or an overlay's whiteout with the type and device
// number of st.
func (t *Tree) Mknod(path string, st Info) error {
	return t.In(path, func(dir int, name string) error {
		return unix.Mknodat(dir, name, st.Format()|0o600, int(st.Rdev))
	})
}

// Create creates an empty file with mode 0600.
func (t *Tree) Create(path string) (*os.File, error) {
	var f *os.File
	err := t.In(path, func(dir int, name string) error {
		fd, err := unix.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err == nil {
			f = os.NewFile(uintptr(fd), path)
		}
		return err
	})
	return f, err
}

// Link gives the file at path a second name.
func (t *Tree) Link(path, name string) error {
	fd, err := t.OpenAt(path, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return t.linkFile(fd, name)
}

func (t *Tree) linkFile(fd int, path string) error {
	return t.In(path, func(dir int, name string) error {
		return unix.Linkat(unix.AT_FDCWD, proc(fd), dir, name, unix.AT_SYMLINK_FOLLOW)
	})
}

// Chmod changes the mode of an entry. It fails with ELOOP for a symbolic link.
func (t *Tree) Chmod(path string, mode uint32) error {
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
		return pathError("chmod", path, unix.ELOOP)
	}
	return unix.Chmod(proc(fd), mode)
}

// Unlink removes an entry that is not a directory.
func (t *Tree) Unlink(path string) error {
	return t.In(path, func(dir int, name string) error { return unix.Unlinkat(dir, name, 0) })
}

// Rmdir removes an empty directory.
func (t *Tree) Rmdir(path string) error {
	return t.In(path, func(dir int, name string) error { return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) })
}

// Rename renames within one directory; flags are those of renameat2(2).
func (t *Tree) Rename(from, to string, flags uint) error {
	return t.In(from, func(dir int, name string) error {
		parent := Parent(to)
		base := to
		if parent != "" {
			base = to[len(parent)+1:]
		}
		return unix.Renameat2(dir, name, dir, base, flags)
	})
}
