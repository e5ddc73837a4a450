package vfs

import (
	"errors"
	"fmt"
)

// Check returns what is inconsistent in the tree; there should be nothing.
func (f *FS) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := &checker{f: f, links: map[uint64]map[link]bool{}}
	c.tries()
	c.dir(f.inode(rootIno), map[uint64]bool{})
	c.inodes()
	c.reload()
	for v := range f.orphans {
		c.bytes += v.orphan.cost()
		if v.ino < lowerBase {
			c.nodes++
		}
	}
	if got := f.bytes.Load(); got != c.bytes {
		c.fault("bytes: accounted %d, there are %d", got, c.bytes)
	}
	if got := f.nodes.Load(); got != c.nodes {
		c.fault("nodes: accounted %d, there are %d", got, c.nodes)
	}
	return errors.Join(c.faults...)
}

type checker struct {
	f            *FS
	links        map[uint64]map[link]bool // by inode: the names that lead to it
	bytes, nodes int64
	faults       []error
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

func (c *checker) tries() {
	var used func(n *trieNode[inode]) int
	used = func(n *trieNode[inode]) int {
		k := 0
		for _, kid := range n.kids {
			if kid != nil {
				k++
				used(kid)
			}
		}
		for _, v := range n.leaf {
			if v != nil {
				k++
			}
		}
		if k != n.used || k == 0 {
			c.fault("trie node: used %d, has %d", n.used, k)
		}
		return k
	}
	for _, t := range []*trie[inode]{&c.f.tree.inodes, &c.f.tree.changed} {
		if t.root != nil {
			used(t.root)
		}
	}
}

// dir checks what is below n.
func (c *checker) dir(n *inode, above map[uint64]bool) {
	if above[n.ino] {
		c.fault("directory %d is below itself", n.ino)
		return
	}
	above[n.ino] = true
	defer delete(above, n.ino)
	d, e := n.dir()
	if e != 0 {
		c.fault("directory %d: %v", n.ino, e)
		return
	}
	c.nameNodes(d)
	last, count, dirs := "", 0, 2
	d.each("", func(e dirent) bool {
		if e.name <= last {
			c.fault("%q comes after %q", e.name, last)
		}
		last = e.name
		count++
		kid := c.f.inode(e.ino())
		if kid == nil {
			c.fault("%q leads to inode %d, which is missing", e.name, e.ino())
			return true
		}
		if kid.mode&sIFMT != e.kind() {
			c.fault("%q has type %o, its inode %o", e.name, e.kind(), kid.mode)
		}
		if c.links[kid.ino] == nil {
			c.links[kid.ino] = map[link]bool{}
		}
		c.links[kid.ino][link{n.ino, e.name}] = true
		if kid.isDir() {
			dirs++
			c.dir(kid, above)
		}
		return true
	})
	if count != d.n {
		c.fault("directory %d: counted %d, has %d", n.ino, d.n, count)
	}
	if n.lazy == nil && int(n.nlink) != dirs {
		c.fault("directory %d: nlink %d, should be %d", n.ino, n.nlink, dirs)
	}
}

// nameNodes checks the shape of a directory's tree.
func (c *checker) nameNodes(d *names) {
	var walk func(n *nameNode, depth int) int
	walk = func(n *nameNode, depth int) int {
		if n.size() > nodeNames || n.size() == 0 {
			c.fault("node of %d names", n.size())
		}
		h := 1
		for i, kid := range n.kids {
			k := walk(kid, depth+1)
			if i > 0 && k+1 != h {
				c.fault("kids of heights %d and %d", h-1, k)
			}
			h = k + 1
			if i > 0 {
				kid.each("", func(e dirent) bool {
					if e.name < n.keys[i] {
						c.fault("%q below key %q", e.name, n.keys[i])
					}
					return true
				})
			}
		}
		if len(n.kids) != len(n.keys) {
			c.fault("%d kids, %d keys", len(n.kids), len(n.keys))
		}
		return h
	}
	if d.root != nil {
		walk(d.root, 0)
	}
}

// inodes checks each inode against the names that lead to it, and sums them up.
func (c *checker) inodes() {
	each := func(_ uint64, n *inode) bool {
		if n == &gone {
			return true
		}
		c.bytes += n.cost()
		names := int(n.nlink)
		if n.isDir() {
			names = 1
		}
		if n.ino < lowerBase {
			c.nodes++
		}
		c.nodes += int64(names - 1)
		if n.ino == rootIno {
			return true
		}
		seen := c.links[n.ino]
		if len(seen) != names {
			c.fault("inode %d: %d names, should be %d", n.ino, len(seen), names)
		}
		n.eachLink(func(l link) bool {
			if !seen[l] {
				c.fault("inode %d does not have the name %v", n.ino, l)
			}
			return true
		})
		if n.isFile() {
			if want := n.heldNow(); n.held != want {
				c.fault("inode %d: held %d, has %d of %d", n.ino, n.held, want, n.size)
			}
		}
		return true
	}
	c.f.tree.inodes.each(0, each)
	c.f.tree.changed.each(0, each)
}

// heldNow sums up the chunks.
func (c *content) heldNow() int64 {
	held := int64(0)
	if c.first != nil {
		held = span(c.size, 0)
	}
	c.rest.each(0, func(i uint64, _ *chunk) bool {
		held += span(c.size, i)
		return true
	})
	return held
}

// reload saves the tree and loads it again, which verifies it too.
func (c *checker) reload() {
	s := &Snapshot{c.f.freeze()}
	objects := map[Hash][]byte{}
	h, err := s.Save(nil, func(h Hash, p []byte) error {
		objects[h] = append([]byte(nil), p...)
		return nil
	})
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	var again *Snapshot
	if err == nil {
		again, err = Load(h, func(h Hash) ([]byte, error) { return objects[h], nil }, Limits{-1, -1, -1})
	}
	if err != nil {
		c.fault("save and load: %v", err)
		return
	}
	if d := Diff(s, again); len(d) > 0 {
		c.fault("saved and loaded: %v", d)
	}
	if s.tree.bytes != again.tree.bytes || s.tree.nodes != again.tree.nodes {
		c.fault("saved %d bytes %d nodes, loaded %d and %d", s.tree.bytes, s.tree.nodes, again.tree.bytes, again.tree.nodes)
	}
}
