package vfs

import (
	"sync/atomic"
	"syscall"
)

const (
	chunkBits = 16
	chunkSize = 1 << chunkBits
)

// chunk is the part of a file that begins at a multiple of chunkSize. Bytes beyond
// its data, up to the file's size, are zero.
type chunk struct {
	owner *epoch
	data  []byte
	lent  int                  // so many of the bytes were lent out by slice: they are not changed in place
	sum   atomic.Pointer[Hash] // of the object it is saved as; only ever set in snapshots
}

// content is the content of a regular file. A missing chunk is a hole.
type content struct {
	size  int64
	held  int64 // what the chunks count: each its whole length within the size
	first *chunk
	rest  trie[chunk] // from index 1 on
	lower *lowerFile  // what holes read as; nil: zeros
}

func (c *content) chunk(i uint64) *chunk {
	if i == 0 {
		return c.first
	}
	return c.rest.at(i)
}

// span returns the length of the part of a chunk that lies within size.
func span(size int64, i uint64) int64 {
	return max(0, min(size-int64(i)<<chunkBits, chunkSize))
}

// readAt copies what is at off into p and returns how much that was.
func (c *content) readAt(p []byte, off int64) (int, syscall.Errno) {
	if off >= c.size {
		return 0, 0
	}
	p = p[:min(int64(len(p)), c.size-off)]
	for done := 0; done < len(p); {
		at := int(off & (chunkSize - 1))
		part := p[done:min(len(p), done+chunkSize-at)]
		k := c.chunk(uint64(off >> chunkBits))
		if k == nil && c.lower != nil {
			if e := c.lower.readAt(part, off); e != 0 {
				return done, e
			}
		} else {
			n := 0
			if k != nil && at < len(k.data) {
				n = copy(part, k.data[at:])
			}
			clear(part[n:])
		}
		done += len(part)
		off += int64(len(part))
	}
	return len(p), 0
}

// holes is a chunk of zeros: the content of each hole.
var holes [chunkSize]byte

// slice returns up to limit bytes at off, at least one if there are any. They never
// change, and must not be changed.
func (c *content) slice(owner *epoch, off int64, limit int) ([]byte, syscall.Errno) {
	if off >= c.size {
		return nil, 0
	}
	i, at := uint64(off>>chunkBits), int(off&(chunkSize-1))
	limit = int(min(int64(limit), int64(chunkSize-at), c.size-off))
	k := c.chunk(i)
	if k == nil && c.lower != nil {
		part := make([]byte, limit)
		return part, c.lower.readAt(part, off)
	}
	if k == nil || at >= len(k.data) {
		return holes[:limit:limit], 0
	}
	end := min(at+limit, len(k.data))
	if k.owner == owner { // others change it no more
		k.lent = max(k.lent, end)
	}
	return k.data[at:end:end], 0
}

// growth is by how much held grows when length bytes within one chunk are written at off.
func (c *content) growth(off int64, length int) int64 {
	i, end := uint64(off>>chunkBits), off+int64(length)
	size := max(c.size, end)
	grow := span(size, i)
	if c.chunk(i) != nil {
		grow -= span(c.size, i)
	}
	// The last chunk grows to its full length when the file goes on behind it.
	if last := uint64(max(c.size-1, 0) >> chunkBits); c.size > 0 && last < i && c.chunk(last) != nil {
		grow += chunkSize - span(c.size, last)
	}
	return grow
}

// writeChunk puts p at off, which both lie in one chunk; the caller has accounted for it.
func (c *content) writeChunk(owner *epoch, p []byte, off int64, grow int64) syscall.Errno {
	i, at := uint64(off>>chunkBits), int(off&(chunkSize-1))
	k := c.chunk(i)
	if k == nil && c.lower != nil && (at > 0 || span(c.lower.size, i) > int64(len(p))) {
		// The rest of the chunk comes from below; no other tree shares the copy yet.
		k = &chunk{data: make([]byte, span(c.lower.size, i))}
		if e := c.lower.readAt(k.data, off-int64(at)); e != 0 {
			return e
		}
	}
	if k == nil || k.owner != owner || at < k.lent {
		k = copyChunk(owner, k, at, len(p), i > 0)
		if i == 0 {
			c.first = k
		} else {
			c.rest.set(owner, i, k)
		}
	}
	k.write(p, at, i > 0)
	c.size = max(c.size, off+int64(len(p)))
	c.held += grow
	return 0
}

// copyChunk returns a chunk for the owner to write n bytes into at at.
func copyChunk(owner *epoch, from *chunk, at, n int, big bool) *chunk {
	k := &chunk{owner: owner}
	if from == nil {
		return k
	}
	if at == 0 && n >= len(from.data) {
		return k
	}
	room := max(len(from.data), at+n)
	if at+n > len(from.data) {
		room = chunkRoom(room, big)
	}
	k.data = append(make([]byte, 0, room), from.data...)
	return k
}

// chunkRoom is the capacity to give a chunk that holds n bytes and grows.
func chunkRoom(n int, big bool) int {
	if big || n > chunkSize/2 {
		return chunkSize
	}
	room := 512
	for room < n {
		room *= 2
	}
	return room
}

// write puts p at at; the caller owns the chunk.
func (k *chunk) write(p []byte, at int, big bool) {
	end := at + len(p)
	switch {
	case k.data == nil && at == 0:
		// What is written at once mostly stays as it is: no room to spare.
		k.data = append(make([]byte, 0, len(p)), p...)
		return
	case end > cap(k.data):
		k.data = append(make([]byte, 0, chunkRoom(end, big)), k.data...)
	}
	if end > len(k.data) {
		old := len(k.data)
		k.data = k.data[:end]
		if at > old {
			clear(k.data[old:at])
		}
	}
	copy(k.data[at:], p)
}

// truncate sets the size.
func (c *content) truncate(owner *epoch, size int64) {
	c.lower = c.lower.cut(size)
	if size < c.size {
		end := uint64(size+chunkSize-1) >> chunkBits
		if end == 0 {
			c.first = nil
		}
		c.rest.cut(owner, max(end, 1)) // index 0 is first, and rest has none
		if i, at := uint64(size>>chunkBits), int(size&(chunkSize-1)); at > 0 {
			if k := c.chunk(i); k != nil && len(k.data) > at {
				// A new chunk: what lies behind the end must be zero if the file grows again.
				cut := &chunk{owner: owner, data: append([]byte(nil), k.data[:at]...)}
				if i == 0 {
					c.first = cut
				} else {
					c.rest.set(owner, i, cut)
				}
			}
		}
	}
	c.held = c.heldAt(size)
	c.size = size
}

// heldAt returns held for that size with the present chunks.
func (c *content) heldAt(size int64) int64 {
	if size == 0 {
		return 0
	}
	held, last := c.held, uint64(size-1)>>chunkBits
	if size >= c.size {
		if c.size > 0 {
			if old := uint64(c.size-1) >> chunkBits; c.chunk(old) != nil {
				held += span(size, old) - span(c.size, old)
			}
		}
		return held
	}
	held = 0
	if c.first != nil {
		held = span(size, 0)
	}
	c.rest.each(1, func(i uint64, _ *chunk) bool {
		if i <= last {
			held += span(size, i)
		}
		return i < last
	})
	return held
}
