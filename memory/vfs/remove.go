package vfs

import (
	"syscall"
)

// Unlink removes a name of a file. The file itself goes with its last name and the
// last [File] open on it.
func (f *FS) Unlink(c Cred, path string) error {
	f.mu.Lock()
	p, e := f.walk(&c, path, nofollow)
	if e == elsewhere {
		f.mu.Unlock()
		return f.alter("unlink", &c, path, nofollow, false, func(g *FS, path string) error { return g.Unlink(c, path) })
	}
	defer f.mu.Unlock()
	switch {
	case e != 0:
	case p.final != plain:
		e = syscall.EISDIR
	case p.node == nil:
		e = p.missing()
	case p.tail && !p.node.isDir():
		e = syscall.ENOTDIR
	case p.tail:
		e = syscall.EISDIR
	default:
		if e = f.mayRemove(&c, p.dir, p.node); e == 0 && p.node.isDir() {
			e = syscall.EISDIR
		}
	}
	if e == 0 {
		f.unbind(f.own(p.dir), p.name, f.own(p.node), f.stamp())
	}
	return pathError("unlink", path, e)
}

// Rmdir removes an empty directory.
func (f *FS) Rmdir(c Cred, path string) error {
	f.mu.Lock()
	p, e := f.walk(&c, path, nofollow)
	if e == elsewhere {
		f.mu.Unlock()
		return f.alter("rmdir", &c, path, nofollow, false, func(g *FS, path string) error { return g.Rmdir(c, path) })
	}
	defer f.mu.Unlock()
	switch {
	case e != 0:
	case p.final == slash:
		e = syscall.EBUSY
	case p.final == dot:
		e = syscall.EINVAL
	case p.final == dotdot:
		e = syscall.ENOTEMPTY
	case p.node == nil:
		e = p.missing()
	default:
		e = f.mayRemove(&c, p.dir, p.node)
		if e == 0 && !p.node.isDir() {
			e = syscall.ENOTDIR
		}
		if e == 0 {
			e = p.node.vacant()
		}
	}
	if e == 0 {
		f.unbind(f.own(p.dir), p.name, f.own(p.node), f.stamp())
	}
	return pathError("rmdir", path, e)
}

// vacant checks that a directory is empty.
func (n *inode) vacant() syscall.Errno {
	d, e := n.dir()
	if e == 0 && d.n > 0 {
		e = syscall.ENOTEMPTY
	}
	return e
}

// unbind takes a name from dir and from n, and frees n if it was the last. The caller
// owns both; a directory is empty.
func (f *FS) unbind(dir *inode, name string, n *inode, now stamp) {
	dir.fix()
	dir.names.remove(f.owner, name)
	dir.mtime, dir.ctime = now, now
	n.ctime = now
	n.dropLink(f.owner, link{dir.ino, name})
	if n.isDir() {
		dir.nlink--
		n.nlink = 0
	} else {
		n.nlink--
	}
	if n.nlink > 0 {
		f.nodes.Add(-1)
		return
	}
	f.tree.remove(f.owner, n.ino)
	f.openMu.Lock()
	v := f.open[n.ino]
	if v != nil {
		v.lost = join(f.tree.path(dir), name)
		f.addOrphan(v, n)
	}
	f.openMu.Unlock()
	if v == nil {
		f.forget(n)
	}
}

// forget takes an inode that is freed off the accounts.
func (f *FS) forget(n *inode) {
	f.bytes.Add(-n.cost())
	if n.ino < lowerBase {
		f.nodes.Add(-1)
	}
}

// RemoveAll removes path and all below it, as far as c may, and returns the
// first error. It is not an error if nothing is there. Links are removed, not followed; a mount point is
// EBUSY, and no file of a mounted tree is removed.
func (f *FS) RemoveAll(c Cred, path string) error {
	f.mu.Lock()
	p, e := f.walk(&c, path, nofollow)
	if e == elsewhere {
		f.mu.Unlock()
		return f.alter("unlink", &c, path, nofollow, false, func(g *FS, path string) error { return g.RemoveAll(c, path) })
	}
	defer f.mu.Unlock()
	switch {
	case e == syscall.ENOENT || e == 0 && p.missing() == syscall.ENOENT:
		return nil
	case e == 0 && p.long:
		e = syscall.ENAMETOOLONG
	case e == 0 && p.final == slash:
		e = syscall.EBUSY
	case e == 0 && p.final != plain:
		e = syscall.EINVAL
	case e == 0 && p.tail && !p.node.isDir():
		e = syscall.ENOTDIR
	}
	if e != 0 {
		return pathError("unlink", path, e)
	}
	at, e := f.removeTree(&c, p.dir, p.name, p.node, path)
	return pathError("unlink", at, e)
}

