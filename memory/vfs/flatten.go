package vfs

import (
	"bytes"
	"syscall"
)

// Flatten returns a snapshot that holds by itself what s shows, with all attached layers read
// into memory: what was removed is not there, what is masked is empty. It is what [Snapshot.Save] and
// [Snapshot.WritePack] take when s has layers. Sockets of a layer are left out. What exceeds the
// limits is ENOSPC or EFBIG. A snapshot without layers is returned as it is.
func (s *Snapshot) Flatten(l Limits) (*Snapshot, error) {
	if !s.tree.layered() {
		return s, nil
	}
	c := &flattener{from: &s.tree, to: New(Options{Limits: l}), made: map[uint64]*inode{}}
	top := s.tree.inode(rootIno)
	at, e := c.below("/", top, c.to.tree.inode(rootIno))
	if e != 0 {
		return nil, pathError("flatten", at, e)
	}
	c.to.tree.inode(rootIno).resemble(top)
	return c.to.Snapshot(), nil
}

// flattener copies a tree; the new one is nobody else's yet.
type flattener struct {
	from *tree
	to   *FS
	made map[uint64]*inode // by number in from: what has several names
}

// below copies what is in a directory; it returns the path of what could not be.
func (c *flattener) below(path string, from, to *inode) (string, syscall.Errno) {
	d, e := from.dir()
	if e != 0 {
		return path, e
	}
	at := path
	d.each("", func(ent dirent) bool {
		var n *inode
		if n, e = c.from.current(ent); e == 0 && n != nil && n.mode&sIFMT != sIFSOCK {
			at, e = c.node(join(path, ent.name), ent.name, n, to)
		}
		return e == 0
	})
	return at, e
}

func (c *flattener) node(path, name string, from, dir *inode) (string, syscall.Errno) {
	f := c.to
	if from.isDir() && dir.nlink >= maxLink {
		return path, syscall.EMLINK
	}
	if e := f.takeNode(); e != 0 {
		return path, e
	}
	if n := c.made[from.ino]; n != nil {
		n.nlink++
		f.bind(dir, name, n, dir.mtime)
		n.ctime = from.ctime
		return "", 0
	}
	n := f.newInode(from.mode, from.uid, from.gid, from.ctime)
	n.nlink = 1
	if from.nlink > 1 && !from.isDir() {
		c.made[from.ino] = n
	}
	f.bind(dir, name, n, dir.mtime)
	var e syscall.Errno
	at := path
	switch {
	case from.isDir():
		n.nlink = 2
		dir.nlink++
		at, e = c.below(path, from, n)
	case from.isLink():
		n.target, n.size = from.target, from.size
		if got := f.takeBytes(n.cost()); got < n.cost() {
			e = syscall.ENOSPC
		}
	case from.isFile():
		e = c.file(from, n)
	}
	n.resemble(from)
	return at, e
}

// file takes over the chunks, and reads those of a layer.
func (c *flattener) file(from, to *inode) syscall.Errno {
	f := c.to
	if from.size > f.limits.file {
		return syscall.EFBIG
	}
	if got := f.takeBytes(from.held); got < from.held {
		return syscall.ENOSPC
	}
	to.content = from.content
	to.lower = nil
	if from.lower == nil {
		return 0
	}
	for off := int64(0); off < from.lower.size; off += chunkSize {
		if from.chunk(uint64(off)>>chunkBits) != nil {
			continue
		}
		part := make([]byte, min(chunkSize, from.lower.size-off))
		if e := from.lower.readAt(part, off); e != 0 {
			return e
		}
		if from.size > chunkSize && bytes.Equal(part, holes[:len(part)]) {
			continue
		}
		if _, _, e := f.write(to, part, off, to.mtime); e != 0 {
			return e
		}
	}
	return 0
}

// resemble takes over what stat tells of another inode, its type, number and links apart.
func (n *inode) resemble(from *inode) {
	n.mode, n.uid, n.gid, n.rdev = from.mode, from.uid, from.gid, from.rdev
	n.atime, n.mtime, n.ctime = from.atime, from.mtime, from.ctime
}
