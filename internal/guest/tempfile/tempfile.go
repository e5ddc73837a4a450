// Package tempfile writes files that appear under their name only when they are complete.
package tempfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that gets its name when it is complete.
type File struct {
	File *os.File
	name string // temporary name; "" while it has none
}

// New creates a file in dir. If the file system supports it, the file has no name, so that even a
// kill does not leave it behind.
func New(dir string) (*File, error) {
	if f, err := openUnnamed(dir); err == nil {
		return &File{File: f}, nil
	}
	for {
		name := tempName(dir)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &File{File: f, name: name}, nil
	}
}

// TempPrefix begins the names of files that are not complete.
const TempPrefix = ".agent-sandbox-"

func tempName(dir string) string {
	return filepath.Join(dir, TempPrefix+rand.Text()+".tmp")
}

// finish completes the file under a temporary name in dir.
func (t *File) finish(dir string) error {
	if t.name == "" {
		temp := tempName(dir)
		if err := linkUnnamed(t.File, temp); err != nil {
			return err
		}
		t.name = temp
	}
	return t.File.Close()
}

// Replace renames the file to name and replaces an existing file.
func (t *File) Replace(name string) error {
	if err := t.finish(filepath.Dir(name)); err != nil {
		return err
	}
	return t.rename(name)
}

// Place renames the file to name, unless a file of this name exists for which good returns true:
// that file stays, because another process may be about to mount it.
func (t *File) Place(name string, good func() bool) error {
	if err := t.finish(filepath.Dir(name)); err != nil {
		return err
	}
	switch err := os.Link(t.name, name); {
	case err == nil, errors.Is(err, fs.ErrExist) && good():
		return nil // discard removes the other name
	default: // also on file systems without links
		return t.rename(name)
	}
}

func (t *File) rename(name string) error {
	if err := os.Rename(t.name, name); err != nil {
		return err
	}
	t.name = ""
	return nil
}

// Discard removes an incomplete file.
func (t *File) Discard() {
	_ = t.File.Close() // already closed after a success
	if t.name != "" {
		_ = os.Remove(t.name) // the caller reports the first error
	}
}
