package vfs

import (
	"bytes"
	"slices"
	"strings"
)

// ChangeKind is the kind of a change of a path.
type ChangeKind uint8

// The kinds of [Change].
const (
	Created  ChangeKind = iota + 1
	Modified            // content, permissions, owner, target, device; time of modification, but for directories
	Deleted
	Retyped // something of another type is there
)

// String returns the kind as one lower-case word.
func (k ChangeKind) String() string {
	switch k {
	case Created:
		return "created"
	case Modified:
		return "modified"
	case Deleted:
		return "deleted"
	case Retyped:
		return "retyped"
	}
	return "unknown"
}

// Change is one path that differs between two snapshots.
type Change struct {
	Path string
	Kind ChangeKind
	Old  Info // zero if Created
	New  Info // zero if Deleted
	// Content says of a Modified path that its content or target differs, or may
	// differ, and not only its Info.
	Content bool
}

// Diff returns what changed from a to b, in the order of the paths' components. Parts
// that the two share are not looked at. What was renamed is deleted and created.
func Diff(a, b *Snapshot) []Change { return DiffExcept(a, b, nil) }

// DiffExcept is Diff without the paths for which skip returns true, and all that is below them; nil skips nothing.
func DiffExcept(a, b *Snapshot, skip func(path string) bool) []Change {
	d := &differ{a: &a.tree, b: &b.tree, skip: skip, touched: map[uint64][]dirent{}}
	d.mark()
	d.pair("/", d.a.inode(rootIno), d.b.inode(rootIno))
	return d.changes
}

type differ struct {
	a, b    *tree
	skip    func(path string) bool
	touched map[uint64][]dirent // by directory: entries below which something changed
	seen    [2]map[uint64]bool
	changes []Change
}

// mark notes all directories on the way to an inode that changed.
func (d *differ) mark() {
	d.seen = [2]map[uint64]bool{{}, {}}
	both := func(old, now *inode) {
		if old != nil {
			d.markUp(0, d.a, old)
		}
		if now != nil {
			d.markUp(1, d.b, now)
		}
	}
	diffTries(&d.a.inodes, &d.b.inodes, both)
	diffTries(&d.a.changed, &d.b.changed, func(old, now *inode) {
		ino := uint64(0)
		for _, n := range []*inode{old, now} {
			if n != nil && n != &gone {
				ino = n.ino
			}
		}
		if ino != 0 { // else removed on one side: its directory is another too
			both(d.a.inode(ino), d.b.inode(ino))
		}
	})
}

func (d *differ) markUp(side int, t *tree, n *inode) {
	for n != nil && !d.seen[side][n.ino] {
		d.seen[side][n.ino] = true
		if n.links != nil {
			n.eachLink(func(l link) bool {
				d.touched[l.dir] = append(d.touched[l.dir], dirent{l.name, newRef(n.ino, n.mode)})
				d.markUp(side, t, t.inode(l.dir))
				return true
			})
			return
		}
		if n.ino == rootIno {
			return
		}
		d.touched[n.link.dir] = append(d.touched[n.link.dir], dirent{n.link.name, newRef(n.ino, n.mode)})
		n = t.inode(n.link.dir)
	}
}

// pair compares the inodes at one path in both trees; either may be nil.
func (d *differ) pair(path string, old, now *inode) {
	if d.skip != nil && d.skip(path) {
		return
	}
	switch {
	case old == now:
		// The same version: entries below may still have changed.
		if old != nil && old.isDir() {
			d.children(path, old, now)
		}
	case now == nil:
		d.add(path, Deleted, old, nil)
		d.whole(path, old, false)
	case old == nil:
		d.add(path, Created, nil, now)
		d.whole(path, now, true)
	case old.mode&sIFMT != now.mode&sIFMT:
		d.add(path, Retyped, old, now)
		d.whole(path, old, false)
		d.whole(path, now, true)
	default:
		if content := !hasSameContent(&old.content, &now.content) || old.target != now.target; content || isModified(old, now) {
			d.add(path, Modified, old, now)
			d.changes[len(d.changes)-1].Content = content
		}
		if old.isDir() {
			d.children(path, old, now)
		}
	}
}

func (d *differ) add(path string, kind ChangeKind, old, now *inode) {
	c := Change{Path: path, Kind: kind}
	if old != nil {
		c.Old = old.info(path)
	}
	if now != nil {
		c.New = now.info(path)
	}
	d.changes = append(d.changes, c)
}

// whole adds all below a directory that is only in one of the trees.
func (d *differ) whole(path string, n *inode, created bool) {
	t := d.a
	if created {
		t = d.b
	}
	names, bad := n.dir()
	if !n.isDir() || bad != 0 {
		return
	}
	names.each("", func(e dirent) bool {
		if kid := t.inode(e.ino()); created {
			d.pair(join(path, e.name), nil, kid)
		} else {
			d.pair(join(path, e.name), kid, nil)
		}
		return true
	})
}

