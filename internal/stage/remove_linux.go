package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// RemoveTree removes a directory of ours with all that hostile programs may have made of it; one that is not there is no error.
func RemoveTree(name string) error { return removeDir(name) }

// removeDir removes a directory of ours with all it has.
func removeDir(name string) error {
	if err := emptyDir(name, ""); err != nil {
		return err
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// emptyDir removes all that a directory of ours has, but for the entry called keep. Whatever hostile
// programs made of it, it ends: directories are first brought up to one level, so
// that no depth exhausts descriptors or path lengths, and locked ones are unlocked.
func emptyDir(name, keep string) error {
	d, err := openTree(name, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := unix.Fchmod(d.fd, 0o700); err != nil {
		return err
	}
	next := 0
	for {
		names, err := d.names("")
		if err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(n string) bool { return n == keep })
		if len(names) == 0 {
			return nil
		}
		for _, n := range names {
			if err := d.flatten(n, &next); err != nil {
				return err
			}
		}
	}
}

// flatten removes the entry called name, and moves the directories in it up.
func (t *tree) flatten(name string, next *int) error {
	err := unix.Unlinkat(t.fd, name, 0)
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	// A directory without entries may go whatever its mode.
	err = unix.Unlinkat(t.fd, name, unix.AT_REMOVEDIR)
	if !errors.Is(err, unix.ENOTEMPTY) {
		return err
	}
	if err := unix.Fchmodat(t.fd, name, 0o700, 0); err != nil { // a directory: nothing to follow
		return err
	}
	names, err := t.names(name)
	if err != nil {
		return err
	}
	for _, n := range names {
		path := filepath.Join(name, n)
		err := unix.Unlinkat(t.fd, path, 0)
		if errors.Is(err, unix.EISDIR) {
			err = t.raise(path, next)
		}
		if err != nil {
			return err
		}
	}
	return unix.Unlinkat(t.fd, name, unix.AT_REMOVEDIR)
}

// raise moves a directory to the top under a name that is free.
func (t *tree) raise(path string, next *int) error {
	// Its parent entry changes, for which the kernel wants write permission on it.
	if err := unix.Fchmodat(t.fd, path, 0o700, 0); err != nil {
		return err
	}
	for {
		*next++
		err := unix.Renameat2(t.fd, path, t.fd, ".raised-"+strconv.Itoa(*next), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}
