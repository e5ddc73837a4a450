package vfs

import (
	"context"
	pathpkg "path"
	"strings"
	"syscall"
)

// Stat describes what path leads to.
func (f *FS) Stat(c Cred, path string) (Info, error) { return f.stat("stat", c, path, true) }

// Lstat is [FS.Stat], but describes a link as last component itself.
func (f *FS) Lstat(c Cred, path string) (Info, error) { return f.stat("lstat", c, path, false) }

func (f *FS) stat(op string, c Cred, path string, follow bool) (Info, error) {
	f.mu.RLock()
	n, e := f.find(&c, path, follow)
	if e == 0 {
		i := f.infoOf(n, path)
		f.mu.RUnlock()
		return i, nil
	}
	f.mu.RUnlock()
	if e != elsewhere {
		return Info{}, pathError(op, path, e)
	}
	s, e := f.resolve(&c, path, followIf(follow || strings.HasSuffix(path, "/")), true)
	var i Info
	var err error
	switch {
	case e == 0 && s.fs != nil:
		if i, err = s.fs.stat(op, c, s.path, follow); i.Dev == 0 {
			i.Dev = s.on.number()
			i.Ino = inoOn(i.Dev, i.Ino)
		}
	case e == 0:
		if e = s.there(); e == 0 {
			i, e = s.info()
		}
		err = pathError(op, path, e)
	default:
		err = pathError(op, path, e)
	}
	i.Name = pathpkg.Base(path)
	return i, named(err, path)
}

func (f *FS) infoOf(n *inode, name string) Info {
	l := f.lock(n.ino)
	l.RLock()
	defer l.RUnlock()
	return n.info(name)
}

// Readlink returns the target of a symbolic link; EINVAL if it is none.
func (f *FS) Readlink(c Cred, path string) (string, error) {
	f.mu.RLock()
	n, e := f.find(&c, path, false)
	target := ""
	if e == 0 {
		if n.isLink() {
			target = n.target
		} else {
			e = syscall.EINVAL
		}
	}
	f.mu.RUnlock()
	if e != elsewhere {
		return target, pathError("readlink", path, e)
	}
	return visit(f, "readlink", &c, path, followIf(strings.HasSuffix(path, "/")),
		func(g *FS, path string) (string, error) { return g.Readlink(c, path) },
		func(s *spot) (string, syscall.Errno) {
			if s.entry.Info.Mode.Type() != modeLink || s.jump {
				return "", syscall.EINVAL
			}
			return s.entry.Target, 0
		})
}

// Realpath returns the path without links, dots and further slashes of what exists at path.
func (f *FS) Realpath(c Cred, path string) (string, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, e := f.find(&c, path, true)
	if e == elsewhere {
		f.mu.RUnlock()
		defer f.mu.RLock()
		return f.realpathElsewhere(&c, path)
	}
	if e != 0 {
		return "", pathError("realpath", path, e)
	}
	if n.isDir() {
		return f.tree.path(n), nil
	}
	// A file may have several names: the one that was asked for counts.
	p, e := f.walk(&c, path, follow)
	if e != 0 {
		return "", pathError("realpath", path, e)
	}
	return join(f.tree.path(p.dir), p.name), nil
}

func (f *FS) realpathElsewhere(c *Cred, path string) (string, error) {
	s, e := f.resolve(c, path, follow, true)
	switch {
	case e != 0:
	case s.fs != nil:
		p, err := s.fs.Realpath(*c, s.path)
		return under(s.top, p), named(err, path)
	case s.jump:
		if strings.HasPrefix(s.entry.Target, "/") {
			return s.entry.Target, nil
		}
		return under(s.top, pathpkg.Join("/", pathpkg.Dir(s.name), s.entry.Target)), nil
	default:
		if e = s.there(); e == 0 {
			return under(s.top, pathpkg.Join("/", s.name)), nil
		}
	}
	return "", pathError("realpath", path, e)
}

func join(dir, name string) string {
	if dir == "/" {
		return dir + name
	}
	return dir + "/" + name
}

// ReadDir lists a directory in the order of the names, without "." and "..".
func (f *FS) ReadDir(c Cred, path string) ([]DirEntry, error) {
	f.mu.RLock()
	n, e := f.find(&c, path, true)
	if e == 0 && !n.isDir() {
		e = syscall.ENOTDIR
	}
	if e == 0 {
		e = c.may(n, MayRead)
	}
	var d *names
	if e == 0 {
		d, e = n.dir()
	}
	if e == elsewhere {
		f.mu.RUnlock()
		return f.readDirElsewhere(c, path)
	}
	if e != 0 {
		f.mu.RUnlock()
		return nil, pathError("open", path, e)
	}
	list := d.list("", 0)
	f.mu.RUnlock()
	f.accessed(n.ino, nil)
	return list, nil
}

func (f *FS) readDirElsewhere(c Cred, path string) ([]DirEntry, error) {
	file, err := f.OpenFile(context.Background(), c, path, syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return file.ReadDir(0)
}

// list returns up to limit entries with names above after; with limit ≤ 0 all.
func (d *names) list(after string, limit int) []DirEntry {
	if limit <= 0 {
		limit = d.n
	}
	list := make([]DirEntry, 0, min(limit, d.n))
	d.each(after, func(e dirent) bool {
		if len(list) == limit {
			return false
		}
		list = append(list, DirEntry{Name: e.name, Mode: fileMode(e.kind()).Type(), Ino: e.ino()})
		return true
	})
	return list
}

// Access checks whether c may do with the file what mask says, as faccessat(2) does.
func (f *FS) Access(c Cred, path string, mask uint32) error {
	f.mu.RLock()
	n, e := f.find(&c, path, true)
	if e == 0 {
		e = c.may(n, mask)
	}
	f.mu.RUnlock()
	if mask&^7 != 0 && (e == 0 || e == elsewhere || e == syscall.EACCES) {
		e = syscall.EINVAL
	}
	if e == elsewhere {
		return f.accessElsewhere(c, path, mask)
	}
	return pathError("access", path, e)
}

func (f *FS) accessElsewhere(c Cred, path string, mask uint32) error {
	s, e := f.resolve(&c, path, follow, true)
	switch {
	case e != 0:
	case s.fs != nil:
		err := s.fs.Access(c, s.path, mask)
		if err != nil || mask&MayWrite == 0 || !s.on.readOnly() {
			return named(err, path)
		}
		e = syscall.EROFS
	default:
		var i Info
		if e = s.there(); e == 0 {
			i, e = s.info()
		}
		if e == 0 {
			e = c.may(inodeOf(&i), mask)
		}
		if e == 0 && mask&MayWrite != 0 && !s.jump {
			e = syscall.EACCES
		}
	}
	return pathError("access", path, e)
}
