package virtual

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/store"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Names below sandbox.Spec.State.
const (
	treeDir      = "tree"       // a store with the files as the last command left them
	beginFile    = "begin.pack" // the initial state of a fork
	snapshotsDir = "snapshots"
	packSuffix   = ".pack"
	newPrefix    = ".new-" // of files that are being written
)

// compactFrom is the size in bytes from which a store is compacted.
const compactFrom = 64 << 20

// savedFiles is the directory of a sandbox's files on disk, from which a later sandbox with the same State continues. A nil
// one saves nothing.
type savedFiles struct {
	dir   string
	store *store.Store

	mu      sync.Mutex
	last    *vfs.Snapshot // that was committed; nil: none
	compact int64         // the store's size after the last compaction
}

// openSavedFiles opens a sandbox's State and returns the state that it holds, nil for a new one. Exists: another process
// has it open.
func openSavedFiles(dir string) (k *savedFiles, s *state, err error) {
	if !filepath.IsAbs(dir) {
		return nil, nil, sandbox.Errorf(sandbox.Invalid, "state directory %q is not absolute", dir)
	}
	st, err := store.Open(filepath.Join(dir, treeDir), unlimited)
	if errors.Is(err, store.ErrInUse) {
		return nil, nil, sandbox.Errorf(sandbox.Exists, "%w", err)
	}
	if err != nil {
		return nil, nil, err
	}
	k = &savedFiles{dir: dir, store: st}
	k.sweep()
	defer func() {
		if err != nil {
			err = errors.Join(err, st.Close())
		}
	}()
	packed, err := st.Load()
	if err == nil {
		s, err = unpack(packed)
		return k, s, err
	}
	if !isMissing(err) {
		return nil, nil, damagedError(err)
	}
	if s, err = readFile(filepath.Join(dir, beginFile)); isMissing(err) {
		return k, nil, nil
	}
	return k, s, err
}

// sweep removes the unfinished snapshots of killed processes. The store's lock excludes other processes now.
func (k *savedFiles) sweep() {
	left, _ := filepath.Glob(filepath.Join(k.dir, snapshotsDir, newPrefix+"*"))
	for _, name := range left {
		_ = os.Remove(name) // the next time tries again
	}
}

func readFile(name string) (*state, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readPack(f)
}

// commit writes the files of the tree to disk, unless nothing has changed since the last time.
func (k *savedFiles) commit(t *tree) error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := t.fs.Snapshot()
	if k.last != nil && len(vfs.Diff(k.last, now)) == 0 {
		return nil
	}
	s, err := t.save(now)
	if err != nil {
		return err
	}
	packed, err := s.pack()
	if err == nil {
		_, err = k.store.Commit(packed)
	}
	if err != nil {
		return sandbox.Errorf(sandbox.Exhausted, "the sandbox's files could not be saved: %w", err)
	}
	k.last = now
	if size := k.store.Size(); size > compactFrom && size > 2*k.compact {
		if err := k.store.Compact(); err != nil {
			return err
		}
		k.compact = k.store.Size()
	}
	return nil
}

func (k *savedFiles) close() error {
	if k == nil {
		return nil
	}
	return k.store.Close()
}

func (k *savedFiles) path(name string) string {
	return filepath.Join(k.dir, snapshotsDir, name+packSuffix)
}

// write creates a file with the state, whole or not at all. Exists: the name is taken.
func (s *state) write(ctx context.Context, name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(name), newPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // the file keeps its other name
	w := bufio.NewWriterSize(&until{ctx, temp}, 1<<18)
	if err = s.writePack(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Link(temp.Name(), name)
	}
	if errors.Is(err, os.ErrExist) {
		return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", strings.TrimSuffix(filepath.Base(name), packSuffix))
	}
	return err
}

// until is a writer that fails when its context ends.
type until struct {
	ctx context.Context //nolint:containedctx // bounds one file
	w   io.Writer
}

func (u *until) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.w.Write(p)
}

// list returns the snapshots, oldest first.
func (k *savedFiles) list() ([]sandbox.SnapshotInfo, error) {
	entries, err := os.ReadDir(filepath.Join(k.dir, snapshotsDir))
	if err != nil && !isMissing(err) {
		return nil, err
	}
	list := []sandbox.SnapshotInfo{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // removed just now
		}
		name, ok := strings.CutSuffix(e.Name(), packSuffix)
		if ok && sandbox.CheckSnapshot(name) == nil {
			list = append(list, sandbox.SnapshotInfo{Name: name, Created: info.ModTime(), Size: info.Size()})
		}
	}
	slices.SortFunc(list, func(a, b sandbox.SnapshotInfo) int { return a.Created.Compare(b.Created) })
	return list, nil
}
