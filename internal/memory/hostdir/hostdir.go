// Package hostdir puts a directory of the host under a directory of a file system in
// memory. It is read when it is looked at, and never written: changes stay in memory
// until [Mount.Apply] makes them in the directory, or [Mount.Discard] forgets them.
//
// The host directory is opened once, as an [os.Root]: nothing that is looked up in
// it leads outside, even if another process exchanges links in it meanwhile. Links
// are followed in memory only.
//
// A file that was looked at and then changes outside is ESTALE inside, until
// [Mount.Refresh]. That holds for forks and snapshots too, and for what one of them
// applies: each Apply is a change outside for all others.
package hostdir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Options say how the directory appears inside; the zero value is useful.
type Options struct {
	// UID and GID own, inside, the files that belong to this process's user and group outside. Other owners keep their numbers.
	UID, GID uint32
	// Hide leaves a name out as if it were not there; it is relative to the directory. Nil hides nothing.
	Hide func(name string) bool
	// ReadOnly makes every change inside EROFS.
	ReadOnly bool
	// Protect returns the protection of a name, see vfs.LayerOptions.
	Protect func(name string) vfs.Protection
	// Journal is a directory outside of dir, for this user only, in which Apply writes its intentions before it acts.
	// After an Apply that was killed in the middle, the next one in the same directory finishes what it finds
	// unchanged; one killed before its first change has only left temporary files, which are removed. "": no journal.
	Journal string
}

// Mount is a host directory in a tree.
type Mount struct {
	at    string // where in the tree
	fs    *vfs.FS
	root  *os.Root
	layer *vfs.Layer

	journal string

	mu   sync.Mutex
	base *vfs.Snapshot // the tree without the changes in the mount
	// expected is, by path, the host's state when an unapplied change was made
	// first; the zero state means that the path did not exist.
	expected map[string]state
}

// state identifies one version of a host's file.
type state struct {
	Kind  fs.FileMode `json:"kind"`
	Size  int64       `json:"size"`
	Mtime int64       `json:"mtime"`
}

func newState(i fs.FileInfo) state {
	s := state{Kind: i.Mode().Type() | fs.ModeTemporary, Mtime: i.ModTime().UnixNano()} // never zero
	switch {
	case i.Mode().IsRegular():
		s.Size = i.Size()
	case i.IsDir():
		s.Mtime = 0 // what is in it has paths of its own
	}
	return s
}

