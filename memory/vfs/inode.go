package vfs

import (
	"encoding/binary"
	"syscall"
)

// inode is one version of a file. It is changed only by the tree whose mark it
// carries, and not at all once that tree has a new mark.
type inode struct {
	owner *epoch
	born  *epoch // together with ino it names the file among all trees
	ino   uint64
	rdev  uint64
	mode  uint32 // type and permissions as in stat(2)
	nlink uint32
	uid   uint32
	gid   uint32

	atime, mtime, ctime stamp

	link  link   // where it is, unless nlink is 0; a directory's only one
	links *names // its further names, by key; what it points to never changes

	content        // of a regular file
	names   names  // of a directory, unless it is lazy
	target  string // of a symbolic link

	// Of attached layers. An inode in their table has no owner, and an origin.
	lazy       *lazyDir // the names of a directory that was not changed
	origin     *origin
	protection Protection

	generated bool // of a directory: see FS.Generate
}

// link is a name of an inode: the directory that holds it, and how it is called there.
type link struct {
	dir  uint64
	name string
}

func (n *inode) isDir() bool  { return n.mode&sIFMT == sIFDIR }
func (n *inode) isLink() bool { return n.mode&sIFMT == sIFLNK }
func (n *inode) isFile() bool { return n.mode&sIFMT == sIFREG }

// dir returns the names of a directory, which are read if it is lazy.
func (n *inode) dir() (*names, syscall.Errno) {
	if n.lazy != nil {
		return n.lazy.load()
	}
	return &n.names, 0
}

// fix makes the names of a directory changeable. The caller owns n and has seen dir
// succeed. From now on all trees see the directory of the layer as this one saw it, so that changes
// in it can be distinguished from changes of other processes.
func (n *inode) fix() {
	if n.lazy == nil {
		return
	}
	if d := n.lazy.freeze(); d != nil {
		n.names = *d
		d.each("", func(e dirent) bool {
			if e.kind() == sIFDIR {
				n.nlink++
			}
			return true
		})
	}
	n.lazy = nil
}

// cost returns the inode's share of Limits.Bytes.
func (n *inode) cost() int64 {
	if n.ino >= lowerBase {
		return n.held // a target was there before
	}
	return n.held + int64(len(n.target))
}

// key is the link as a name in inode.links.
func (l link) key() string {
	var dir [8]byte
	binary.BigEndian.PutUint64(dir[:], l.dir)
	return string(dir[:]) + l.name
}

// eachLink calls fn for every name of the inode, until fn returns false.
func (n *inode) eachLink(fn func(link) bool) {
	if n.link.name == "" || !fn(n.link) || n.links == nil {
		return
	}
	n.links.each("", func(e dirent) bool { return fn(link{binary.BigEndian.Uint64([]byte(e.name[:8])), e.name[8:]}) })
}

// has reports whether l is one of the inode's names.
func (n *inode) has(l link) bool {
	if n.link == l {
		return true
	}
	if n.links == nil {
		return false
	}
	_, ok := n.links.lookup(l.key())
	return ok
}

// addLink notes a name; n is the owner's.
func (n *inode) addLink(owner *epoch, l link) {
	if n.link.name == "" {
		n.link = l
		return
	}
	var more names
	if n.links != nil {
		more = *n.links
	}
	more.set(owner, dirent{name: l.key()})
	n.links = &more
}

// dropLink forgets a name; n is the owner's.
func (n *inode) dropLink(owner *epoch, l link) {
	if n.links == nil {
		n.link = link{}
		return
	}
	rest := *n.links
	if n.link == l {
		rest.each("", func(e dirent) bool {
			n.link = link{binary.BigEndian.Uint64([]byte(e.name[:8])), e.name[8:]}
			return false
		})
		l = n.link
	}
	rest.remove(owner, l.key())
	if n.links = &rest; rest.n == 0 {
		n.links = nil
	}
}

// vnode stands for an open inode in all its versions.
type vnode struct {
	ino  uint64
	born *epoch
	refs int // guarded by FS.openMu

	orphan *inode // the inode once it has no name; guarded by FS.mu
	lost   string // its last name; guarded by FS.mu
	fifo   *pipe  // of a named pipe; set when it is opened first, under FS.openMu
}

// retain notes that an inode is open once more. The caller holds mu.
func (f *FS) retain(n *inode) *vnode {
	f.openMu.Lock()
	defer f.openMu.Unlock()
	v := f.open[n.ino]
	if v == nil {
		v = &vnode{ino: n.ino, born: n.born}
		if n.mode&sIFMT == sIFIFO {
			v.fifo = newPipe(0, 0)
		}
		if f.open == nil {
			f.open = map[uint64]*vnode{}
		}
		f.open[n.ino] = v
	}
	v.refs++
	return v
}

// release drops one reference, and frees an inode that has no name any more.
func (f *FS) release(v *vnode) {
	f.mu.RLock()
	f.openMu.Lock()
	v.refs--
	last, orphan := v.refs == 0, v.orphan != nil
	if last && f.open[v.ino] == v {
		delete(f.open, v.ino)
	}
	f.openMu.Unlock()
	f.mu.RUnlock()
	if last && orphan {
		f.mu.Lock()
		delete(f.orphans, v)
		f.forget(v.orphan)
		f.mu.Unlock()
	}
}

