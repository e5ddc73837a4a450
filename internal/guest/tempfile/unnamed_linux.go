package tempfile

import (
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed makes a file without a name in dir; see O_TMPFILE in open(2).
func openUnnamed(dir string) (*os.File, error) {
	return os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600)
}

// linkUnnamed gives f a name, as open(2) describes for processes without
// CAP_DAC_READ_SEARCH.
func linkUnnamed(f *os.File, name string) error {
	fd := "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	err := unix.Linkat(unix.AT_FDCWD, fd, unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW)
	if err != nil {
		return &fs.PathError{Op: "create", Path: name, Err: err}
	}
	return nil
}