// Attach puts the host directory dir under the directory at, which must be empty and
// takes the owner, the permissions and the times of dir. Close the mount when the tree and all its forks and
// snapshots are done with it.
func Attach(f *vfs.FS, at, dir string, o Options) (*Mount, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	at, err = f.Realpath(vfs.Cred{}, at)
	if err == nil {
		err = copyAttributes(f, at, root, o)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	l, err := f.Attach(at, anyNames{root}, vfs.LayerOptions{Owner: owner(o), Hide: o.Hide, ReadOnly: o.ReadOnly, Protect: o.Protect})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Mount{at: at, fs: f, root: root, layer: l, journal: o.Journal, base: f.Snapshot(), expected: map[string]state{}}, nil
}

// anyNames is a directory of the host for [vfs.FS.Attach]. Unlike that of [os.Root.FS] its names may be any bytes, as a kernel's are.
type anyNames struct{ root *os.Root }

// Open does not wait for a FIFO that has taken a file's place.
func (n anyNames) Open(name string) (fs.File, error) {
	return n.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

func (n anyNames) Stat(name string) (fs.FileInfo, error)  { return n.root.Stat(name) }
func (n anyNames) Lstat(name string) (fs.FileInfo, error) { return n.root.Lstat(name) }
func (n anyNames) ReadLink(name string) (string, error)   { return n.root.Readlink(name) }
func (n anyNames) ReadDir(name string) ([]fs.DirEntry, error) {
	f, err := n.root.Open(name)
	if err != nil {
		return nil, err
	}
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, errors.Join(err, f.Close())
}

// copyAttributes gives the directory at the attributes of the host's directory.
func copyAttributes(f *vfs.FS, at string, root *os.Root, o Options) error {
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	before, err := f.Protect(at, vfs.Free)
	if err != nil {
		return err
	}
	uid, gid := owner(o)(info)
	err = errors.Join(f.Chown(vfs.Cred{}, at, uid, gid, true), f.Chmod(vfs.Cred{}, at, info.Mode()),
		f.Chtimes(vfs.Cred{}, at, info.ModTime(), info.ModTime(), true))
	_, protectErr := f.Protect(at, before)
	return errors.Join(err, protectErr)
}

// owner maps owners of the host to those inside.
func owner(o Options) func(fs.FileInfo) (uid, gid uint32) {
	me, mine := os.Geteuid(), os.Getegid()
	return func(i fs.FileInfo) (uid, gid uint32) {
		st, ok := i.Sys().(*syscall.Stat_t)
		if !ok {
			return o.UID, o.GID
		}
		uid, gid = st.Uid, st.Gid
		if int(uid) == me {
			uid = o.UID
		}
		if int(gid) == mine {
			gid = o.GID
		}
		return uid, gid
	}
}

// In returns the same mount as it is in a fork of its tree, with changes of its own. It is closed
// with the mount.
func (m *Mount) In(fork *vfs.FS) *Mount {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &Mount{at: m.at, fs: fork, root: m.root, layer: m.layer, journal: m.journal, base: m.base, expected: maps.Clone(m.expected)}
}

// Close gives the host directory back. What of it was not read yet can no longer be read: EIO.
func (m *Mount) Close() error { return errors.Join(m.layer.Close(), m.root.Close()) }

// Refresh lets the tree see changes of other processes, see [vfs.Layer.Refresh].
func (m *Mount) Refresh() { m.layer.Refresh() }

// ErrGone is inside the errors of a mount whose directory is no longer where it was attached.
var ErrGone = errors.New("the mount is gone")

// Diff returns the unapplied changes of the mount, ordered by path, a directory before
// its content. Paths are relative to the mount. A different time alone is not a change.
func (m *Mount) Diff() ([]vfs.Change, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changes, _, err := m.diff()
	return changes, err
}

func (m *Mount) diff() ([]vfs.Change, *vfs.Snapshot, error) {
	now := m.fs.Snapshot()
	changes, err := m.diffOf(now)
	return changes, now, err
}

func (m *Mount) diffOf(now *vfs.Snapshot) ([]vfs.Change, error) {
	// A tree that was restored to a state before the mount has none of its files: that is not a request
	// to delete the host's files.
	if at, ok := m.layer.In(now); !ok || at != m.at {
		return nil, fmt.Errorf("%s: %w", m.at, ErrGone)
	}
	var changes []vfs.Change
	for _, c := range vfs.Diff(m.base, now) {
		rel, ok := relativeTo(c.Path, m.at)
		if !ok || c.Kind == vfs.Modified && !c.Content && c.Old.Mode == c.New.Mode {
			continue
		}
		c.Path = rel
		changes = append(changes, c)
	}
	return changes, nil
}

// Pending is Diff for a snapshot of the tree, and the host's state at the paths of the changes when they were made:
// a caller that stores the changes must store that for [Mount.Expect].
func (m *Mount) Pending(now *vfs.Snapshot) ([]vfs.Change, Expected, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changes, err := m.diffOf(now)
	e := Expected{}
	for _, c := range changes {
		e[strconv.QuoteToASCII(c.Path)] = m.was(c)
	}
	return changes, e, err
}

// Expected records the host's state at some paths; it can be written as JSON.
type Expected map[string]state

// Expect gives the mount the host's state at the time of changes that were put into the tree from elsewhere, so that
// Apply notices later changes of other processes.
func (m *Mount) Expect(e Expected) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for quoted, s := range e {
		if p, err := strconv.Unquote(quoted); err == nil {
			m.expected[p] = s
		}
	}
}

// relativeTo returns p relative to dir; false if it is not below it.
func relativeTo(p, dir string) (string, bool) {
	if dir == "/" {
		return strings.TrimPrefix(p, "/"), p != "/"
	}
	rest, ok := strings.CutPrefix(p, dir+"/")
	return rest, ok
}

// Discard drops all unapplied changes, and shows the host's present state.
func (m *Mount) Discard() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.layer.In(m.fs.Snapshot()); !ok || at != m.at {
		return fmt.Errorf("%s: %w", m.at, ErrGone)
	}
	base, err := m.layer.Reset(m.fs, nil, nil)
	if err == nil {
		m.base, m.expected = base, map[string]state{}
	}
	return err
}
