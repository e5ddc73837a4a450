package vfs

import (
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
)

// tree is the state that a snapshot retains.
type tree struct {
	inodes  trie[inode] // by number
	changed trie[inode] // of attached layers, by number from lowerBase on: what was changed or removed
	lower   *lowerTable // the rest of attached layers; shared by all trees of a family
	next    uint64      // number of the next inode
	bytes   int64       // set in snapshots only
	nodes   int64
}

// gone marks a removed inode in tree.changed.
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

// current returns the inode of a directory's entry, after a look at its layer if needed; nil: it
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

const (
	fanBits = 5
	fan     = 1 << fanBits
)

// epoch is an owner's mark: the holder of the mark that a part of a tree carries may
// change that part where it is; any other tree copies it first. Marks are compared by
// address, so that no two trees of one process ever share one.
type epoch struct{ _ byte }

// trie is a persistent sparse array. The zero trie is empty.
type trie[T any] struct {
	root   *trieNode[T]
	height int
}

// trieNode has kids above and leaf at the lowest level, fan of either.
type trieNode[T any] struct {
	owner *epoch
	used  int
	kids  []*trieNode[T]
	leaf  []*T
	sum   atomic.Pointer[Hash] // of the object it is saved as; only ever set in snapshots
}

// newTrieNode allocates the node together with its slots.
func newTrieNode[T any](owner *epoch, leaf bool) *trieNode[T] {
	if leaf {
		n := &struct {
			trieNode[T]
			slots [fan]*T
		}{}
		n.owner, n.leaf = owner, n.slots[:]
		return &n.trieNode
	}
	n := &struct {
		trieNode[T]
		slots [fan]*trieNode[T]
	}{}
	n.owner, n.kids = owner, n.slots[:]
	return &n.trieNode
}

func (n *trieNode[T]) own(owner *epoch) *trieNode[T] {
	if n.owner == owner {
		return n
	}
	c := newTrieNode[T](owner, n.leaf != nil)
	c.used = n.used
	copy(c.kids, n.kids)
	copy(c.leaf, n.leaf)
	return c
}

// at returns the value at i, nil if there is none.
func (t *trie[T]) at(i uint64) *T {
	n, h := t.root, t.height
	if n == nil || i>>(fanBits*h) != 0 {
		return nil
	}
	for h--; h > 0; h-- {
		if n = n.kids[i>>(fanBits*h)%fan]; n == nil {
			return nil
		}
	}
	return n.leaf[i%fan]
}

// set puts v at i; nil removes the value.
func (t *trie[T]) set(owner *epoch, i uint64, v *T) {
	if v == nil {
		if t.at(i) != nil {
			t.root = t.root.remove(owner, i, t.height-1)
		}
		if t.root == nil {
			t.height = 0
		}
		return
	}
	if t.root == nil {
		for t.height = 1; i>>(fanBits*t.height) != 0; {
			t.height++
		}
		t.root = newTrieNode[T](owner, t.height == 1)
	}
	for i>>(fanBits*t.height) != 0 {
		up := newTrieNode[T](owner, false)
		up.kids[0], up.used = t.root, 1
		t.root = up
		t.height++
	}
	t.root = t.root.own(owner)
	n := t.root
	for h := t.height - 1; h > 0; h-- {
		at := &n.kids[i>>(fanBits*h)%fan]
		if *at == nil {
			*at = newTrieNode[T](owner, h == 1)
			n.used++
		} else {
			*at = (*at).own(owner)
		}
		n = *at
	}
	if n.leaf[i%fan] == nil {
		n.used++
	}
	n.leaf[i%fan] = v
}

// remove takes out i, which exists, and returns nil for a node left empty.
func (n *trieNode[T]) remove(owner *epoch, i uint64, h int) *trieNode[T] {
	n = n.own(owner)
	if h == 0 {
		n.leaf[i%fan] = nil
		n.used--
	} else {
		at := &n.kids[i>>(fanBits*h)%fan]
		if *at = (*at).remove(owner, i, h-1); *at == nil {
			n.used--
		}
	}
	if n.used == 0 {
		return nil
	}
	return n
}

// each calls fn for every value from index from on, in order, until fn returns false.
func (t *trie[T]) each(from uint64, fn func(i uint64, v *T) bool) {
	if t.root != nil {
		t.root.each(0, from, t.height-1, fn)
	}
}

func (n *trieNode[T]) each(base, from uint64, h int, fn func(uint64, *T) bool) bool {
	if h == 0 {
		for k, v := range n.leaf {
			if i := base + uint64(k); v != nil && i >= from && !fn(i, v) {
				return false
			}
		}
		return true
	}
	span := uint64(1) << (fanBits * h)
	for k, kid := range n.kids {
		if b := base + uint64(k)*span; kid != nil && b+span > from && !kid.each(b, from, h-1, fn) {
			return false
		}
	}
	return true
}

// cut removes every value from index from on.
func (t *trie[T]) cut(owner *epoch, from uint64) {
	if from == 0 {
		*t = trie[T]{}
		return
	}
	var gone []uint64
	t.each(from, func(i uint64, _ *T) bool {
		gone = append(gone, i)
		return true
	})
	for _, i := range slices.Backward(gone) {
		t.set(owner, i, nil)
	}
}
