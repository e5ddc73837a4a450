package stage

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Between calls do while it holds a lock on a directory (flock(2)): with unix.LOCK_SH it shares that with others who make
// something there, with unix.LOCK_EX it has it alone, as a sweep that takes what nobody holds for a dead process's.
func Between(dir string, how int, do func() error) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), how)
	}
	if err != nil {
		return &os.PathError{Op: "flock", Path: dir, Err: err}
	}
	// A child that is just being started may hold the descriptor longer.
	defer func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }()
	return do()
}
