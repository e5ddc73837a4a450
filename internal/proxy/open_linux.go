package proxy

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openPlain opens a path that was resolved before. A link that commands have put on its
// way since would lead to another file, and a FIFO in its place would block this process.
func openPlain(path string) (*os.File, error) {
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
