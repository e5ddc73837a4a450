package docker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/backend/docker/owner"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
)

// next is the name of the image that the containers of a sandbox begin with.
func next(id string) string { return nextImages + ":" + id }

// rootFile lies in the State of a fork, and once more among our own files, as the same file: when that has one name only,
// the State is gone, wherever it was moved to before.
const rootFile = "root"

// claim notes that a State is about to have an image of its own, and at which engine.
func (d *Driver) claim(s state) error {
	if err := os.MkdirAll(d.dir("roots"), 0o700); err != nil {
		return err
	}
	file := filepath.Join(s.dir, rootFile)
	if err := os.WriteFile(file, []byte(s.Host), 0o600); err != nil {
		return err
	}
	err := os.Link(file, d.dir("roots", s.ID))
	if errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) {
		return nil // then the image is judged by its age
	}
	return err
}

// claims are the labels of the image of a fork. An engine that is told to make one makes it when nobody waits for it any
// more, too: the sweep knows by them that there is no claim left.
func (d *Driver) claims(id string) map[string]string {
	labels := map[string]string{labelOurs: "1", labelHost: owner.User(), labelState: ""}
	if held, _ := d.claimed(id); held {
		labels[labelState] = d.dir("roots", id)
		labels[labelPlace] = owner.Place(labels[labelState])
	}
	return labels
}

// claimed tells what is known of the image of a fork. Unknown: neither.
func (d *Driver) claimed(id string) (held, free bool) {
	info, err := os.Lstat(d.dir("roots", id))
	if err != nil {
		return false, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1, ok && st.Nlink == 1
}

// sweepRoots removes the images of forks whose State is gone, or was never complete.
func (d *Driver) sweepRoots(ctx context.Context, c *engine.Client) error {
	entries, err := os.ReadDir(d.dir("roots"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	p := &prepared{driver: d, engine: c}
	for _, e := range entries {
		file := d.dir("roots", e.Name())
		host, err := os.ReadFile(file)
		if _, free := d.claimed(e.Name()); !free || err != nil || string(host) != c.Host {
			continue
		}
		if err = p.untag(ctx, next(e.Name())); err == nil {
			err = os.Remove(file)
		}
		if !errors.Is(err, fs.ErrNotExist) { // another sweep was faster
			errs = append(errs, err)
		}
	}
	return errors.Join(slices.DeleteFunc(errs, inProgress)...)
}
