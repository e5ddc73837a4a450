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

// nextImage returns the name of the image with which the next container of a sandbox begins.
func nextImage(id string) string { return nextImages + ":" + id }

// rootFile is a file in the State of a fork with a hard link in the driver's directory: when only that link is left, the
// State was removed, even if it was moved before.
const rootFile = "root"

// claim records in a State that it is about to get an image of its own, and in which engine.
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
		return nil // then sweepImages decides by the image's age
	}
	return err
}

// claims returns the labels of the image of a fork. An engine creates a requested image also when the requester has given up:
// from the labels the sweep learns that no claim is left.
func (d *Driver) claims(id string) map[string]string {
	labels := map[string]string{labelOurs: "1", labelHost: owner.User(), labelState: ""}
	if held, _ := d.claimed(id); held {
		labels[labelState] = d.dir("roots", id)
		labels[labelPlace] = owner.Place(labels[labelState])
	}
	return labels
}

// claimed reports whether a State holds the image of a fork, or has been removed. Both are false if it is unknown.
func (d *Driver) claimed(id string) (held, free bool) {
	info, err := os.Lstat(d.dir("roots", id))
	if err != nil {
		return false, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1, ok && st.Nlink == 1
}

// sweepRoots removes the images of forks whose State was removed or never completed.
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
		if err = p.untag(ctx, nextImage(e.Name())); err == nil {
			err = os.Remove(file)
		}
		if !errors.Is(err, fs.ErrNotExist) { // another sweep was faster
			errs = append(errs, err)
		}
	}
	return errors.Join(slices.DeleteFunc(errs, isInProgress)...)
}
