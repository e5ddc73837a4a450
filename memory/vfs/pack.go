package vfs

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// A pack begins with this line. Objects follow, each with its length before it, and
// a length of zero with the hash of the root.
const packMagic = "vfspack 1\n"

// maxObject bounds an object: an inode may have 65000 names in a row.
const maxObject = 1 << 30

// WritePack writes the snapshot as one stream of objects, each once however often it
// occurs, and returns the hash of the tree (see [Snapshot.Save]).
func (s *Snapshot) WritePack(w io.Writer) (Hash, error) {
	b := bufio.NewWriterSize(w, chunkSize)
	if _, err := b.WriteString(packMagic); err != nil {
		return Hash{}, err
	}
	var length [binary.MaxVarintLen64]byte
	h, err := s.Save(nil, func(_ Hash, object []byte) error {
		if _, err := b.Write(length[:binary.PutUvarint(length[:], uint64(len(object)))]); err != nil {
			return err
		}
		_, err := b.Write(object)
		return err
	})
	if err != nil {
		return Hash{}, err
	}
	if _, err := b.Write(append([]byte{0}, h[:]...)); err != nil {
		return Hash{}, err
	}
	return h, b.Flush()
}

// ReadPack reads what [Snapshot.WritePack] wrote. Anything else, to the last bit, is
// [ErrCorrupt], and a tree that exceeds the limits is an error too.
func ReadPack(r io.Reader, l Limits) (*Snapshot, Hash, error) {
	b := bufio.NewReaderSize(r, chunkSize)
	magic := make([]byte, len(packMagic))
	if _, err := io.ReadFull(b, magic); err != nil || string(magic) != packMagic {
		return nil, Hash{}, packError(err, "no pack")
	}
	objects, used := map[Hash][]byte{}, map[Hash]bool{}
	for {
		size, err := readLength(b)
		if err != nil || size > maxObject {
			return nil, Hash{}, packError(err, "length of an object")
		}
		if size == 0 {
			break
		}
		object, err := readObject(b, int64(size))
		if err != nil {
			return nil, Hash{}, packError(err, "an object")
		}
		h := HashOf(object)
		if objects[h] != nil {
			return nil, Hash{}, corrupt("object %v occurs twice", h)
		}
		objects[h] = object
	}
	var top Hash
	if _, err := io.ReadFull(b, top[:]); err != nil {
		return nil, Hash{}, packError(err, "the root")
	}
	if _, err := b.ReadByte(); err == nil {
		return nil, Hash{}, corrupt("something follows")
	} else if !errors.Is(err, io.EOF) {
		return nil, Hash{}, err
	}
	s, err := Load(top, func(h Hash) ([]byte, error) {
		used[h] = true
		if p := objects[h]; p != nil {
			return p, nil
		}
		return nil, corrupt("object %v is missing", h)
	}, l)
	if err == nil && len(used) != len(objects) {
		err = corrupt("%d objects are not part of the tree", len(objects)-len(used))
	}
	if err != nil {
		return nil, Hash{}, err
	}
	return s, top, nil
}

// readLength reads a length, which [binary.ReadUvarint] does without an error value of its own for an overflow.
func readLength(r io.ByteReader) (uint64, error) {
	var p [binary.MaxVarintLen64]byte
	for i := range p {
		c, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		p[i] = c
		if c < 0x80 {
			break
		}
	}
	v, n := binary.Uvarint(p[:])
	if n <= 0 {
		return 0, corrupt("a length has more than 64 bits")
	}
	return v, nil
}

// readObject allocates memory only for bytes that it has read, whatever the length says.
func readObject(r io.Reader, size int64) ([]byte, error) {
	if size <= 1<<20 {
		p := make([]byte, size)
		_, err := io.ReadFull(r, p)
		return p, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, r, size)
	return b.Bytes(), err
}

// packError distinguishes a stream that ends early from one that cannot be read.
func packError(err error, what string) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("%s is cut short or wrong", what)
	}
	return err
}
