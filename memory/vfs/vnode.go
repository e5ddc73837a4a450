package vfs

import "syscall"

// vnode stands for an inode that is open, whatever version of it is current.
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

// release takes one reference back, and frees what has no name any more.
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
	if f.node(v).readOnly() {
		return
	}
	n := f.ownNode(v)
	n.mtime = f.stamp()
	n.ctime = n.mtime
}
