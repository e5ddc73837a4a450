//go:build !linux

package hostfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// walk is a directory that was reached only through admitted links. It checks paths, because these systems have no
// descriptors like O_PATH of Linux.
type walk struct {
	name     string // as the user gave it
	writable Writable
	at       string // the directory's path
	links    int    // followed so far
}

func newWalk(name string, w Writable) (*walk, error) {
	return &walk{name: name, writable: w, at: "/"}, nil
}

func (k *walk) close() {}

func (k *walk) toTop() error {
	k.at = "/"
	return nil
}

// step enters the directory name, or returns the text of a link of that name.
func (k *walk) step(name string) (text string, err error) {
	if name == ".." {
		k.at = filepath.Dir(k.at)
		return "", nil
	}
	at := join(k.at, name)
	info, err := os.Lstat(at)
	switch {
	case err != nil:
		return "", k.failed(errors.Unwrap(err))
	case info.Mode()&fs.ModeSymlink != 0:
		if err := k.admitLink(at); err != nil {
			return "", err
		}
		return os.Readlink(at)
	case !info.IsDir():
		return "", k.failed(syscall.ENOTDIR)
	}
	k.at = at
	return "", nil
}

// openFile opens the file base, or the target of links there, and returns its path.
func (k *walk) openFile(base string, flags int, perm fs.FileMode) (*os.File, string, error) {
	base, err := k.followFile(base)
	if err != nil {
		return nil, "", err
	}
	at := join(k.at, base)
	if info, err := os.Lstat(at); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeCharDevice == 0 {
		return nil, "", irregular(k.name, info.Mode())
	}
	f, err := os.OpenFile(at, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, perm)
	if err != nil {
		return nil, "", k.failed(errors.Unwrap(err))
	}
	return f, at, nil
}

// followFile follows links at the file base. The walk then is in the directory of the last target, and followFile
// returns the target's name there.
func (k *walk) followFile(base string) (string, error) {
	for base != "." {
		at := join(k.at, base)
		info, err := os.Lstat(at)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return base, nil //nolint:nilerr // what uses the name says what is wrong
		}
		if err := k.admitLink(at); err != nil {
			return "", err
		}
		text, err := os.Readlink(at)
		if err != nil {
			return "", err
		}
		if base, err = k.enter(text); err != nil {
			return "", err
		}
	}
	return base, nil
}

// root opens the directory for use.
func (k *walk) root() (*os.Root, error) { return os.OpenRoot(k.at) }

// OpenResolved opens a path that was resolved before. It does not follow a link there and does not wait for a
// writer of a FIFO.
func OpenResolved(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}
