package vfs

import "syscall"

// Stat describes what path leads to.
func (f *FS) Stat(c Cred, path string) (Info, error) { return f.stat("stat", c, path, true) }

// Lstat is [FS.Stat], but describes a link as last component itself.
func (f *FS) Lstat(c Cred, path string) (Info, error) { return f.stat("lstat", c, path, false) }

func (f *FS) stat(op string, c Cred, path string, follow bool) (Info, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, e := f.find(&c, path, follow)
	if e != 0 {
		return Info{}, pathError(op, path, e)
	}
	return f.infoOf(n, path), nil
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
	defer f.mu.RUnlock()
	n, e := f.find(&c, path, false)
	switch {
	case e != 0:
		return "", pathError("readlink", path, e)
	case !n.isLink():
		return "", pathError("readlink", path, syscall.EINVAL)
	}
	return n.target, nil
}

// Realpath returns the path without links, dots and further slashes of what exists at path.
func (f *FS) Realpath(c Cred, path string) (string, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	n, e := f.find(&c, path, true)
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
	if e != 0 {
		f.mu.RUnlock()
		return nil, pathError("open", path, e)
	}
	list := d.list("", 0)
	f.mu.RUnlock()
	f.accessed(n.ino, nil)
	return list, nil
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
	defer f.mu.RUnlock()
	n, e := f.find(&c, path, true)
	if e == 0 && mask&^7 != 0 {
		e = syscall.EINVAL
	}
	if e == 0 {
		e = c.may(n, mask)
	}
	return pathError("access", path, e)
}
