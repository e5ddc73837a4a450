package docker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// dir returns a path in the directory of the driver's files.
func (d *Driver) dir(parts ...string) string {
	return filepath.Join(append([]string{d.options.DataDir, "docker"}, parts...)...)
}

// writeFile replaces a file in one step, so that readers see it whole, and creates its directories.
func writeFile(name string, data []byte, perm fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the caller gets the first error
	}
	return err
}
