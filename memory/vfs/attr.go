package vfs

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Chmod sets the permissions and the setuid, setgid and sticky bits. Links are followed.
func (f *FS) Chmod(c Cred, path string, mode fs.FileMode) error {
	return f.change("chmod", c, path, true, func(f *FS, n *inode) syscall.Errno { return f.chmod(&c, n, mode) })
}

// Keep as an owner or a group leaves it as it is.
const Keep = ^uint32(0)

// Chown sets owner and group; [Keep] leaves either as it is.
func (f *FS) Chown(c Cred, path string, uid, gid uint32, follow bool) error {
	op := "chown"
	if !follow {
		op = "lchown"
	}
	return f.change(op, c, path, follow, func(f *FS, n *inode) syscall.Errno { return f.chown(&c, n, uid, gid) })
}

// Chtimes sets the times of access and modification, of which a zero one stays as it
// is. Only the owner may do that; a process with write permission uses [FS.Touch].
func (f *FS) Chtimes(c Cred, path string, atime, mtime time.Time, follow bool) error {
	return f.change("chtimes", c, path, follow, func(f *FS, n *inode) syscall.Errno { return f.chtimes(&c, n, atime, mtime) })
}

// Touch sets both times to now. Write permission suffices.
func (f *FS) Touch(c Cred, path string, follow bool) error {
	return f.change("chtimes", c, path, follow, func(f *FS, n *inode) syscall.Errno {
		if !c.isOwner(n) {
			if e := c.may(n, MayWrite); e != 0 {
				return e
			}
		}
		n = f.own(n)
		n.atime = f.stamp()
		n.mtime, n.ctime = n.atime, n.atime
		return 0
	})
}

// Truncate sets the size of a regular file, for which zeros or a hole are added or the end is cut off.
func (f *FS) Truncate(c Cred, path string, size int64) error {
	return f.change("truncate", c, path, true, func(f *FS, n *inode) syscall.Errno {
		switch {
		case size < 0:
			return syscall.EINVAL
		case n.isDir():
			return syscall.EISDIR
		case !n.isFile():
			return syscall.EINVAL
		}
		if e := c.may(n, MayWrite); e != 0 {
			return e
		}
		n = f.own(n)
		if n.dropPrivileges(&c) {
			n.ctime = f.stamp()
		}
		return f.resize(n, size)
	})
}

// change calls fn with the inode at path and the tree that it is in, with mu held for
// writing. fn owns the inode before it changes it.
func (f *FS) change(op string, c Cred, path string, follow bool, fn func(*FS, *inode) syscall.Errno) error {
	f.mu.Lock()
	n, e := f.find(&c, path, follow)
	if e == elsewhere {
		f.mu.Unlock()
		return f.alter(op, &c, path, followIf(follow || strings.HasSuffix(path, "/")), true,
			func(g *FS, path string) error { return g.change(op, c, path, follow, fn) })
	}
	defer f.mu.Unlock()
	switch {
	case e != 0:
	case n.isReadOnly():
		e = syscall.EROFS
	default:
		e = fn(f, n)
	}
	return pathError(op, path, e)
}

func (f *FS) chmod(c *Cred, n *inode, mode fs.FileMode) syscall.Errno {
	if !c.isOwner(n) {
		return syscall.EPERM
	}
	bits := permBits(mode)
	if !c.isRoot() && !c.in(n.gid) {
		bits &^= sISGID
	}
	n = f.own(n)
	n.mode = n.mode&^perms | bits
	n.ctime = f.stamp()
	return 0
}

func (f *FS) chown(c *Cred, n *inode, uid, gid uint32) syscall.Errno {
	if !c.isRoot() {
		mine := c.UID == n.uid
		if uid != Keep && (!mine || uid != n.uid) {
			return syscall.EPERM
		}
		if gid != Keep && (!mine || gid != n.gid && !c.in(gid)) {
			return syscall.EPERM
		}
	}
	mode := n.mode
	if !n.isDir() {
		// A change of owner must not make a program setuid for the new owner.
		mode &^= sISUID
		if mode&0o010 != 0 || !c.isRoot() && !c.in(n.gid) {
			mode &^= sISGID
		}
	}
	if mode != n.mode && !c.isOwner(n) {
		return syscall.EPERM
	}
	n = f.own(n)
	n.mode = mode
	if uid != Keep {
		n.uid = uid
	}
	if gid != Keep {
		n.gid = gid
	}
	n.ctime = f.stamp()
	return 0
}

