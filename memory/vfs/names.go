package vfs

import (
	"slices"
	"sort"
	"strings"
	"sync/atomic"
)

const nodeNames = 64 // entries or kids of one node of a directory's tree

// dirent is a directory entry. ref holds the inode's number and, in its
// lowest four bits, the inode's type.
type dirent struct {
	name string
	ref  uint64
}

func newRef(ino uint64, mode uint32) uint64 { return ino<<4 | uint64(mode>>12) }

func (e dirent) ino() uint64  { return e.ref >> 4 }
func (e dirent) kind() uint32 { return uint32(e.ref&0xf) << 12 }

// names is a directory's content: a persistent B+ tree in the order of the names.
// The zero value is empty.
type names struct {
	root *nameNode
	n    int
}

// nameNode is a leaf with entries, or has kids. keys[i] is at most every name below
// kids[i] and above every name below kids[i-1]; keys[0] is not looked at.
type nameNode struct {
	owner *epoch
	ents  []dirent
	keys  []string
	kids  []*nameNode
	sum   atomic.Pointer[Hash] // of the object it is saved as; only ever set in snapshots
}

func (n *nameNode) own(owner *epoch) *nameNode {
	if n.owner == owner {
		return n
	}
	c := &nameNode{owner: owner}
	if n.kids != nil {
		c.keys = append(make([]string, 0, len(n.keys)+1), n.keys...)
		c.kids = append(make([]*nameNode, 0, len(n.kids)+1), n.kids...)
	} else {
		c.ents = append(make([]dirent, 0, len(n.ents)+2), n.ents...)
	}
	return c
}

func (n *nameNode) size() int {
	if n.kids != nil {
		return len(n.kids)
	}
	return len(n.ents)
}

// find returns where name is, or belongs, in a leaf.
func (n *nameNode) find(name string) (int, bool) {
	lo, hi := 0, len(n.ents)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := strings.Compare(n.ents[mid].name, name); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// kid returns the index of the kid under which name belongs.
func (n *nameNode) kid(name string) int {
	return sort.Search(len(n.kids)-1, func(i int) bool { return n.keys[i+1] > name })
}

// lookup returns the entry called name.
func (d *names) lookup(name string) (dirent, bool) {
	n := d.root
	if n == nil {
		return dirent{}, false
	}
	for n.kids != nil {
		n = n.kids[n.kid(name)]
	}
	i, ok := n.find(name)
	if !ok {
		return dirent{}, false
	}
	return n.ents[i], true
}

// set adds an entry or changes the inode of its name.
func (d *names) set(owner *epoch, e dirent) {
	if d.root == nil {
		d.root = &nameNode{owner: owner}
	}
	d.root = d.root.own(owner)
	added, right := d.root.set(owner, e)
	if added {
		d.n++
	}
	if right != nil {
		left := d.root
		d.root = &nameNode{owner: owner, keys: []string{"", right.least()}, kids: []*nameNode{left, right}}
	}
}

// set changes n, which its caller owns, and returns its right half if it became too big.
func (n *nameNode) set(owner *epoch, e dirent) (added bool, right *nameNode) {
	if n.kids == nil {
		i, found := n.find(e.name)
		if found {
			n.ents[i].ref = e.ref
			return false, nil
		}
		n.ents = slices.Insert(n.ents, i, e)
		return true, n.split(owner, i)
	}
	i := n.kid(e.name)
	n.kids[i] = n.kids[i].own(owner)
	added, half := n.kids[i].set(owner, e)
	if half != nil {
		n.kids = slices.Insert(n.kids, i+1, half)
		n.keys = slices.Insert(n.keys, i+1, half.least())
	}
	return added, n.split(owner, i+1)
}

// split halves n if it is too big; last is the index that was added. One who adds
// names in order leaves full nodes behind.
func (n *nameNode) split(owner *epoch, last int) *nameNode {
	if n.size() <= nodeNames {
		return nil
	}
	at := n.size() / 2
	if last == n.size()-1 {
		at = last
	}
	right := &nameNode{owner: owner}
	if n.kids != nil {
		right.kids, right.keys = slices.Clone(n.kids[at:]), slices.Clone(n.keys[at:])
		clear(n.kids[at:])
		clear(n.keys[at:])
		n.kids, n.keys = n.kids[:at], n.keys[:at]
	} else {
		right.ents = slices.Clone(n.ents[at:])
		clear(n.ents[at:])
		n.ents = n.ents[:at]
	}
	return right
}

// least is a name that is at most every name in n and above all names before n.
func (n *nameNode) least() string {
	if n.kids != nil {
		if n.keys[0] != "" {
			return n.keys[0]
		}
		return n.kids[0].least()
	}
	return n.ents[0].name
}

// remove takes out name, which exists.
func (d *names) remove(owner *epoch, name string) {
	d.n--
	if d.n == 0 {
		d.root = nil
		return
	}
	d.root = d.root.own(owner)
	d.root.remove(owner, name)
	for len(d.root.kids) == 1 {
		d.root = d.root.kids[0]
	}
}

func (n *nameNode) remove(owner *epoch, name string) {
	if n.kids == nil {
		if i, ok := n.find(name); ok {
			n.ents = slices.Delete(n.ents, i, i+1)
		}
		return
	}
	i := n.kid(name)
	n.kids[i] = n.kids[i].own(owner)
	n.kids[i].remove(owner, name)
	n.mend(owner, i)
}

// mend joins kid i with a neighbour once both fit well into one node, so that a
// directory that shrinks gives its memory back.
func (n *nameNode) mend(owner *epoch, i int) {
	if n.kids[i].size() >= nodeNames/4 || len(n.kids) == 1 {
		return
	}
	if i == len(n.kids)-1 {
		i--
	}
	left, right := n.kids[i], n.kids[i+1]
	if left.size()+right.size() > nodeNames*3/4 && left.size() != 0 && right.size() != 0 {
		return
	}
	left = left.own(owner)
	if left.kids != nil {
		at := len(left.keys)
		left.kids, left.keys = append(left.kids, right.kids...), append(left.keys, right.keys...)
		left.keys[at] = n.keys[i+1]
	} else {
		left.ents = append(left.ents, right.ents...)
	}
	n.kids[i] = left
	n.kids = slices.Delete(n.kids, i+1, i+2)
	n.keys = slices.Delete(n.keys, i+1, i+2)
}

// each calls fn for every entry with a name above after, in order, until fn returns
// false. The empty string is below every name.
func (d *names) each(after string, fn func(dirent) bool) {
	if d.root != nil {
		d.root.each(after, fn)
	}
}

func (n *nameNode) each(after string, fn func(dirent) bool) bool {
	if n.kids != nil {
		for _, kid := range n.kids[n.kid(after):] {
			if !kid.each(after, fn) {
				return false
			}
		}
		return true
	}
	i, found := n.find(after)
	if found {
		i++
	}
	for _, e := range n.ents[i:] {
		if !fn(e) {
			return false
		}
	}
	return true
}
