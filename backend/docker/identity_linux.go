package docker

import (
	"errors"

	"golang.org/x/sys/unix"
)

// identity returns the device and inode of a path that contains no symbolic link, otherwise errLink.
func identity(path string) (dev, ino uint64, err error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, unix.ELOOP) {
		return 0, 0, errLink
	}
	if err != nil {
		return 0, 0, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, 0, err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK { // O_PATH takes a link itself
		return 0, 0, errLink
	}
	return st.Dev, st.Ino, nil
}

// kernel returns the release of this host's kernel, "" on an error.
func kernel() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	return unix.ByteSliceToString(name.Release[:])
}
