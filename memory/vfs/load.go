package vfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrCorrupt is inside the errors of [Load] and [ReadPack] if the input was not written by this package or has changed.
var ErrCorrupt = errors.New("vfs: corrupt")

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}

// Load returns the snapshot that [Snapshot.Save] returned the hash of. get returns an
// object, which it then leaves as it is and which is checked against its hash. The tree is checked as a whole too, and may not
// exceed the limits: nothing that get returns makes a tree that could not have been saved.
func Load(h Hash, get func(Hash) ([]byte, error), l Limits) (*Snapshot, error) {
	d := &loader{
		get: get, limits: l.resolve(), owner: new(epoch),
		chunkCache: map[Hash]*chunk{}, nodeCache: map[Hash]*loadedChunks{}, nameCache: map[Hash]*loadedNames{}, inodeSeen: map[Hash]bool{},
	}
	b, err := d.object(h, objectRoot)
	if err != nil {
		return nil, err
	}
	if b.byte() != saveVersion {
		return nil, corrupt("unknown version")
	}
	t := tree{next: b.uvarint(), lower: &lowerTable{}}
	t.inodes.height = int(b.uvarint())
	top := b.hash()
	if !b.end() || t.inodes.height < 1 || t.inodes.height > 8 || t.next >= lowerBase {
		return nil, corrupt("root")
	}
	if t.inodes.root, err = d.inodes(top, 0, t.inodes.height-1); err != nil {
		return nil, err
	}
	if err := t.verify(); err != nil {
		return nil, err
	}
	if t.bytes > d.limits.bytes || t.nodes > d.limits.nodes {
		return nil, fmt.Errorf("vfs: tree of %d bytes in %d nodes exceeds the limits", t.bytes, t.nodes)
	}
	// There is one way to write a tree: what says the same in another would be taken
	// for a different tree.
	s := &Snapshot{t}
	again, err := s.Save(func(h Hash) bool { return d.chunkCache[h] != nil }, func(Hash, []byte) error { return nil })
	if err != nil || again != h {
		return nil, corrupt("tree %v differs from what Save writes for it", h)
	}
	return s, nil
}

type loader struct {
	get    func(Hash) ([]byte, error)
	limits limits
	owner  *epoch
	nodes  int64

	chunkCache map[Hash]*chunk
	nodeCache  map[Hash]*loadedChunks
	nameCache  map[Hash]*loadedNames
	inodeSeen  map[Hash]bool
}

// object returns the data after the kind of an object.
func (d *loader) object(h Hash, kind byte) (*buffer, error) {
	p, err := d.get(h)
	if err != nil {
		return nil, err
	}
	if HashOf(p) != h {
		return nil, corrupt("object %v has another hash", h)
	}
	if len(p) == 0 || p[0] != kind {
		return nil, corrupt("object %v is not of kind %q", h, kind)
	}
	return &buffer{p: p[1:]}, nil
}

// buffer is read from the front; a read beyond its end sets bad.
type buffer struct {
	p   []byte
	bad bool
}

func (b *buffer) end() bool { return !b.bad && len(b.p) == 0 }

func (b *buffer) take(n uint64) []byte {
	if b.bad || n > uint64(len(b.p)) {
		b.bad = true
		return nil
	}
	p := b.p[:n]
	b.p = b.p[n:]
	return p
}

