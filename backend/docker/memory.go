package docker

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// dir is where files for containers are kept.
func (d *Driver) dir(parts ...string) string {
	return filepath.Join(append([]string{d.options.DataDir, "docker"}, parts...)...)
}

// imageID is how engines name images.
const imageID = `^(sha256:)?[0-9a-f]{64}$`

func (d *Driver) factFile(id string) string {
	if !regexp.MustCompile(imageID).MatchString(id) {
		return ""
	}
	return d.dir("images", id[len(id)-64:]+".json")
}

// remembered returns what is known of an image when that covers the named commands.
func (d *Driver) remembered(id string, names []string) (*image, bool) {
	file := d.factFile(id)
	if file == "" {
		return nil, false
	}
	data, err := os.ReadFile(file)
	var i image
	if err != nil || json.Unmarshal(data, &i) != nil || i.ID != id {
		return nil, false // it is looked up again
	}
	for _, name := range names {
		if _, ok := i.Programs[name]; !ok {
			return nil, false
		}
	}
	return &i, true
}

// remember keeps what was learned, whole or not at all.
func (d *Driver) remember(i *image) error {
	file := d.factFile(i.ID)
	if file == "" {
		return nil // an engine that names images otherwise is asked each time
	}
	for name, programs := range i.Programs {
		if programs == nil {
			i.Programs[name] = []string{}
		}
	}
	data, err := json.Marshal(i)
	if err != nil {
		return err
	}
	return writeFile(file, data, 0o600)
}

// writeFile makes a file with its directories; others see it whole or not at all.
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
		_ = os.Remove(f.Name()) // the error says what went wrong
	}
	return err
}
