package repo

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Lock waits until no other process provisions or starts the repository's sandboxes (flock(2) on a file below dir, which it
// creates). The caller calls release.
func (r Repo) Lock(ctx context.Context, dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(r.lockFile(dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	got := make(chan error, 1)
	go func() {
		var err error
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		}
		got <- err
	}()
	select {
	case err := <-got:
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return func() { _ = f.Close() }, nil // Close releases the lock
	case <-ctx.Done():
		go func() { // releases it as soon as it is taken
			_, _ = <-got, f.Close()
		}()
		return nil, ctx.Err()
	}
}

// lockFile returns the path of the lock, which stays after the first Lock.
func (r Repo) lockFile(dir string) string { return filepath.Join(dir, hash(r.Path)+".lock") }
