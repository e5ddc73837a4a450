package stage

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
)

// RemoveTree is [tree.Remove].
func RemoveTree(name string) error { return tree.Remove(name) }

// Between calls do while it holds a lock on a directory (flock(2)): with unix.LOCK_SH it shares the lock with others that
// create entries there; with unix.LOCK_EX it holds it alone, as a sweep that removes the entries of killed processes.
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
	// A child that is being started may hold the descriptor longer.
	defer func() { _ = unix.Flock(int(f.Fd()), unix.LOCK_UN) }()
	return do()
}
