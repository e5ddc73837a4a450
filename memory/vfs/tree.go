package vfs

import (
	"slices"
	"strings"
	"syscall"
)

// tree is what a snapshot retains.
type tree struct {
	inodes  trie[inode] // by number
	changed trie[inode] // of attached layers, by number from lowerBase on: what was changed or removed
	lower   *lowerTable // the rest of attached layers; shared by all trees of a family
	next    uint64      // number of the next inode
	bytes   int64       // set in snapshots only
	nodes   int64
}

// gone stands in tree.changed for what was removed.
var gone inode

// inode returns the current version of an inode, nil if there is none.
func (t *tree) inode(ino uint64) *inode {
	if ino < lowerBase {
		return t.inodes.at(ino)
	}
	switch n := t.changed.at(ino - lowerBase); n {
	case nil:
		return t.lower.at(ino - lowerBase)
	case &gone:
		return nil
	default:
		return n
	}
}

// set makes n the current version.
func (t *tree) set(owner *epoch, n *inode) {
	if n.ino < lowerBase {
		t.inodes.set(owner, n.ino, n)
	} else {
		t.changed.set(owner, n.ino-lowerBase, n)
	}
}

// remove takes an inode out.
func (t *tree) remove(owner *epoch, ino uint64) {
	if ino < lowerBase {
		t.inodes.set(owner, ino, nil)
	} else {
		t.changed.set(owner, ino-lowerBase, &gone)
	}
}

// current returns what an entry of a directory stands for, looking at its layer if need be; nil: it
// is there no more.
func (t *tree) current(e dirent) (*inode, syscall.Errno) {
	n := t.inode(e.ino())
	if n == nil || n.owner != nil {
		return n, 0
	}
	n, bad := n.fresh()
	if bad == syscall.ENOENT {
		return nil, 0 // removed just now
	}
	return n, bad
}

// child looks a name up; nil if the directory cannot be read.
func (t *tree) child(dir *inode, name string) *inode {
	d, e := dir.dir()
	if e != 0 {
		return nil
	}
	ent, ok := d.lookup(name)
	if !ok {
		return nil
	}
	return t.inode(ent.ino())
}

// lookup resolves a clean path without following links.
func (t *tree) lookup(p string) *inode {
	n := t.inode(rootIno)
	for part := range strings.SplitSeq(p[1:], "/") {
		if part == "" {
			continue
		}
		if n == nil || !n.isDir() {
			return nil
		}
		n = t.child(n, part)
	}
	return n
}

// path returns a path of n, the first that it got if it has several.
func (t *tree) path(n *inode) string {
	var parts []string
	for n.ino != rootIno {
		parts = append(parts, n.link.name)
		if n = t.inode(n.link.dir); n == nil {
			return ""
		}
	}
	var b strings.Builder
	for _, part := range slices.Backward(parts) {
		b.WriteByte('/')
		b.WriteString(part)
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}
