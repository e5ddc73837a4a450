package vfs

import (
	"slices"
	"sync/atomic"
	"syscall"
)

// MountOptions say how a tree looks through a mount.
type MountOptions struct {
	ReadOnly bool // every change through the mount is EROFS
}

// mount is a tree on a directory of another.
type mount struct {
	ino     uint64 // of the directory, with born
	born    *epoch
	fs      *FS
	options MountOptions
}

// lastDevice numbers the trees that are mounted somewhere.
var lastDevice atomic.Uint64 //nolint:gochecknoglobals // A counter; nothing depends on its value.

// device returns the tree's number, which it keeps.
func (f *FS) device() uint64 {
	if f.number.Load() == 0 {
		f.number.CompareAndSwap(0, lastDevice.Add(1))
	}
	return f.number.Load()
}

// inoOn returns the number of a tree's inode where the tree is mounted. It is unique there, because
// not all look at Dev too.
func inoOn(dev, ino uint64) uint64 { return ino + dev%4096<<51 }

// Mount lets the directory at path show another tree, which stays independent: both see what the other
// writes, each has its own limits, and open files continue after an unmount. ".." leads out of it, links
// of it lead where they lead in f, and renames and hard links do not cross it (EXDEV). Until
// [FS.Unmount] the directory cannot be removed or renamed (EBUSY); its own content is hidden.
//
// Mounts belong to f alone: no snapshot, fork, pack or archive of f has them. One directory takes one mount,
// and the top of f none (EBUSY); a tree in which f is mounted cannot be mounted in f (ELOOP).
func (f *FS) Mount(path string, g *FS, o MountOptions) error {
	if g.isMounted(f) {
		return pathError("mount", path, syscall.ELOOP)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	n, e := f.find(&Cred{}, path, true)
	switch {
	case e == elsewhere:
		e = syscall.EBUSY
	case e != 0:
	case !n.isDir():
		e = syscall.ENOTDIR
	case n.ino == rootIno || n.generated:
		e = syscall.EBUSY
	}
	if e != 0 {
		return pathError("mount", path, e)
	}
	list := append(slices.Clip(f.mountList()), &mount{ino: n.ino, born: n.born, fs: g, options: o})
	f.mounts.Store(&list)
	return nil
}

// Unmount takes a mount away; EINVAL if there is none.
func (f *FS) Unmount(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	p, e := f.walk(&Cred{}, path, follow)
	if e == 0 && p.node == nil {
		e = p.missing()
	}
	if e == 0 && f.mountOn(p.node) == nil {
		e = syscall.EINVAL
	}
	if e == 0 {
		gone := f.mountOn(p.node)
		list := slices.DeleteFunc(slices.Clone(f.mountList()), func(m *mount) bool { return m == gone })
		f.mounts.Store(&list)
	}
	return pathError("unmount", path, e)
}

// Mounted is one mount.
type Mounted struct {
	Path string
	FS   *FS
	MountOptions
}

// Mounts returns the present mounts, in the order in which they were made.
func (f *FS) Mounts() []Mounted {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var all []Mounted
	for _, m := range f.mountList() {
		if n := f.inode(m.ino); n != nil && n.born == m.born { // else a Restore has removed its place
			all = append(all, Mounted{f.tree.path(n), m.fs, m.options})
		}
	}
	return all
}

func (m *mount) isReadOnly() bool { return m != nil && m.options.ReadOnly }

// number is the Dev of the mounted files.
func (m *mount) number() uint64 {
	if m == nil {
		return 0
	}
	return m.fs.device()
}

func (f *FS) mountList() []*mount {
	if list := f.mounts.Load(); list != nil {
		return *list
	}
	return nil
}

// mountOn returns the mount on a directory, nil if there is none.
func (f *FS) mountOn(n *inode) *mount {
	for _, m := range f.mountList() {
		if m.ino == n.ino && m.born == n.born {
			return m
		}
	}
	return nil
}

// hasOtherContent reports whether a directory shows other content than its own to c.
func (f *FS) hasOtherContent(c *Cred, n *inode) bool {
	return n.generated && c.Proc != nil || f.mounts.Load() != nil && f.mountOn(n) != nil
}

// isMounted reports whether h is f, or mounted in it.
func (f *FS) isMounted(h *FS) bool {
	return f == h || slices.ContainsFunc(f.mountList(), func(m *mount) bool { return m.fs.isMounted(h) })
}

// UsageOf returns the size of the tree that a path leads to: f's own, or one that is mounted.
func (f *FS) UsageOf(c Cred, path string) (Usage, error) {
	f.mu.RLock()
	_, e := f.find(&c, path, true)
	f.mu.RUnlock()
	if e == elsewhere {
		return runElsewhere(f, "statfs", &c, path, follow, func(g *FS, path string) (Usage, error) { return g.UsageOf(c, path) },
			func(*spot) (Usage, syscall.Errno) { return Usage{}, 0 })
	}
	if e != 0 {
		return Usage{}, pathError("statfs", path, e)
	}
	return f.Usage(), nil
}
