package hostdir

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// prefix begins the name of the directory in which Apply makes files before it puts
// them in place. One that a kill left behind is removed by the next Apply that has the journal, and can be removed.
const prefix = ".agent-sandbox-apply-"

func (a *applier) inside(p string) string { return path.Join(a.mount.at, p) }

// hasContent reports whether a change brings the content of a file.
func hasContent(c vfs.Change) bool {
	return c.Kind != vfs.Deleted && c.New.Mode.IsRegular() && (c.Kind != vfs.Modified || c.Content)
}

// staged is a file or link that was made for a change.
type staged struct{ name, sum string }

// hasStagedFile reports whether a change is a file or link that is made beside its place.
func hasStagedFile(c vfs.Change) bool {
	return hasContent(c) || c.Kind != vfs.Deleted && c.New.Mode.Type() == fs.ModeSymlink
}

// begin makes the directory for files when the first change needs it, and notes it before.
func (a *applier) begin(c vfs.Change) error {
	if a.canOmit(c) || a.journal != nil || a.dir != "" && a.mount.journal == "" {
		return nil
	}
	if a.mount.journal == "" && !hasStagedFile(c) {
		return nil
	}
	dir := prefix + rand.Text()
	j, err := a.mount.begin(dir)
	if err != nil {
		return err
	}
	a.journal = j
	if err := a.mount.root.Mkdir(dir, 0o700); err != nil {
		return err
	}
	a.dir = dir
	return nil
}

// stage makes the file or link of a change beside its place.
func (a *applier) stage(c vfs.Change) error {
	if !hasStagedFile(c) {
		return nil
	}
	name := rand.Text()
	temp := path.Join(a.dir, name)
	if c.New.Mode.Type() == fs.ModeSymlink {
		target, err := a.tree.Readlink(vfs.Cred{}, a.inside(c.Path))
		if err != nil {
			return err
		}
		a.staged[c.Path] = staged{name, sumOfLink(target)}
		return a.mount.root.Symlink(target, temp)
	}
	sum, err := a.copy(c, temp)
	a.staged[c.Path] = staged{name, sum}
	return err
}

// copy writes the file of a change to temp, with its time of modification, so that what
// has the same time and size later is taken for the same.
func (a *applier) copy(c vfs.Change, temp string) (sum string, err error) {
	in, err := a.tree.OpenFile(context.Background(), vfs.Cred{}, a.inside(c.Path), os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := a.mount.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	var to io.Writer = out
	var h hash.Hash
	if a.journal != nil {
		h = sha256.New()
		to = io.MultiWriter(out, h)
	}
	_, err = in.WriteTo(to)
	if err == nil {
		err = out.Chmod(c.New.Mode.Perm())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	if h != nil {
		sum = hex.EncodeToString(h.Sum(nil))
	}
	return sum, a.mount.root.Chtimes(temp, c.New.Atime, c.New.Mtime)
}

// sumOf returns the checksum of a new file or link.
func sumOf(root *os.Root, name string) (string, error) {
	if info, err := root.Lstat(name); err != nil {
		return "", err
	} else if info.Mode().Type() == fs.ModeSymlink {
		target, err := root.Readlink(name)
		return sumOfLink(target), err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

func sumOfLink(target string) string { return "link " + hex.EncodeToString([]byte(target)) }

func (a *applier) unstage() {
	if a.dir != "" {
		_ = a.mount.root.RemoveAll(a.dir)
	}
}
