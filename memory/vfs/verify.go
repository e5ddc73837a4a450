package vfs

import "strings"

// verify checks that a tree that was read is one that could have been made by the
// operations of a file system, and sums up its bytes and nodes.
func (t *tree) verify() error {
	top := t.inodes.at(rootIno)
	if top == nil || !top.isDir() || top.link != (link{rootIno, "/"}) || top.links != nil {
		return corrupt("no root directory")
	}
	v := &verifier{tree: t}
	t.inodes.each(0, func(_ uint64, n *inode) bool {
		v.err = v.inode(n)
		return v.err == nil
	})
	if v.err != nil {
		return v.err
	}
	if err := v.below(top); err != nil {
		return err
	}
	if v.inodes != v.reached {
		return corrupt("%d of %d inodes are not in any directory", v.inodes-v.reached, v.inodes)
	}
	t.nodes, t.bytes = v.inodes+v.more, v.bytes
	return nil
}

type verifier struct {
	tree    *tree
	inodes  int64
	more    int64 // names beyond an inode's first
	reached int64 // inodes that a directory leads to
	bytes   int64
	err     error
}

// inode checks what can be said of an inode alone.
func (v *verifier) inode(n *inode) error {
	links := int(n.countLinks())
	v.inodes++
	v.more += int64(links - 1)
	v.bytes += n.cost()
	switch {
	case n.ino == 0 || n.ino >= v.tree.next:
		return corrupt("inode number %d", n.ino)
	case n.mode&^(sIFMT|perms) != 0:
		return corrupt("inode %d has mode %o", n.ino, n.mode)
	case v.bytes < 0 || v.bytes > endless:
		return corrupt("too many bytes")
	}
	switch n.mode & sIFMT {
	case sIFREG, sIFIFO, sIFCHR, sIFBLK:
	case sIFLNK:
		if n.target == "" || len(n.target) > maxPath || strings.IndexByte(n.target, 0) >= 0 {
			return corrupt("target of inode %d", n.ino)
		}
	case sIFDIR:
		if links != 1 {
			return corrupt("directory %d has several names", n.ino)
		}
		return nil // its links are counted later
	default:
		return corrupt("inode %d has mode %o", n.ino, n.mode)
	}
	if int(n.nlink) != links {
		return corrupt("inode %d has %d names and says %d", n.ino, links, n.nlink)
	}
	return nil
}

// below checks a directory and all below it. Every name must be one that its inode
// knows; as a directory knows only one, no directory is met twice.
func (v *verifier) below(n *inode) error {
	v.reached++
	last, subdirs := "", uint32(2)
	var err error
	n.names.each("", func(e dirent) bool {
		kid := v.tree.inodes.at(e.ino())
		switch {
		case e.name <= last || badName(e.name):
			err = corrupt("name %q in directory %d", e.name, n.ino)
		case kid == nil || kid.mode&sIFMT != e.kind():
			err = corrupt("%q leads to no inode of its type", e.name)
		case !kid.has(link{n.ino, e.name}):
			err = corrupt("inode %d does not know its name %q", kid.ino, e.name)
		case kid.isDir():
			subdirs++
			err = v.below(kid)
		case kid.link == (link{n.ino, e.name}):
			v.reached++
		}
		last = e.name
		return err == nil
	})
	if err == nil && n.nlink != subdirs {
		err = corrupt("directory %d has %d links", n.ino, n.nlink)
	}
	if err == nil && n.names.root != nil {
		err = n.names.root.keysHold()
	}
	return err
}

func badName(s string) bool {
	return s == "" || s == "." || s == ".." || len(s) > maxName || strings.ContainsAny(s, "/\x00")
}

// keysHold checks that every name is found where the keys lead.
func (n *nameNode) keysHold() error {
	for i, kid := range n.kids {
		if i > 0 && (n.keys[i] > kid.lowest() || n.keys[i] <= n.kids[i-1].highest()) {
			return corrupt("key %q of a directory", n.keys[i])
		}
		if err := kid.keysHold(); err != nil {
			return err
		}
	}
	return nil
}

func (n *nameNode) lowest() string {
	for n.kids != nil {
		n = n.kids[0]
	}
	return n.ents[0].name
}

func (n *nameNode) highest() string {
	for n.kids != nil {
		n = n.kids[len(n.kids)-1]
	}
	return n.ents[len(n.ents)-1].name
}
