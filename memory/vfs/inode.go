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
// succeed. From now on the directory of the layer is for all trees as this one saw it, so that what
// was changed in it can be told from what changes outside.
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

// cost is what the inode counts against Limits.Bytes.
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