// addOrphan lets n live on in v alone. The caller holds mu for writing and openMu.
func (f *FS) addOrphan(v *vnode, n *inode) {
	v.orphan = n
	delete(f.open, v.ino)
	if f.orphans == nil {
		f.orphans = map[*vnode]struct{}{}
	}
	f.orphans[v] = struct{}{}
}

// node returns the current version of v's inode. The caller holds mu.
func (f *FS) node(v *vnode) *inode {
	if v.orphan != nil {
		return v.orphan
	}
	return f.inode(v.ino)
}

// ownNode is own for an open file. The caller holds mu for writing.
func (f *FS) ownNode(v *vnode) *inode {
	if v.orphan == nil {
		return f.own(f.inode(v.ino))
	}
	if v.orphan.owner != f.owner {
		c := *v.orphan
		c.owner = f.owner
		v.orphan = &c
	}
	return v.orphan
}

// atEnd as an offset means the end of the file at the moment of writing.
const atEnd = -1

// writeAt writes to a regular file and returns where the last byte was put.
func (f *FS) writeAt(v *vnode, c *Cred, p []byte, off int64) (done int, end int64, e syscall.Errno) {
	if len(p) == 0 {
		return 0, max(off, 0), 0
	}
	now := f.stamp()
	f.mu.RLock()
	if n := f.node(v); n.owner == f.owner && n.mode&(sISUID|sISGID) == 0 {
		l := f.lock(v.ino)
		l.Lock()
		done, end, e = f.write(n, p, off, now)
		l.Unlock()
		f.mu.RUnlock()
		return done, end, e
	}
	f.mu.RUnlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.ownNode(v)
	n.dropPrivileges(c)
	return f.write(n, p, off, now)
}

// write puts p at off, a chunk at a time, as far as the limits let it. The caller owns n and its content.
func (f *FS) write(n *inode, p []byte, off int64, now stamp) (done int, end int64, e syscall.Errno) {
	if off == atEnd {
		off = n.size
	}
	for done < len(p) && e == 0 {
		part := p[done:min(len(p), done+chunkSize-int(off&(chunkSize-1)))]
		if off+int64(len(part)) > f.limits.file {
			part = part[:max(0, f.limits.file-off)]
			e = syscall.EFBIG
			f.met.file.Add(1)
		}
		if len(part) == 0 {
			break
		}
		grow := n.growth(off, len(part))
		if got := f.takeBytes(grow); got < grow {
			e = syscall.ENOSPC
			keep := max(0, len(part)-int(min(grow-got, int64(len(part)))))
			for keep > 0 && n.growth(off, keep) > got {
				keep--
			}
			if keep == 0 {
				f.takeBytes(-got)
				break
			}
			part = part[:keep]
			grow = n.growth(off, keep)
			f.takeBytes(grow - got)
		}
		if bad := n.writeChunk(f.owner, part, off, grow); bad != 0 {
			f.takeBytes(-grow)
			return done, off, bad
		}
		done += len(part)
		off += int64(len(part))
	}
	if done > 0 {
		n.mtime, n.ctime = now, now
	}
	return done, off, e
}

// readAt reads from a regular file.
func (f *FS) readAt(v *vnode, p []byte, off int64) (int, syscall.Errno) {
	f.mu.RLock()
	n, l := f.node(v), f.lock(v.ino)
	l.RLock()
	done, e := n.readAt(p, off)
	l.RUnlock()
	f.mu.RUnlock()
	if done > 0 {
		f.accessed(v.ino, v)
	}
	return done, e
}

// slice lends out a part of a regular file.
func (f *FS) slice(v *vnode, off int64, limit int) ([]byte, syscall.Errno) {
	f.mu.RLock()
	n, l := f.node(v), f.lock(v.ino)
	l.Lock()
	part, e := n.slice(f.owner, off, limit)
	l.Unlock()
	f.mu.RUnlock()
	if len(part) > 0 {
		f.accessed(v.ino, v)
	}
	return part, e
}

const day = 24 * 60 * 60

// accessed sets the time of access if it is due (relatime of mount(8)).
func (f *FS) accessed(ino uint64, v *vnode) {
	if f.options.NoAtime {
		return
	}
	now := f.stamp()
	current := func() *inode {
		if v != nil {
			return f.node(v)
		}
		return f.inode(ino)
	}
	f.mu.RLock()
	n, l := current(), f.lock(ino)
	if n == nil || n.owner == nil { // gone, or of a layer: reading changes nothing there
		f.mu.RUnlock()
		return
	}
	l.RLock()
	due := n.atimeDue(now)
	l.RUnlock()
	mine := n.owner == f.owner
	if due && mine {
		l.Lock()
		n.atime = now
		l.Unlock()
	}
	f.mu.RUnlock()
	if !due || mine {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if v != nil {
		f.ownNode(v).atime = now
	} else if n := f.inode(ino); n != nil {
		f.own(n).atime = now
	}
}

func (n *inode) atimeDue(now stamp) bool {
	return !n.mtime.before(n.atime) || !n.ctime.before(n.atime) || now.sec-n.atime.sec >= day
}

// modified sets the times of a named pipe that was written to.
func (f *FS) modified(v *vnode) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.node(v).isReadOnly() {
		return
	}
	n := f.ownNode(v)
	n.mtime = f.stamp()
	n.ctime = n.mtime
}
