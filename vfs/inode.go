package vfs

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
	names   names  // of a directory
	target  string // of a symbolic link
}

// link is a name of an inode: the directory that holds it, and how it is called there.
type link struct {
	dir  uint64
	name string
}

func (n *inode) isDir() bool  { return n.mode&sIFMT == sIFDIR }
func (n *inode) isLink() bool { return n.mode&sIFMT == sIFLNK }
func (n *inode) isFile() bool { return n.mode&sIFMT == sIFREG }

// cost is what the inode counts against Limits.Bytes.
func (n *inode) cost() int64 { return n.held + int64(len(n.target)) }

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