func (b *buffer) byte() byte {
	if p := b.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (b *buffer) uvarint() uint64 {
	v, n := binary.Uvarint(b.p)
	if b.bad || n <= 0 {
		b.bad = true
		return 0
	}
	b.p = b.p[n:]
	return v
}

func (b *buffer) varint() int64 {
	v, n := binary.Varint(b.p)
	if b.bad || n <= 0 {
		b.bad = true
		return 0
	}
	b.p = b.p[n:]
	return v
}

func (b *buffer) uint32() uint32 {
	v := b.uvarint()
	if v > 1<<32-1 {
		b.bad = true
	}
	return uint32(v)
}

func (b *buffer) bitmap() uint32 {
	if p := b.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (b *buffer) hash() (h Hash) {
	copy(h[:], b.take(uint64(len(h))))
	return h
}

func (b *buffer) string() string { return string(b.take(b.uvarint())) }

func (d *loader) inodes(h Hash, base uint64, height int) (*trieNode[inode], error) {
	// No two nodes of a tree are equal: one that refers to itself in a circle, or to
	// the same many times, was not made by Save.
	if d.inodeSeen[h] {
		return nil, corrupt("inodes %v occur twice", h)
	}
	d.inodeSeen[h] = true
	b, err := d.object(h, objectInodes)
	if err != nil {
		return nil, err
	}
	n := newTrieNode[inode](d.owner, height == 0)
	taken := b.bitmap()
	if taken == 0 {
		return nil, corrupt("inodes %v are an empty node", h)
	}
	for i := range fan {
		if taken>>i&1 == 0 {
			continue
		}
		n.used++
		if height > 0 {
			if n.kids[i], err = d.inodes(b.hash(), base+uint64(i)<<(fanBits*height), height-1); err != nil {
				return nil, err
			}
			continue
		}
		if d.nodes++; d.nodes > d.limits.nodes {
			return nil, fmt.Errorf("vfs: tree exceeds the limit of %d nodes", d.limits.nodes)
		}
		if n.leaf[i], err = d.inode(b, base+uint64(i)); err != nil {
			return nil, err
		}
	}
	if !b.end() {
		return nil, corrupt("inodes %v", h)
	}
	return n, nil
}

func (d *loader) inode(b *buffer, ino uint64) (*inode, error) {
	n := &inode{owner: d.owner, born: d.owner, ino: ino}
	n.mode, n.nlink, n.uid, n.gid, n.rdev = b.uint32(), b.uint32(), b.uint32(), b.uint32(), b.uvarint()
	for _, t := range []*stamp{&n.atime, &n.mtime, &n.ctime} {
		sec, nsec := b.varint(), b.varint()
		if nsec < 0 || nsec >= 1e9 {
			return nil, corrupt("time of inode %d", ino)
		}
		*t = stamp{sec, int32(nsec)}
	}
	count := b.uvarint()
	if count == 0 || count > maxLink || count > uint64(len(b.p)) {
		return nil, corrupt("links of inode %d", ino)
	}
	n.link = link{b.uvarint(), b.string()}
	if n.link.name == "" {
		return nil, corrupt("inode %d has no name", ino)
	}
	for range count - 1 {
		l := link{b.uvarint(), b.string()}
		if b.bad || n.has(l) {
			return nil, corrupt("links of inode %d", ino)
		}
		n.addLink(d.owner, l)
	}
	var err error
	switch n.mode & sIFMT {
	case sIFREG:
		err = d.content(b, &n.content)
	case sIFLNK:
		n.target = b.string()
		n.size = int64(len(n.target))
	case sIFDIR:
		if b.byte() == 1 {
			var l *loadedNames
			if l, err = d.names(b.hash(), 0); err == nil {
				n.names = names{l.node, l.n}
			}
		}
	}
	if err == nil && b.bad {
		err = corrupt("inode %d", ino)
	}
	return n, err
}

// loadedNames is a node with its height and the number of its names: equal nodes may
// occur many times, and are looked at once.
type loadedNames struct {
	node      *nameNode
	height, n int
}

func (d *loader) names(h Hash, depth int) (*loadedNames, error) {
	if l := d.nameCache[h]; l != nil {
		return l, nil
	}
	if depth > 12 {
		return nil, corrupt("directory %v is too deep", h)
	}
	b, err := d.object(h, objectNames)
	if err != nil {
		return nil, err
	}
	l := &loadedNames{node: &nameNode{owner: d.owner}, height: 1}
	inner, count := b.byte() == 1, b.uvarint()
	if count == 0 || count > nodeNames {
		return nil, corrupt("directory %v", h)
	}
	for i := range count {
		if !inner {
			l.node.ents = append(l.node.ents, dirent{b.string(), b.uvarint()})
			l.n++
			continue
		}
		l.node.keys = append(l.node.keys, b.string())
		kid, err := d.names(b.hash(), depth+1)
		if err != nil {
			return nil, err
		}
		if i > 0 && kid.height+1 != l.height || l.n > 1<<40 {
			return nil, corrupt("directory %v is uneven", h)
		}
		l.node.kids = append(l.node.kids, kid.node)
		l.height = kid.height + 1
		l.n += kid.n
	}
	if !b.end() {
		return nil, corrupt("directory %v", h)
	}
	d.nameCache[h] = l
	return l, nil
}

func (d *loader) content(b *buffer, c *content) error {
	size := b.uvarint()
	if size > uint64(d.limits.file) {
		return fmt.Errorf("vfs: file of %d bytes exceeds the limit", size)
	}
	c.size = int64(size)
	switch b.byte() {
	case 0:
	case 1:
		c.first = &chunk{owner: d.owner, data: append([]byte(nil), b.take(uint64(b.byte()))...)}
	case 2:
		k, err := d.chunk(b.hash())
		if err != nil {
			return err
		}
		c.first = k
	default:
		return corrupt("content of a file")
	}
	if c.first != nil {
		if int64(len(c.first.data)) > span(c.size, 0) {
			return corrupt("a file is longer than its size")
		}
		c.held = span(c.size, 0)
	}
	return d.rest(b, c)
}

// rest reads the chunks from index 1 on.
func (d *loader) rest(b *buffer, c *content) error {
	height := int(b.byte())
	if height == 0 {
		return nil
	}
	last := uint64(max(c.size-1, 0)) >> chunkBits
	if height > 10 || last == 0 {
		return corrupt("chunks of a file of %d bytes", c.size)
	}
	n, err := d.chunks(b.hash(), height-1)
	if err != nil {
		return err
	}
	c.rest = trie[chunk]{root: n.node, height: height}
	if n.last > last || n.first == 0 || c.rest.at(last) != nil && int64(len(c.rest.at(last).data)) > span(c.size, last) {
		return corrupt("chunks of a file of %d bytes", c.size)
	}
	if n.count > uint64(endless)>>chunkBits {
		return corrupt("too many chunks")
	}
	c.held += int64(n.count) << chunkBits
	if c.rest.at(last) != nil {
		c.held -= chunkSize - span(c.size, last)
	}
	return nil
}

// loadedChunks is a node with the numbers of its first and last chunk, and how many it
// has: equal nodes may occur many times, and are looked at once.
type loadedChunks struct {
	node               *trieNode[chunk]
	first, last, count uint64
}

func (d *loader) chunks(h Hash, height int) (*loadedChunks, error) {
	if n := d.nodeCache[h]; n != nil {
		if (n.node.leaf != nil) != (height == 0) {
			return nil, corrupt("chunks %v are uneven", h)
		}
		return n, nil
	}
	b, err := d.object(h, objectChunks)
	if err != nil {
		return nil, err
	}
	n := &loadedChunks{node: newTrieNode[chunk](d.owner, height == 0)}
	taken := b.bitmap()
	for i := range fan {
		if taken>>i&1 == 0 {
			continue
		}
		kid := &loadedChunks{count: 1}
		if height == 0 {
			n.node.leaf[i], err = d.chunk(b.hash())
		} else if kid, err = d.chunks(b.hash(), height-1); err == nil {
			n.node.kids[i] = kid.node
		}
		if err != nil {
			return nil, err
		}
		base := uint64(i) << (fanBits * height)
		if n.node.used == 0 {
			n.first = base + kid.first
		}
		n.last = base + kid.last
		n.count += kid.count
		n.node.used++
	}
	if taken == 0 || !b.end() || n.count > 1<<40 {
		return nil, corrupt("chunks %v", h)
	}
	d.nodeCache[h] = n
	return n, nil
}

func (d *loader) chunk(h Hash) (*chunk, error) {
	if k := d.chunkCache[h]; k != nil {
		return k, nil
	}
	b, err := d.object(h, objectChunk)
	if err != nil {
		return nil, err
	}
	if len(b.p) > chunkSize {
		return nil, corrupt("chunk %v is too long", h)
	}
	k := &chunk{owner: d.owner, data: slices.Clip(b.p)}
	k.sum.Store(&h)
	d.chunkCache[h] = k
	return k, nil
}

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

// inode checks an inode by itself.
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
		return corrupt("inode %d has %d names; its link count is %d", n.ino, links, n.nlink)
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
		case e.name <= last || isBadName(e.name):
			err = corrupt("name %q in directory %d", e.name, n.ino)
		case kid == nil || kid.mode&sIFMT != e.kind():
			err = corrupt("the entry %q names no inode of its type", e.name)
		case !kid.has(link{n.ino, e.name}):
			err = corrupt("inode %d lacks the entry's name %q", kid.ino, e.name)
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

func isBadName(s string) bool {
	return s == "" || s == "." || s == ".." || len(s) > maxName || strings.ContainsAny(s, "/\x00")
}

// keysHold checks that the keys lead to every name.
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
