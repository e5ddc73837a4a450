package vfs

import "syscall"

// Rename moves from to to, and over what is there, as rename(2) does.
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
	case old.node.isDir() && f.within(p.dir, old.node):
		return syscall.EINVAL
	case p.node != nil && p.node.isDir() && f.within(old.dir, p.node):
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

// within reports whether dir is top or below it.
func (f *FS) within(dir, top *inode) bool {
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
