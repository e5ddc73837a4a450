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

// Names of what is being made and of what is being removed. No sandbox is called so.
const (
	newPrefix  = ".new-"
	gonePrefix = ".gone-"
	// What was prepared for nobody keeps its State apart, because its directory gets another name.
	statePrefix = ".state-"
)

// sweep removes what killed processes left half made or half removed.
func (s Store) sweep() {
	claimed := map[string]*lock{}
	_ = stage.Between(s.Dir, unix.LOCK_EX, func() error { // whatever needs the directory next says so
		entries, err := os.ReadDir(s.Dir)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), newPrefix) && !strings.HasPrefix(e.Name(), gonePrefix) {
				continue
			}
			dir := filepath.Join(s.Dir, e.Name())
			if held, err := lockFileIn(dir, os.O_CREATE); err == nil { // else somebody is at it
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

// newDir makes a directory that no sweep takes for a dead process's: it is made and locked between two sweeps.
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

// clear removes a directory that is out of sight, whose lock the caller has, and the State that its record names. The lock is
// the last to go, between two sweeps: none takes the directory for a dead process's before that.
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

// forsake removes what is left of a sandbox whose record was deleted. What has its name by now may be another.
func (s Store) forsake(r Record, held *lock) error {
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