// removeTree returns the first error and its path.
func (f *FS) removeTree(c *Cred, dir *inode, name string, n *inode, path string) (string, syscall.Errno) {
	first, at := syscall.Errno(0), ""
	d := &names{}
	if n.isDir() && (n.generated || f.mountOn(n) != nil) {
		return path, syscall.EBUSY
	}
	if n.isDir() {
		var e syscall.Errno
		if d, e = n.dir(); e != 0 {
			return path, e
		}
	}
	if d.n > 0 {
		if e := c.may(n, MayRead|MayExec); e != 0 {
			return path, e
		}
		for _, e := range d.list("", 0) {
			// Every step may make new versions of the directory and of its entries.
			kid := f.inode(e.Ino)
			if p, e := f.removeTree(c, f.inode(n.ino), e.Name, kid, join(path, e.Name)); e != 0 && first == 0 {
				at, first = p, e
			}
		}
		n = f.inode(n.ino)
	}
	if first != 0 {
		return at, first
	}
	dir = f.inode(dir.ino)
	if e := f.mayRemove(c, dir, n); e != 0 {
		return path, e
	}
	f.unbind(f.own(dir), name, f.own(n), f.stamp())
	return "", 0
}

// Rename moves from to to, and replaces an existing to, as rename(2) does.
func (f *FS) Rename(c Cred, from, to string) error {
	f.mu.Lock()
	e := f.rename(&c, from, to)
	f.mu.Unlock()
	if e == elsewhere {
		e = f.across("rename", &c, from, to, func(g *FS, from, to string) error { return g.Rename(c, from, to) })
	}
	return linkError("rename", from, to, e)
}

func (f *FS) rename(c *Cred, from, to string) syscall.Errno {
	old, e := f.walk(c, from, nofollow)
	if e != 0 {
		return e
	}
	p, e := f.walk(c, to, nofollow)
	switch {
	case e != 0:
		return e
	case old.final != plain || p.final != plain:
		return syscall.EBUSY
	case old.node == nil:
		return old.missing()
	case p.long:
		return syscall.ENAMETOOLONG
	case !old.node.isDir() && (old.tail || p.tail):
		return syscall.ENOTDIR
	case old.node.isDir() && f.isWithin(p.dir, old.node):
		return syscall.EINVAL
	case p.node != nil && p.node.isDir() && f.isWithin(old.dir, p.node):
		return syscall.ENOTEMPTY
	case p.node == old.node:
		return 0
	}
	if e := c.mayRename(f, old, p); e != 0 {
		return e
	}
	f.move(old, p)
	return 0
}

// isWithin reports whether dir is top or below it.
func (f *FS) isWithin(dir, top *inode) bool {
	for dir.ino != top.ino {
		if dir.ino == rootIno {
			return false
		}
		dir = f.inode(dir.link.dir)
	}
	return true
}

func (c *Cred) mayRename(f *FS, old, p place) syscall.Errno {
	if e := f.mayRemove(c, old.dir, old.node); e != 0 {
		return e
	}
	isDir := old.node.isDir()
	if p.node == nil {
		if e := c.mayAdd(p.dir); e != 0 {
			return e
		}
	} else {
		if e := f.mayRemove(c, p.dir, p.node); e != 0 {
			return e
		}
		switch {
		case isDir && !p.node.isDir():
			return syscall.ENOTDIR
		case !isDir && p.node.isDir():
			return syscall.EISDIR
		}
	}
	if isDir && old.dir.ino != p.dir.ino {
		// Its ".." changes, which is a write to it.
		if e := c.may(old.node, MayWrite); e != 0 {
			return e
		}
		if p.node == nil && p.dir.nlink >= maxLink {
			return syscall.EMLINK
		}
	}
	if p.node != nil && isDir {
		return p.node.vacant()
	}
	return 0
}

// move is the rename itself; everything is checked.
func (f *FS) move(old, p place) {
	now := f.stamp()
	if p.node != nil {
		f.unbind(f.own(p.dir), p.name, f.own(p.node), now)
	}
	from := f.own(f.inode(old.dir.ino))
	to := f.own(f.inode(p.dir.ino))
	n := f.own(old.node)
	from.fix()
	from.names.remove(f.owner, old.name)
	from.mtime, from.ctime, n.ctime = now, now, now
	n.dropLink(f.owner, link{from.ino, old.name})
	f.bind(to, p.name, n, now)
	if n.isDir() && from != to {
		from.nlink--
		to.nlink++
	}
}
