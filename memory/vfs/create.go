package vfs

import (
	"io"
	"io/fs"
	"syscall"
)

// Mkdir creates an empty directory. The caller applies the process's umask.
func (f *FS) Mkdir(c Cred, path string, perm fs.FileMode) error {
	return f.make("mkdir", c, path, sIFDIR|permBits(perm)&^(sISUID|sISGID), 0)
}

// Mkfifo creates a named pipe.
func (f *FS) Mkfifo(c Cred, path string, perm fs.FileMode) error {
	return f.make("mkfifo", c, path, sIFIFO|permBits(perm), 0)
}

// Mknod creates a regular file, a named pipe or, for root only, a device; the type is
// that of mode. Of devices 1:3 null, 1:5 zero, 1:7 full, 1:8 random and 1:9 urandom can
// be opened. Any other type is EPERM.
func (f *FS) Mknod(c Cred, path string, mode fs.FileMode, rdev uint64) error {
	kind := uint32(0)
	switch mode.Type() {
	case 0:
		kind, rdev = sIFREG, 0
	case fs.ModeNamedPipe:
		kind, rdev = sIFIFO, 0
	case fs.ModeDevice | fs.ModeCharDevice:
		kind = sIFCHR
	case fs.ModeDevice:
		kind = sIFBLK
	default:
		return pathError("mknod", path, syscall.EPERM)
	}
	return f.make("mknod", c, path, kind|permBits(mode), rdev)
}

// make creates an inode without content.
func (f *FS) make(op string, c Cred, path string, mode uint32, rdev uint64) error {
	f.mu.Lock()
	p, e := f.vacant(&c, path, mode&sIFMT == sIFDIR)
	if e == elsewhere {
		f.mu.Unlock()
		return f.alter(op, &c, path, nofollow, false, func(g *FS, path string) error { return g.make(op, c, path, mode, rdev) })
	}
	defer f.mu.Unlock()
	if e == 0 {
		e = c.mayAdd(p.dir)
	}
	if kind := mode & sIFMT; e == 0 && (kind == sIFCHR || kind == sIFBLK) && !c.isRoot() {
		e = syscall.EPERM
	}
	if e == 0 {
		var n *inode
		if n, e = f.add(&c, p, mode); e == 0 {
			n.rdev = rdev
		}
	}
	return pathError(op, path, e)
}

// add creates an inode with a name in p.dir, of which it returns the inode. The caller
// has checked that it may.
func (f *FS) add(c *Cred, p place, mode uint32) (*inode, syscall.Errno) {
	if p.dir.nlink >= maxLink && mode&sIFMT == sIFDIR {
		return nil, syscall.EMLINK
	}
	if e := f.takeNode(); e != 0 {
		return nil, e
	}
	dir, now := f.own(p.dir), f.stamp()
	gid := c.GID
	if dir.mode&sISGID != 0 {
		gid = dir.gid
		if mode&sIFMT == sIFDIR {
			mode |= sISGID
		} else if mode&(sISGID|0o010) == sISGID|0o010 && !c.isRoot() && !c.in(gid) {
			mode &^= sISGID // a user cannot give a file a group that the user is not in
		}
	}
	n := f.newInode(mode, c.UID, gid, now)
	n.nlink = 1
	if n.isDir() {
		n.nlink = 2
		dir.nlink++
	}
	f.bind(dir, p.name, n, now)
	return n, 0
}

// bind gives n a name in dir; the caller owns both and changes the counts of links.
func (f *FS) bind(dir *inode, name string, n *inode, now stamp) {
	dir.fix()
	dir.names.set(f.owner, dirent{name, newRef(n.ino, n.mode)})
	dir.mtime, dir.ctime = now, now
	n.addLink(f.owner, link{dir.ino, name})
}

// Symlink creates a symbolic link that holds target, which need not exist.
func (f *FS) Symlink(c Cred, target, path string) error {
	e := syscall.Errno(0)
	switch {
	case target == "":
		e = syscall.ENOENT
	case len(target) > maxPath:
		e = syscall.ENAMETOOLONG
	}
	if e != 0 {
		return linkError("symlink", target, path, e)
	}
	f.mu.Lock()
	p, e := f.vacant(&c, path, false)
	if e == elsewhere {
		f.mu.Unlock()
		err := f.alter("symlink", &c, path, nofollow, false, func(g *FS, path string) error { return g.Symlink(c, target, path) })
		return linkError("symlink", target, path, errnoOf(err))
	}
	defer f.mu.Unlock()
	if e == 0 {
		e = c.mayAdd(p.dir)
	}
	if e != 0 {
		return linkError("symlink", target, path, e)
	}
	if got := f.takeBytes(int64(len(target))); got < int64(len(target)) {
		f.takeBytes(-got)
		return linkError("symlink", target, path, syscall.ENOSPC)
	}
	n, e := f.add(&c, p, sIFLNK|0o777)
	if e != 0 {
		f.takeBytes(-int64(len(target)))
		return linkError("symlink", target, path, e)
	}
	n.target, n.size = target, int64(len(target))
	return nil
}

// Link adds a name to the file at from, which may be a symbolic link but not a directory.
func (f *FS) Link(c Cred, from, to string) error {
	f.mu.Lock()
	e := f.addName(&c, from, to)
	f.mu.Unlock()
	if e == elsewhere {
		e = f.across("link", &c, from, to, func(g *FS, from, to string) error { return g.Link(c, from, to) })
	}
	return linkError("link", from, to, e)
}

func (f *FS) addName(c *Cred, from, to string) syscall.Errno {
	n, e := f.find(c, from, false)
	if e != 0 {
		return e
	}
	p, e := f.vacant(c, to, false)
	if e != 0 {
		return e
	}
	if n.isReadOnly() {
		return syscall.EROFS // one more name would be a change of the file
	}
	if !c.canLink(n) {
		return syscall.EPERM
	}
	if e := c.mayAdd(p.dir); e != 0 {
		return e
	}
	switch {
	case n.isDir():
		return syscall.EPERM
	case n.nlink >= maxLink:
		return syscall.EMLINK
	}
	if e := f.takeNode(); e != 0 {
		return e
	}
	dir, now := f.own(p.dir), f.stamp()
	n = f.own(n)
	n.nlink++
	n.ctime = now
	f.bind(dir, p.name, n, now)
	return 0
}

// device is one of the character devices that work by themselves.
type device uint8

const (
	noDevice device = iota
	null
	zero
	full
	random
)

// deviceOf returns the device with that number (devices.txt of Linux).
func deviceOf(rdev uint64) device {
	if Major(rdev) != 1 {
		return noDevice
	}
	switch Minor(rdev) {
	case 3:
		return null
	case 5:
		return zero
	case 7:
		return full
	case 8, 9:
		return random
	}
	return noDevice
}

func (d device) read(f *FS, p []byte) (int, error) {
	switch d {
	case null:
		return 0, io.EOF
	case random:
		f.random(p)
	default:
		clear(p)
	}
	return len(p), nil
}

func (d device) write(p []byte) (int, syscall.Errno) {
	if d == full && len(p) > 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), 0
}
