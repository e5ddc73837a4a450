// Package store keeps a tree in a directory of the host, so that it survives the
// program that made it, however that ends.
//
// The directory holds one file to which is only ever appended: the parts of trees,
// each named by its SHA-256 and written once, and a record for each commit. A commit
// counts from the moment its record is on the disk; what comes after the last one is
// cut off when the store is opened. Anything else that is not as it was written is [vfs.ErrCorrupt].
//
// A second file has the size of the first one at the last commit, so that a shorter one is corrupt, too, and not a store
// with an older tree.
package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

const (
	logName = "tree.log"
	endName = "tree.end"
)

// ErrInUse is returned by [Open] while another process, or another Store, has the directory.
var ErrInUse = errors.New("the store is in use")

// Store is a directory with a tree. It is safe for concurrent use.
type Store struct {
	dir    string
	limits vfs.Limits
	lock   *os.File

	mu      sync.Mutex
	log     *os.File
	end     int64               // of the last commit
	objects map[vfs.Hash]extent // what is committed
	head    vfs.Hash
	filled  bool  // there is a commit
	broken  error // the file may have something after its end that could not be taken away
}

// extent is the position of an object's bytes in the file.
type extent struct {
	off  int64
	size uint32
}

// Open opens the store in dir, which it makes, for its owner only, if it is missing.
// Close it to let others have it; the end of the process closes it too.
func Open(dir string, l vfs.Limits) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, ErrInUse), lock.Close())
	}
	s := &Store{dir: dir, limits: l, lock: lock}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return s, nil
}

func (s *Store) open() error {
	// A compaction that was interrupted has not happened.
	if err := os.Remove(s.path() + ".new"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	log, err := os.OpenFile(s.path(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.log = log
	if err := s.scan(); err != nil {
		return errors.Join(err, log.Close())
	}
	if err := s.checkEnd(); err != nil {
		return errors.Join(err, log.Close())
	}
	if err := errors.Join(log.Truncate(s.end), syncDir(s.dir)); err != nil {
		return errors.Join(err, log.Close())
	}
	return nil
}

// checkEnd returns vfs.ErrCorrupt if a commit that was confirmed is missing.
func (s *Store) checkEnd() error {
	text, err := os.ReadFile(filepath.Join(s.dir, endName))
	if errors.Is(err, os.ErrNotExist) {
		return nil // an empty store, or one of a version without this file
	}
	if err != nil {
		return err
	}
	var end int64 // 0 if it was not written whole
	_, _ = fmt.Sscanf(string(text), "%d\n", &end)
	if end <= s.end {
		return nil
	}
	return fmt.Errorf("%s: the last whole commit ends at byte %d, and there was one up to byte %d; without the file %s the store has the older tree: %w",
		s.path(), s.end, end, endName, vfs.ErrCorrupt)
}

// confirm records the end of the last commit. After a failure or a crash the store has an earlier end to check, or none.
func (s *Store) confirm() {
	_ = os.WriteFile(filepath.Join(s.dir, endName), []byte(strconv.FormatInt(s.end, 10)+"\n"), 0o600) // the commit has succeeded
}

func (s *Store) path() string { return filepath.Join(s.dir, logName) }

// Close gives the directory back.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.log.Close(), s.lock.Close())
}

// Commit makes t the tree of the store. When it returns without an error the tree is on the
// disk; with one, the store still has the previous tree. Its cost depends on the changes since earlier commits.
func (s *Store) Commit(t *vfs.Snapshot) (vfs.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return vfs.Hash{}, s.broken
	}
	w := newWriter(s.log, s.end)
	h, err := t.Save(func(h vfs.Hash) bool { _, ok := s.objects[h]; return ok }, w.object)
	if err == nil && s.filled && h == s.head {
		return h, nil
	}
	if err == nil {
		err = w.commit(h)
	}
	if err != nil {
		if cut := s.log.Truncate(s.end); cut != nil {
			s.broken = fmt.Errorf("store %s: %w", s.dir, cut)
		}
		return vfs.Hash{}, err
	}
	maps.Copy(s.objects, w.added)
	s.head, s.filled, s.end = h, true, w.at
	s.confirm()
	return h, nil
}

// Load returns the tree that was committed last; it is [os.ErrNotExist] if there is none.
func (s *Store) Load() (*vfs.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load()
}

func (s *Store) load() (*vfs.Snapshot, error) {
	if !s.filled {
		return nil, fmt.Errorf("store %s: nothing was committed: %w", s.dir, os.ErrNotExist)
	}
	return vfs.Load(s.head, s.object, s.limits)
}

func (s *Store) object(h vfs.Hash) ([]byte, error) {
	e, ok := s.objects[h]
	if !ok {
		return nil, fmt.Errorf("object %v is missing: %w", h, vfs.ErrCorrupt)
	}
	p := make([]byte, e.size)
	if _, err := io.ReadFull(io.NewSectionReader(s.log, e.off, int64(e.size)), p); err != nil {
		return nil, err
	}
	return p, nil
}

// Size returns how many bytes the store takes on the disk.
func (s *Store) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

// Compact frees the space that only earlier commits needed. However it ends, the tree that
// was committed last is still there.
func (s *Store) Compact() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.load()
	if err != nil {
		return err
	}
	temp := s.path() + ".new"
	log, err := os.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := newWriter(log, 0)
	h, err := t.Save(nil, w.object)
	if err == nil {
		err = w.commit(h)
	}
	if err == nil { // the shorter file must not be taken for a damaged one
		if err = os.Remove(filepath.Join(s.dir, endName)); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = syncDir(s.dir)
	}
	if err == nil {
		err = os.Rename(temp, s.path())
	}
	if err != nil {
		return errors.Join(err, log.Close(), os.Remove(temp))
	}
	old := s.log
	s.log, s.objects, s.head, s.end, s.broken = log, w.added, h, w.at, nil
	s.confirm()
	return errors.Join(syncDir(s.dir), old.Close())
}

// syncDir brings names to the disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// A record is its kind, the length of its payload, the SHA-256 of the payload, and the payload.
const (
	kindObject = 'o'
	kindCommit = 'c'
	headerSize = 1 + 4 + len(vfs.Hash{})
)

// commitMagic begins the payload of a commit; the hash of the tree and the record's
// own offset follow. So a commit is recognized at any position.
const commitMagic = "agent-sandbox tree commit\x00\xf0\x9f\x8c\xb3\r\n"

const commitSize = len(commitMagic) + len(vfs.Hash{}) + 8

func header(kind byte, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	h := vfs.HashOf(payload)
	return append(b, h[:]...)
}

func commitPayload(h vfs.Hash, off int64) []byte {
	return binary.LittleEndian.AppendUint64(append([]byte(commitMagic), h[:]...), uint64(off))
}
