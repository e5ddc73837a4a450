package vfs

import "syscall"

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

	link  link    // where it is, unless nlink is 0; a directory's only one
	links *[]link // its further names; the slice is never changed in place

	content        // of a regular file
	names   names  // of a directory, unless it is lazy
	target  string // of a symbolic link

	// Of attached layers. An inode in their table has no owner, and an origin.
	lazy   *lazyDir // the names of a directory that was not changed
	origin *origin
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

// fix makes the names of a directory changeable. The caller owns n and has seen dir succeed.
func (n *inode) fix() {
	if n.lazy == nil {
		return
	}
	if d := n.lazy.names.Load(); d != nil {
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

// addLink notes a name; the caller owns n.
func (n *inode) addLink(l link) {
	if n.link.name == "" {
		n.link = l
		return
	}
	more := []link{l}
	if n.links != nil {
		more = append(more, *n.links...)
	}
	n.links = &more
}

// dropLink forgets a name; the caller owns n.
func (n *inode) dropLink(l link) {
	if n.links == nil {
		n.link = link{}
		return
	}
	rest := make([]link, 0, len(*n.links))
	for _, o := range *n.links {
		if o != l {
			rest = append(rest, o)
		}
	}
	if n.link == l {
		n.link, rest = rest[0], rest[1:]
	}
	if n.links = &rest; len(rest) == 0 {
		n.links = nil
	}
}
