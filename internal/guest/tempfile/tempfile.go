// Package tempfile writes files that appear under their name only when they are complete.
package tempfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file that takes its name when it is complete.
type File struct {
	File *os.File
	name string // "" while it has none
}

// New makes a file in dir: one without a name where the file system has
// those, so that not even a kill leaves it behind.
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

// finish ends the writing: the file has a name in dir, which is not yet the one it is to have.
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

// Replace puts the file in the place of name.
func (t *File) Replace(name string) error {
	if err := t.finish(filepath.Dir(name)); err != nil {
		return err
	}
	return t.rename(name)
}

// Place gives the file the name, unless there is one for which good returns true: that one stays,
// as another process may be about to mount it.
func (t *File) Place(name string, good func() bool) error {
	if err := t.finish(filepath.Dir(name)); err != nil {
		return err
	}
	switch err := os.Link(t.name, name); {
	case err == nil, errors.Is(err, fs.ErrExist) && good():
		return nil // discard removes the other name
	default: // also where the file system has no links
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

// Discard removes the name that the file had while it was not complete.
func (t *File) Discard() {
	_ = t.File.Close() // closed already when all went well
	if t.name != "" {
		_ = os.Remove(t.name) // the error that led here is the one to report
	}
}
