package guest

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// tempFile is a file that is becoming another one.
type tempFile struct {
	file *os.File
	name string // "" while it has none
}

// newTempFile makes a file in dir: one without a name where the file system has
// those, so that not even a kill leaves it behind.
func newTempFile(dir string) (*tempFile, error) {
	if f, err := openUnnamed(dir); err == nil {
		return &tempFile{file: f}, nil
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
		return &tempFile{file: f, name: name}, nil
	}
}

// tempPrefix begins the names of files that are not complete.
const tempPrefix = ".agent-sandbox-"

func tempName(dir string) string {
	return filepath.Join(dir, tempPrefix+rand.Text()+".tmp")
}

// finish ends the writing: the file has a name in dir, which is not yet the one it is to have.
func (t *tempFile) finish(dir string) error {
	if t.name == "" {
		temp := tempName(dir)
		if err := linkUnnamed(t.file, temp); err != nil {
			return err
		}
		t.name = temp
	}
	return t.file.Close()
}

// replace puts the file in the place of name.
func (t *tempFile) replace(name string) error {
	if err := t.finish(filepath.Dir(name)); err != nil {
		return err
	}
	return t.rename(name)
}

// place gives the file the name, unless good says of one that has it already that it will do: that one stays,
// as somebody may be about to mount it.
func (t *tempFile) place(name string, good func() bool) error {
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

func (t *tempFile) rename(name string) error {
	if err := os.Rename(t.name, name); err != nil {
		return err
	}
	t.name = ""
	return nil
}

// discard removes the name that the file had while it was not complete.
func (t *tempFile) discard() {
	_ = t.file.Close() // closed already when all went well
	if t.name != "" {
		_ = os.Remove(t.name) // the error that led here is the one to report
	}
}