func (f *FS) chtimes(c *Cred, n *inode, atime, mtime time.Time) syscall.Errno {
	if !c.isOwner(n) {
		return syscall.EPERM
	}
	n = f.own(n)
	if !atime.IsZero() {
		n.atime = newStamp(atime)
	}
	if !mtime.IsZero() {
		n.mtime = newStamp(mtime)
	}
	n.ctime = f.stamp()
	return 0
}

// dropPrivileges clears setuid and setgid when another user than root writes, and
// reports whether there were any.
func (n *inode) dropPrivileges(c *Cred) bool {
	if c.isRoot() || !n.isFile() {
		return false
	}
	mode := n.mode &^ sISUID
	if mode&0o010 != 0 || !c.in(n.gid) {
		mode &^= sISGID
	}
	dropped := mode != n.mode
	n.mode = mode
	return dropped
}

// resize sets the size of n, which the caller owns.
func (f *FS) resize(n *inode, size int64) syscall.Errno {
	if size == n.size {
		return 0
	}
	if size > n.size && size > f.limits.file {
		f.met.file.Add(1)
		return syscall.EFBIG
	}
	grow := n.heldAt(size) - n.held
	if got := f.takeBytes(grow); got < grow {
		f.takeBytes(-got)
		return syscall.ENOSPC
	}
	n.truncate(f.owner, size)
	n.mtime = f.stamp()
	n.ctime = n.mtime
	return 0
}

// Cred holds the credentials of an operation. UID 0 is root, which modes do not restrict.
type Cred struct {
	UID, GID uint32
	Groups   []uint32 // further groups
	// Proc is the content, for this user, of directories that FS.Generate has marked; nil: their own content.
	Proc Generated
}

// Bits of the mask of [FS.Access]. Zero asks only whether the file exists.
const (
	MayExec  = 1
	MayWrite = 2
	MayRead  = 4
)

func (c *Cred) isRoot() bool { return c.UID == 0 }

func (c *Cred) in(gid uint32) bool { return c.GID == gid || slices.Contains(c.Groups, gid) }

// isOwner reports whether c has the rights of an inode's owner.
func (c *Cred) isOwner(n *inode) bool { return c.UID == 0 || c.UID == n.uid }

// may checks mask against n's mode: EACCES, or zero.
func (c *Cred) may(n *inode, mask uint32) syscall.Errno {
	if mask&MayWrite != 0 && n.isReadOnly() && n.mode&sIFMT != sIFIFO {
		return syscall.EROFS
	}
	if n.protection == Masked && mask != 0 && !n.isDir() {
		return syscall.EACCES
	}
	if c.isRoot() {
		// Even root executes only a file with an execute bit.
		if mask&MayExec == 0 || n.isDir() || n.mode&0o111 != 0 {
			return 0
		}
		return syscall.EACCES
	}
	bits := n.mode
	switch {
	case c.UID == n.uid:
		bits >>= 6
	case c.in(n.gid):
		bits >>= 3
	}
	if bits&mask == mask {
		return 0
	}
	return syscall.EACCES
}

// mayAdd checks whether c may create a name in dir.
func (c *Cred) mayAdd(dir *inode) syscall.Errno {
	if dir.nlink == 0 {
		return syscall.ENOENT
	}
	return c.may(dir, MayWrite|MayExec)
}

// mayRemove checks whether c may remove n's name from dir.
func (f *FS) mayRemove(c *Cred, dir, n *inode) syscall.Errno {
	if e := c.may(dir, MayWrite|MayExec); e != 0 {
		return e
	}
	if n.isDir() && f.mountOn(n) != nil {
		return syscall.EBUSY
	}
	if n.protection != Free || n.generated {
		return syscall.EBUSY
	}
	// In a sticky directory such as /tmp only the owner removes a file.
	if dir.mode&sISVTX != 0 && !c.isOwner(n) && !c.isOwner(dir) {
		return syscall.EPERM
	}
	return 0
}

// canLink reports whether c may make a name for n. A user cannot keep another user's file alive without write permission
// (fs.protected_hardlinks, proc_sys_fs(5)).
func (c *Cred) canLink(n *inode) bool {
	safe := n.isFile() && n.mode&sISUID == 0 && n.mode&(sISGID|0o010) != sISGID|0o010
	return c.isOwner(n) || safe && c.may(n, MayRead|MayWrite) == 0
}

// Protect sets the protection of the file or directory at a path; a link is not followed. It is for the code that
// prepares a tree: no Cred is checked, and a Masked file changes only as far as needed to prevent
// reads. Snapshots and forks keep the protection, packs do not. Protect returns the previous one.
func (f *FS) Protect(path string, p Protection) (before Protection, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, e := f.find(&Cred{}, path, false)
	if e == 0 {
		n = f.own(n)
		before, n.protection = n.protection, p
	}
	return before, pathError("protect", path, e)
}
