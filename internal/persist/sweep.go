package persist

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
)

// Prefixes of directories that are being created or removed. They are not valid names of sandboxes.
const (
	newPrefix  = ".new-"
	gonePrefix = ".gone-"
	// The State of a spare sandbox lies outside of its directory, which is renamed when the spare is adopted.
	statePrefix = ".state-"
)

// sweep removes directories that killed processes have left half created or half removed.
func (s Store) sweep() {
	claimed := map[string]*lock{}
	_ = stage.Between(s.Dir, unix.LOCK_EX, func() error { // the next use of the directory reports the error
		entries, err := os.ReadDir(s.Dir)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), newPrefix) && !strings.HasPrefix(e.Name(), gonePrefix) {
				continue
			}
			dir := filepath.Join(s.Dir, e.Name())
			if held, err := lockFileIn(dir, os.O_CREATE); err == nil { // otherwise another process is using it
				claimed[dir] = held
			}
		}
		return err
	})
	for dir, held := range claimed {
		_ = s.clear(dir) // the next sweep tries again
		held.release()
	}
}

// newDir creates and locks a directory between two sweeps, so that no sweep removes it.
func (s Store) newDir() (dir string, held *lock, err error) {
	err = stage.Between(s.Dir, unix.LOCK_SH, func() error {
		if dir, err = os.MkdirTemp(s.Dir, newPrefix); err != nil {
			return err
		}
		held, err = lockFileIn(dir, os.O_CREATE)
		return err
	})
	if err != nil && dir != "" {
		err = errors.Join(err, stage.RemoveTree(dir))
	}
	return dir, held, err
}

// clear removes a renamed directory, whose lock the caller has, and the State that its record names. It removes the lock file
// last, between two sweeps, so that no sweep removes the directory at the same time.
func (s Store) clear(dir string) error {
	if err := s.clearState(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.Name() == lockFile:
		case e.IsDir():
			err = stage.RemoveTree(name)
		default:
			err = os.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return stage.Between(s.Dir, unix.LOCK_SH, func() error { return stage.RemoveTree(dir) })
}

// removeDeleted removes the remaining files of a sandbox whose record was deleted. Another sandbox may have its name
// now.
func (s Store) removeDeleted(r Record, held *lock) error {
	if r.State != "" {
		if err := stage.RemoveTree(r.State); err != nil {
			return err
		}
	}
	now, err := os.Stat(filepath.Join(s.dir(r.ID), lockFile))
	if err != nil {
		return nil //nolint:nilerr // it is all gone, or about to be, which is what was wanted
	}
	if mine, err := held.file.Stat(); err != nil || !os.SameFile(mine, now) {
		return err
	}
	if err := s.remove(r.ID); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
