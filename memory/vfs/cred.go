package vfs

import (
	"slices"
	"syscall"
)

// Cred says who acts. UID 0 is root, whom modes do not bind.
type Cred struct {
	UID, GID uint32
	Groups   []uint32 // further groups
	// Proc is what directories show to him that FS.Generate has marked; nil: what they hold.
	Proc Generated
}

// Bits of the mask of [FS.Access]. Zero asks only whether the file exists.
const (
	MayExec  = 1
	MayWrite = 2
	MayRead  = 4
)

func (c *Cred) root() bool { return c.UID == 0 }

func (c *Cred) in(gid uint32) bool { return c.GID == gid || slices.Contains(c.Groups, gid) }

// owns reports whether c may do what only an inode's owner may.
func (c *Cred) owns(n *inode) bool { return c.UID == 0 || c.UID == n.uid }

// may checks mask against n's mode: EACCES, or zero.
func (c *Cred) may(n *inode, mask uint32) syscall.Errno {
	if mask&MayWrite != 0 && n.readOnly() && n.mode&sIFMT != sIFIFO {
		return syscall.EROFS
	}
	if n.protection == Masked && mask != 0 && !n.isDir() {
		return syscall.EACCES
	}
	if c.root() {
		// Even root runs only what somebody may run.
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
	// In a directory like /tmp nobody takes away what is another's.
	if dir.mode&sISVTX != 0 && !c.owns(n) && !c.owns(dir) {
		return syscall.EPERM
	}
	return 0
}

// mayLink reports whether c may make a name for n. Nobody keeps a file of another alive
// that he cannot even write (fs.protected_hardlinks, proc_sys_fs(5)).
func (c *Cred) mayLink(n *inode) bool {
	safe := n.isFile() && n.mode&sISUID == 0 && n.mode&(sISGID|0o010) != sISGID|0o010
	return c.owns(n) || safe && c.may(n, MayRead|MayWrite) == 0
}
