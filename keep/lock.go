package keep

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// lock is the keeper's hold on a sandbox (flock(2)): it ends with the process, however that ends.
type lock struct{ file *os.File }

// take takes the lock, or fails with Exists when a keeper has it.
func (s Store) take(name string) (*lock, error) {
	f, err := s.openLock(name)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		_ = f.Close()
		return nil, sandbox.Errorf(sandbox.Exists, "sandbox %s runs already", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return s.still(name, f)
}

// wait takes the lock when the keeper has ended, or fails when ctx ends.
func (s Store) wait(ctx context.Context, name string) (*lock, error) {
	f, err := s.openLock(name)
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
		return s.still(name, f)
	case <-ctx.Done():
		go func() { // it is let go of as soon as it comes
			_, _ = <-got, f.Close()
		}()
		return nil, ctx.Err()
	}
}

func (s Store) openLock(name string) (*os.File, error) {
	if CheckName(name) != nil {
		return nil, noSuch(name)
	}
	f, err := os.OpenFile(filepath.Join(s.dir(name), lockFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noSuch(name)
	}
	return f, err
}

// still makes sure that the locked file is the sandbox's: it may have been removed before we had the lock.
func (s Store) still(name string, f *os.File) (*lock, error) {
	mine, err := f.Stat()
	if err == nil {
		var now os.FileInfo
		if now, err = os.Stat(filepath.Join(s.dir(name), lockFile)); err == nil && os.SameFile(mine, now) {
			return &lock{f}, nil
		}
	}
	_ = f.Close()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil, noSuch(name)
	}
	return nil, err
}

// release lets go. A nil lock is none.
func (l *lock) release() {
	if l != nil {
		_ = l.file.Close()
	}
}

// Runs reports whether a keeper holds the sandbox.
func (s Store) Runs(name string) (bool, error) {
	l, err := s.take(name)
	if sandbox.CodeOf(err) == sandbox.Exists {
		return true, nil
	}
	l.release()
	return false, err
}

// Await returns when the sandbox has no keeper, or an error when ctx ends. NotFound: there is no sandbox any more.
func (s Store) Await(ctx context.Context, name string) error {
	l, err := s.wait(ctx, name)
	if err == nil {
		l.release()
	}
	return err
}
