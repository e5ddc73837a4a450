package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// writer appends records.
type writer struct {
	file  *os.File
	out   *bufio.Writer
	at    int64
	added map[vfs.Hash]extent
}

func newWriter(f *os.File, at int64) *writer {
	return &writer{file: f, out: bufio.NewWriterSize(io.NewOffsetWriter(f, at), 1<<18), at: at, added: map[vfs.Hash]extent{}}
}

func (w *writer) record(kind byte, payload []byte) error {
	_, err := w.out.Write(header(kind, payload))
	if err == nil {
		_, err = w.out.Write(payload)
	}
	w.at += int64(headerSize + len(payload))
	return err
}

func (w *writer) object(h vfs.Hash, p []byte) error {
	w.added[h] = extent{w.at + int64(headerSize), uint32(len(p))}
	return w.record(kindObject, p)
}

// commit brings the objects to the disk, and then the record that makes them count.
func (w *writer) commit(h vfs.Hash) error {
	err := w.out.Flush()
	if err == nil {
		err = w.file.Sync()
	}
	if err == nil {
		err = w.record(kindCommit, commitPayload(h, w.at))
	}
	if err == nil {
		err = w.out.Flush()
	}
	if err == nil {
		err = w.file.Sync()
	}
	return err
}

// scan reads all records up to the last commit.
func (s *Store) scan() error {
	s.objects = map[vfs.Hash]extent{}
	in := bufio.NewReaderSize(io.NewSectionReader(s.log, 0, 1<<62), 1<<18)
	fresh, at := map[vfs.Hash]extent{}, int64(0)
	for {
		kind, h, payload, err := readRecord(in)
		if errors.Is(err, errTorn) {
			return s.torn(at)
		}
		if err != nil {
			return err
		}
		if kind == kindObject {
			fresh[h] = extent{at + int64(headerSize), uint32(len(payload))}
		}
		off := at
		at += int64(headerSize + len(payload))
		if kind != kindCommit {
			continue
		}
		root, ok := parseCommit(payload, off)
		if !ok {
			return s.torn(off)
		}
		maps.Copy(s.objects, fresh)
		clear(fresh)
		s.head, s.filled, s.end = root, true, at
	}
}

// errTorn says that no record follows.
var errTorn = errors.New("no record")

func readRecord(r io.Reader) (byte, vfs.Hash, []byte, error) {
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, vfs.Hash{}, nil, tornOr(err)
	}
	kind, size := b[0], binary.LittleEndian.Uint32(b[1:])
	if kind != kindObject && kind != kindCommit {
		return 0, vfs.Hash{}, nil, errTorn
	}
	// Memory is allocated only for bytes that were read, whatever the length says.
	var payload bytes.Buffer
	if _, err := io.CopyN(&payload, r, int64(size)); err != nil {
		return 0, vfs.Hash{}, nil, tornOr(err)
	}
	h := vfs.HashOf(payload.Bytes())
	if !bytes.Equal(h[:], b[5:]) {
		return 0, vfs.Hash{}, nil, errTorn
	}
	return kind, h, payload.Bytes(), nil
}

func tornOr(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return err
}

func parseCommit(p []byte, off int64) (h vfs.Hash, ok bool) {
	if len(p) != commitSize || string(p[:len(commitMagic)]) != commitMagic {
		return h, false
	}
	copy(h[:], p[len(commitMagic):])
	return h, binary.LittleEndian.Uint64(p[commitSize-8:]) == uint64(off)
}

// torn classifies an unsound record at off: the end of a commit
// that was cut off, unless a later commit did get to the disk.
func (s *Store) torn(off int64) error {
	rest, err := io.ReadAll(io.NewSectionReader(s.log, off, 1<<62-off))
	if err != nil {
		return err
	}
	for at := 0; ; at++ {
		i := bytes.Index(rest[at:], []byte(commitMagic))
		if i < 0 {
			return nil
		}
		at += i
		start := at - headerSize
		if end := at + commitSize; start >= 0 && end <= len(rest) {
			p := rest[at:end]
			if _, ok := parseCommit(p, off+int64(start)); ok && bytes.Equal(rest[start:at], header(kindCommit, p)) {
				return fmt.Errorf("store %s: damaged at byte %d: %w", s.dir, off, vfs.ErrCorrupt)
			}
		}
	}
}