// children compares two directories at one path.
func (d *differ) children(path string, old, now *inode) {
	var differing []string
	x, bad := old.dir()
	y, worse := now.dir()
	if bad != 0 || worse != 0 {
		return // unreadable below, and so unchanged
	}
	if old.ino == now.ino {
		diffNames(x.root, y.root, func(name string) { differing = append(differing, name) })
		for _, e := range d.touched[old.ino] {
			differing = append(differing, e.name)
		}
	} else {
		// Two directories that have nothing to do with each other.
		all := func(e dirent) bool {
			differing = append(differing, e.name)
			return true
		}
		x.each("", all)
		y.each("", all)
	}
	slices.Sort(differing)
	for _, name := range slices.Compact(differing) {
		d.pair(join(path, name), d.a.child(old, name), d.b.child(now, name))
	}
}

// isModified compares the attributes of two inodes of one type, without their content.
func isModified(a, b *inode) bool {
	return a.mode != b.mode || a.uid != b.uid || a.gid != b.gid || a.rdev != b.rdev || !a.isDir() && a.mtime != b.mtime
}

func hasSameContent(a, b *content) bool {
	if a.size != b.size || a.lower != b.lower || !isSameChunk(a.first, b.first) {
		return false
	}
	same := a.lower == nil || a.first == b.first
	diffTries(&a.rest, &b.rest, func(x, y *chunk) { same = same && a.lower == nil && isSameChunk(x, y) })
	return same
}

func isSameChunk(x, y *chunk) bool {
	if x == y {
		return true
	}
	var p, q []byte
	if x != nil {
		p = x.data
	}
	if y != nil {
		q = y.data
	}
	if len(p) > len(q) {
		p, q = q, p
	}
	return bytes.Equal(p, q[:len(p)]) && len(bytes.Trim(q[len(p):], "\x00")) == 0
}

// diffTries calls fn for every index at which the two differ, skipping shared nodes.
func diffTries[T any](a, b *trie[T], fn func(x, y *T)) {
	ar, ah, br, bh := a.root, a.height, b.root, b.height
	// Bring both to one height: a lower trie is the first kid of a higher one.
	for ah < bh {
		if ar != nil {
			up := newTrieNode[T](nil, false)
			up.kids[0] = ar
			ar = up
		}
		ah++
	}
	for bh < ah {
		if br != nil {
			up := newTrieNode[T](nil, false)
			up.kids[0] = br
			br = up
		}
		bh++
	}
	diffTrieNodes(ar, br, fn)
}

func diffTrieNodes[T any](a, b *trieNode[T], fn func(x, y *T)) {
	if a == b {
		return
	}
	for i := range fan {
		if a != nil && a.leaf != nil || b != nil && b.leaf != nil {
			var x, y *T
			if a != nil {
				x = a.leaf[i]
			}
			if b != nil {
				y = b.leaf[i]
			}
			if x != y {
				fn(x, y)
			}
			continue
		}
		var x, y *trieNode[T]
		if a != nil {
			x = a.kids[i]
		}
		if b != nil {
			y = b.kids[i]
		}
		diffTrieNodes(x, y, fn)
	}
}

// nameCursor walks a directory's tree: the rest of it is a stack of nodes and
// entries, the next one last.
type nameCursor struct {
	stack []nameItem
}

// nameItem is a node that was not entered yet, or an entry.
type nameItem struct {
	node   *nameNode
	height int
	ent    dirent
}

func newNameCursor(root *nameNode) *nameCursor {
	if root == nil {
		return &nameCursor{}
	}
	h := 1
	for n := root; n.kids != nil; n = n.kids[0] {
		h++
	}
	return &nameCursor{[]nameItem{{node: root, height: h}}}
}

func (c *nameCursor) top() *nameItem {
	if len(c.stack) == 0 {
		return nil
	}
	return &c.stack[len(c.stack)-1]
}

func (c *nameCursor) pop() { c.stack = c.stack[:len(c.stack)-1] }

// enter replaces the node on top by its children.
func (c *nameCursor) enter() {
	it := *c.top()
	c.pop()
	for _, kid := range slices.Backward(it.node.kids) {
		c.stack = append(c.stack, nameItem{node: kid, height: it.height - 1})
	}
	for _, e := range slices.Backward(it.node.ents) {
		c.stack = append(c.stack, nameItem{ent: e})
	}
}

// diffNames calls fn for every name that only one of the two has, or that stands for
// different inodes, skipping nodes that they share.
func diffNames(a, b *nameNode, fn func(name string)) {
	x, y := newNameCursor(a), newNameCursor(b)
	for {
		s, t := x.top(), y.top()
		switch {
		case s == nil && t == nil:
			return
		case s != nil && t != nil && s.node != nil && s.node == t.node:
			x.pop()
			y.pop()
		case s != nil && s.node != nil && (t == nil || t.node == nil || s.height >= t.height):
			x.enter()
		case t != nil && t.node != nil:
			y.enter()
		case t == nil || s != nil && s.ent.name < t.ent.name:
			fn(s.ent.name)
			x.pop()
		case s == nil || strings.Compare(s.ent.name, t.ent.name) > 0:
			fn(t.ent.name)
			y.pop()
		default:
			if s.ent.ref != t.ent.ref {
				fn(s.ent.name)
			}
			x.pop()
			y.pop()
		}
	}
}
