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

// replace puts the file in the place of name.
func (t *tempFile) replace(name string) error {
	if t.name == "" {
		temp := tempName(filepath.Dir(name))
		if err := linkUnnamed(t.file, temp); err != nil {
			return err
		}
		t.name = temp
	}
	if err := t.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(t.name, name); err != nil {
		return err
	}
	t.name = ""
	return nil
}

// discard removes what replace has not put in its place.
func (t *tempFile) discard() {
	_ = t.file.Close() // closed already when all went well
	if t.name != "" {
		_ = os.Remove(t.name) // the error that led here is the one to report
	}
}
