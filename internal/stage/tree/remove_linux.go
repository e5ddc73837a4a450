package tree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Remove removes an own directory with any content that hostile programs may have created. It succeeds if the directory
// does not exist.
func Remove(name string) error {
	if err := Empty(name, ""); err != nil {
		return err
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Empty removes all entries of an own directory except the entry called keep. It works for any content: it first moves
// all directories to the top level, so that their depth cannot exhaust descriptors or path lengths, and it makes
// unreadable ones readable.
func Empty(name, keep string) error {
	d, err := Open(name, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	if err := unix.Fchmod(d.fd, 0o700); err != nil {
		return err
	}
	next := 0
	for {
		names, err := d.Names("")
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
func (t *Tree) flatten(name string, next *int) error {
	err := unix.Unlinkat(t.fd, name, 0)
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	// An empty directory can be removed with any mode.
	err = unix.Unlinkat(t.fd, name, unix.AT_REMOVEDIR)
	if !errors.Is(err, unix.ENOTEMPTY) {
		return err
	}
	if err := unix.Fchmodat(t.fd, name, 0o700, 0); err != nil { // the entry is a directory, not a link
		return err
	}
	names, err := t.Names(name)
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

// raise moves a directory to the top under an unused name.
func (t *Tree) raise(path string, next *int) error {
	// The kernel requires write permission on a directory that gets another parent.
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
