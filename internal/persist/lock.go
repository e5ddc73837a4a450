package persist

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// lock is the keeper's lock on a sandbox. It ends with the process, also after SIGKILL. It belongs to the open file
// (F_OFD_SETLK, fcntl(2)), so that it can be handed over, and queried without being taken.
type lock struct{ file *os.File }

// take takes the lock, or fails with Exists if a keeper has it.
func (s Store) take(name string) (*lock, error) {
	f, err := s.openLock(name)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); errors.Is(err, errLocked) {
		return nil, sandbox.Errorf(sandbox.Exists, "sandbox %s runs already", name)
	} else if err != nil {
		return nil, err
	}
	return s.verify(name, f)
}

// exclusive returns an exclusive lock of a whole file.
func exclusive() *unix.Flock_t { return &unix.Flock_t{Type: unix.F_WRLCK} }

// errLocked means that another process has the lock.
var errLocked = errors.New("locked")

// tryLock locks f, or closes it and returns an error.
func tryLock(f *os.File) error {
	err := unix.FcntlFlock(f.Fd(), setLock, exclusive())
	if err == nil {
		return nil
	}
	_ = f.Close() // nothing was written
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return errLocked
	}
	return err
}

// lockFileIn opens the lock file of a directory that is being created or removed, with flags of open(2), and locks it.
func lockFileIn(dir string, flags int) (*lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		return nil, err
	}
	return &lock{f}, nil
}

// inherit takes over the lock from the process that started this one, so that no other process can take it in between.
// Without an inherited lock it takes the lock.
func (s Store) inherit(name string) (*lock, error) {
	const descriptor = 4 // the descriptor that Start passes
	var mine, its unix.Stat_t
	if unix.Fstat(descriptor, &mine) != nil || unix.Stat(filepath.Join(s.dir(name), lockFile), &its) != nil ||
		mine.Dev != its.Dev || mine.Ino != its.Ino {
		return s.take(name)
	}
	unix.CloseOnExec(descriptor)
	return &lock{os.NewFile(descriptor, lockFile)}, nil
}

// wait waits for the end of the keeper and takes the lock. It fails when ctx ends.
func (s Store) wait(ctx context.Context, name string) (*lock, error) {
	f, err := s.openLock(name)
	if err != nil {
		return nil, err
	}
	got := make(chan error, 1)
	go func() {
		var err error
		for err = unix.EINTR; errors.Is(err, unix.EINTR); {
			err = unix.FcntlFlock(f.Fd(), waitLock, exclusive())
		}
		got <- err
	}()
	select {
	case err := <-got:
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return s.verify(name, f)
	case <-ctx.Done():
		go func() { // releases it as soon as it is taken
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

// verify returns the lock if the locked file is still the sandbox's lock file: it may have been removed before it was
// locked.
func (s Store) verify(name string, f *os.File) (*lock, error) {
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

// release releases the lock, if it is not nil. Closing is not enough: a child that another goroutine is starting still
// has a copy of the descriptor.
func (l *lock) release() {
	if l != nil {
		free := exclusive()
		free.Type = unix.F_UNLCK
		_ = unix.FcntlFlock(l.file.Fd(), setLock, free)
		_ = l.file.Close()
	}
}

// leave closes this process's copy of a lock that a keeper has taken over.
func (l *lock) leave() { _ = l.file.Close() }

// Runs reports whether a keeper holds the sandbox.
func (s Store) Runs(name string) (bool, error) {
	f, err := s.openLock(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	is := exclusive()
	err = unix.FcntlFlock(f.Fd(), askLock, is)
	return is.Type != unix.F_UNLCK, err
}

// Await waits until the sandbox has no keeper, or returns an error when ctx ends. NotFound: the sandbox does not exist.
func (s Store) Await(ctx context.Context, name string) error {
	l, err := s.wait(ctx, name)
	if err == nil {
		l.release()
	}
	return err
}
