package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Modes of a lock.
const (
	exclusive = unix.LOCK_EX
	shared    = unix.LOCK_SH
)

// held is a lock (flock(2)) on a file in locks/, which agents cannot see. It ends when its process exits.
type held struct{ f *os.File }

// errHeld means that another holder has the lock.
var errHeld = errors.New("held by another")

// lock takes the lock of a name. With wait it waits until the lock is free or ctx ends; otherwise it returns errHeld.
func (s *Store) lock(ctx context.Context, name string, how int, wait bool) (*held, error) {
	file := filepath.Join(s.dir, "locks", name)
	for {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, sandbox.Errorf(sandbox.CodeOf(err), "lock: %w", err)
		}
		err = flock(f, how|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			if !wait {
				_ = f.Close() // not written
				return nil, errHeld
			}
			if err := waitLock(ctx, f, how); err != nil {
				return nil, err
			}
		} else if err != nil {
			_ = f.Close() // not locked
			return nil, sandbox.Errorf(sandbox.Unavailable, "lock %s: %w", file, err)
		}
		// The previous holder may have removed the file, and others may lock a new file of the same name.
		if isSameFile(f, file) {
			return &held{f}, nil
		}
		(&held{f}).release(false)
	}
}

// waitLock waits for a lock. It closes f on failure.
func waitLock(ctx context.Context, f *os.File, how int) error {
	got := make(chan error, 1)
	go func() { got <- flock(f, how) }()
	select {
	case err := <-got:
		if err != nil {
			_ = f.Close() // not locked
			return sandbox.Errorf(sandbox.Unavailable, "lock %s: %w", f.Name(), err)
		}
		return nil
	case <-ctx.Done():
		go func() { // the system call cannot be interrupted: release the lock as soon as it is acquired
			if err := <-got; err == nil {
				_ = flock(f, unix.LOCK_UN)
			}
			_ = f.Close() // only the lock mattered
		}()
		return sandbox.Errorf(sandbox.CodeOf(ctx.Err()), "waiting for others to finish: %w", ctx.Err())
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func isSameFile(f *os.File, name string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}

// release releases the lock. With remove, which needs an exclusive lock, it deletes the file too. It unlocks before it
// closes: a child that is just starting shares the descriptor until it calls execve.
func (h *held) release(remove bool) {
	if remove {
		_ = os.Remove(h.f.Name()) // a remaining empty file is harmless
	}
	_ = flock(h.f, unix.LOCK_UN)
	_ = h.f.Close() // only the lock mattered
}

// lockName returns the lock file of a user's object with that ID.
func lockName(kind, user, id string) string {
	sum := sha256.Sum256([]byte(user + "\x00" + id))
	return kind + "-" + hex.EncodeToString(sum[:16])
}
