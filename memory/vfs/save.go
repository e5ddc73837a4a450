package vfs

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
)

// Hash names an object by its content: SHA-256.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// HashOf returns the hash of an object.
func HashOf(object []byte) Hash { return sha256.Sum256(object) }

// The first byte of an object is its kind.
const (
	objectChunk  = 'c' // what a chunk holds
	objectChunks = 'k' // a node of the chunks of a file
	objectNames  = 'n' // a node of a directory
	objectInodes = 'i' // a node of the inodes
	objectRoot   = 'r' // the tree
)

const saveVersion = 1

// Save hands the snapshot over as objects that are named by their content, and returns
// the hash of the one that stands for the whole tree: equal hashes mean equal trees. put is
// called once for every object that have does not report, after all that it refers to; it may
// not keep the bytes. have may be nil. Saving a snapshot again, or a later one of the same tree, costs
// only new objects, if have knows the saved ones. A tree to which a layer is attached is [errors.ErrUnsupported]; [Snapshot.Flatten] makes one of it that can be saved.
func (s *Snapshot) Save(have func(Hash) bool, put func(h Hash, object []byte) error) (Hash, error) {
	v := &saver{have: have, put: put, done: map[Hash]bool{}}
	if s.tree.hasLayer() {
		return Hash{}, fmt.Errorf("vfs: save a tree with a layer: %w", errors.ErrUnsupported)
	}
	top := v.inodes(s.tree.inodes.root, 0, s.tree.inodes.height-1)
	b := []byte{objectRoot, saveVersion}
	b = binary.AppendUvarint(b, s.tree.next)
	b = binary.AppendUvarint(b, uint64(s.tree.inodes.height))
	b = append(b, top[:]...)
	h := v.object(b)
	return h, v.err
}

// hasLayer reports whether a layer is attached anywhere.
func (t *tree) hasLayer() bool {
	if t.changed.root != nil {
		return true
	}
	found := false
	if t.lower == nil || !t.lower.used.Load() {
		return false
	}
	t.inodes.each(0, func(_ uint64, n *inode) bool {
		found = n.lazy != nil || n.lower != nil
		if n.isDir() && !found {
			n.names.each("", func(e dirent) bool {
				found = e.ino() >= lowerBase
				return !found
			})
		}
		return !found
	})
	return found
}

type saver struct {
	have func(Hash) bool
	put  func(Hash, []byte) error
	done map[Hash]bool
	err  error
}

// object hands one object over.
func (v *saver) object(b []byte) Hash {
	h := HashOf(b)
	if v.err != nil || v.known(h) {
		return h
	}
	v.done[h] = true
	v.err = v.put(h, b)
	return h
}

func (v *saver) known(h Hash) bool { return v.done[h] || v.have != nil && v.have(h) }

// saved returns the hash of a part that was saved before with all that it refers to.
func (v *saver) saved(sum *atomic.Pointer[Hash]) (Hash, bool) {
	if h := sum.Load(); h != nil && v.known(*h) {
		return *h, true
	}
	return Hash{}, false
}

func (v *saver) chunk(k *chunk) Hash {
	if h, ok := v.saved(&k.sum); ok {
		return h
	}
	h := v.object(append([]byte{objectChunk}, k.data...))
	k.sum.Store(&h)
	return h
}

// bitmap says which slots of a node are taken.
func bitmap[T any](slots []*T) uint32 {
	var m uint32
	for i, s := range slots {
		if s != nil {
			m |= 1 << i
		}
	}
	return m
}

func (v *saver) chunks(n *trieNode[chunk], h int) Hash {
	if sum, ok := v.saved(&n.sum); ok {
		return sum
	}
	b := []byte{objectChunks}
	if h == 0 {
		b = binary.LittleEndian.AppendUint32(b, bitmap(n.leaf))
		for _, k := range n.leaf {
			if k != nil {
				b = appendHash(b, v.chunk(k))
			}
		}
	} else {
		b = binary.LittleEndian.AppendUint32(b, bitmap(n.kids))
		for _, kid := range n.kids {
			if kid != nil {
				b = appendHash(b, v.chunks(kid, h-1))
			}
		}
	}
	sum := v.object(b)
	n.sum.Store(&sum)
	return sum
}

func appendHash(b []byte, h Hash) []byte { return append(b, h[:]...) }

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (v *saver) names(n *nameNode) Hash {
	if sum, ok := v.saved(&n.sum); ok {
		return sum
	}
	b := []byte{objectNames, 0}
	if n.kids == nil {
		b = binary.AppendUvarint(b, uint64(len(n.ents)))
		for _, e := range n.ents {
			b = binary.AppendUvarint(appendString(b, e.name), e.ref)
		}
	} else {
		b[1] = 1
		b = binary.AppendUvarint(b, uint64(len(n.kids)))
		for i, kid := range n.kids {
			b = appendHash(appendString(b, n.keys[i]), v.names(kid))
		}
	}
	sum := v.object(b)
	n.sum.Store(&sum)
	return sum
}

func (v *saver) inodes(n *trieNode[inode], base uint64, h int) Hash {
	if sum, ok := v.saved(&n.sum); ok {
		return sum
	}
	b := []byte{objectInodes}
	if h == 0 {
		b = binary.LittleEndian.AppendUint32(b, bitmap(n.leaf))
		for _, x := range n.leaf {
			if x != nil {
				b = v.inode(b, x)
			}
		}
	} else {
		b = binary.LittleEndian.AppendUint32(b, bitmap(n.kids))
		for i, kid := range n.kids {
			if kid != nil {
				b = appendHash(b, v.inodes(kid, base+uint64(i)<<(fanBits*h), h-1))
			}
		}
	}
	sum := v.object(b)
	n.sum.Store(&sum)
	return sum
}

func (v *saver) inode(b []byte, n *inode) []byte {
	for _, u := range []uint64{uint64(n.mode), uint64(n.nlink), uint64(n.uid), uint64(n.gid), n.rdev} {
		b = binary.AppendUvarint(b, u)
	}
	for _, t := range []stamp{n.atime, n.mtime, n.ctime} {
		b = binary.AppendVarint(b, t.sec)
		b = binary.AppendVarint(b, int64(t.nsec))
	}
	b = binary.AppendUvarint(b, n.countLinks())
	n.eachLink(func(l link) bool {
		b = appendString(binary.AppendUvarint(b, l.dir), l.name)
		return true
	})
	switch n.mode & sIFMT {
	case sIFREG:
		return v.content(b, &n.content)
	case sIFLNK:
		return appendString(b, n.target)
	case sIFDIR:
		if n.names.root == nil {
			return append(b, 0)
		}
		return appendHash(append(b, 1), v.names(n.names.root))
	}
	return b
}

func (n *inode) countLinks() uint64 {
	if n.links == nil {
		return 1
	}
	return 1 + uint64(n.links.n)
}

const inlined = 128 // a file of up to so many bytes is in the inode itself

func (v *saver) content(b []byte, c *content) []byte {
	b = binary.AppendUvarint(b, uint64(c.size))
	switch {
	case c.first == nil:
		b = append(b, 0)
	case len(c.first.data) <= inlined:
		b = append(append(b, 1, byte(len(c.first.data))), c.first.data...)
	default:
		b = appendHash(append(b, 2), v.chunk(c.first))
	}
	if c.rest.root == nil {
		return append(b, 0)
	}
	b = append(b, byte(c.rest.height))
	return appendHash(b, v.chunks(c.rest.root, c.rest.height-1))
}
