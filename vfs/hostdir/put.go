package hostdir

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"

	"github.com/seed434b0696/agent-sandbox/vfs"
)

// prefix begins the name of the directory in which Apply makes files before it puts
// them in place. One that a kill left behind can be removed.
const prefix = ".agent-sandbox-apply-"

func (a *applier) inside(p string) string { return path.Join(a.mount.at, p) }

// content reports whether a change brings the content of a file.
func content(c vfs.Change) bool {
	return c.Kind != vfs.Deleted && c.New.Mode.IsRegular() && (c.Kind != vfs.Modified || c.Content)
}

// stage makes the file or link of a change beside its place.
func (a *applier) stage(c vfs.Change) error {
	link := c.Kind != vfs.Deleted && c.New.Mode.Type() == fs.ModeSymlink
	if !content(c) && !link {
		return nil
	}
	if a.dir == "" {
		dir := prefix + rand.Text()
		if err := a.mount.root.Mkdir(dir, 0o700); err != nil {
			return err
		}
		a.dir = dir
	}
	temp := path.Join(a.dir, rand.Text())
	a.staged[c.Path] = temp
	if link {
		target, err := a.tree.Readlink(vfs.Cred{}, a.inside(c.Path))
		if err != nil {
			return err
		}
		return a.mount.root.Symlink(target, temp)
	}
	return a.copy(c, temp)
}

// copy writes the file of a change to temp, with its time of modification, so that what
// has the same time and size later is taken for the same.
func (a *applier) copy(c vfs.Change, temp string) error {
	in, err := a.tree.OpenFile(context.Background(), vfs.Cred{}, a.inside(c.Path), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := a.mount.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = in.WriteTo(out)
	if err == nil {
		err = out.Chmod(c.New.Mode.Perm())
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return a.mount.root.Chtimes(temp, c.New.Atime, c.New.Mtime)
}

func (a *applier) unstage() {
	if a.dir != "" {
		_ = a.mount.root.RemoveAll(a.dir)
	}
}

// place makes what is at the path of a change as it is in memory.
func (a *applier) place(c vfs.Change) error {
	m, perm := a.mount, c.New.Mode.Perm()
	if _, err := a.lstat(path.Join(path.Dir(c.Path), "x")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a link has come in the way
	}
	if c.Kind == vfs.Retyped {
		if err := a.clear(c); err != nil {
			return err
		}
	}
	if c.Kind == vfs.Modified && content(c) {
		if err := m.layer.Load(m.fs, c.Old.Ino, c.Path); err != nil {
			return err
		}
	}
	switch temp := a.staged[c.Path]; {
	case temp != "":
		if err := m.root.Rename(temp, c.Path); err != nil {
			return err
		}
	case c.New.IsDir():
		if err := m.root.Mkdir(c.Path, perm|0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if !a.isDir(c.Path) {
			return errors.New("something else came in its place just now")
		}
		a.modes[c.Path] = perm
		a.done[c.Path] = true
		return nil
	default:
		if err := m.root.Chmod(c.Path, perm); err != nil {
			return err
		}
	}
	a.done[c.Path] = true
	if content(c) {
		a.placed[c.New.Ino]++
		a.links[c.New.Ino] = c.New.Nlink
	}
	return nil
}
