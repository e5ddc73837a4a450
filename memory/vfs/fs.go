package vfs

import (
	"crypto/rand"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const rootIno = 1

// FS is a file system in memory. Make one with [New], [FS.Fork] or [Snapshot.FS].
// It is safe for concurrent use.
type FS struct {
	limits  limits
	options Options
	now     func() time.Time

	// Operations that only read, and those that write the content of inodes that are the tree's own, hold mu for reading; all
	// others hold it for writing.
	mu    sync.RWMutex
	owner *epoch
	tree  tree

	// locks guard what reading and writing changes in inodes of the tree's own:
	// content, size and times. An operation that holds mu for writing needs none.
	locks [8]sync.RWMutex

	bytes atomic.Int64 // against limits.bytes, orphans too
	nodes atomic.Int64 // against limits.nodes, orphans too
	met   struct{ bytes, file, nodes atomic.Uint64 }

	openMu  sync.Mutex
	open    map[uint64]*vnode
	orphans map[*vnode]struct{} // open but without a name; guarded by mu

	mounts atomic.Pointer[[]*mount] // changed as a whole, with mu held for writing
	number atomic.Uint64            // see device
}

// New returns a file system that holds an empty root directory of mode 0755, owned by 0:0.
func New(o Options) *FS {
	f := newFS(o)
	f.tree.next, f.tree.lower = rootIno, &lowerTable{}
	now := f.stamp()
	root := f.newInode(sIFDIR|0o755, 0, 0, now)
	root.nlink, root.link = 2, link{dir: rootIno, name: "/"}
	f.nodes.Store(1)
	return f
}

func newFS(o Options) *FS {
	f := &FS{limits: o.Limits.resolve(), options: o, now: o.Now, owner: new(epoch)}
	if f.now == nil {
		f.now = time.Now
	}
	return f
}

// Snapshot is the state of a tree at one moment. It never changes, and is safe for
// concurrent use. What it does not share with other trees is freed with it.
type Snapshot struct{ tree tree }

// Snapshot retains the tree as it is now, in constant time. Files that are open but
// have no name are not part of it.
func (f *FS) Snapshot() *Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Snapshot{f.freeze()}
}

// freeze returns the tree, which no longer changes; the caller holds mu for writing.
func (f *FS) freeze() tree {
	f.owner = new(epoch)
	t := f.tree
	t.bytes, t.nodes = f.bytes.Load(), f.nodes.Load()
	for v := range f.orphans {
		t.bytes -= v.orphan.cost()
		if v.ino < lowerBase {
			t.nodes--
		}
	}
	return t
}

// Restore puts the tree back to what it was, in constant time. Open files go on with
// what the snapshot holds of them; those it does not hold live on without a name.
func (f *FS) Restore(s *Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.openMu.Lock()
	defer f.openMu.Unlock()
	f.freeze()
	for ino, v := range f.open {
		if v.orphan != nil {
			continue
		}
		if n := s.tree.inode(ino); n == nil || n.born != v.born || ino >= lowerBase && f.tree.lower != s.tree.lower {
			n := *f.tree.inode(ino)
			n.owner, n.nlink, n.link, n.links, n.names, n.lazy = f.owner, 0, link{}, nil, names{}, nil
			f.addOrphan(v, &n)
		}
	}
	next := f.tree.next
	f.tree = s.tree
	f.tree.next = max(f.tree.next, next)
	bytes, nodes := s.tree.bytes, s.tree.nodes
	for v := range f.orphans {
		bytes += v.orphan.cost()
		if v.ino < lowerBase {
			nodes++
		}
	}
	f.bytes.Store(bytes)
	f.nodes.Store(nodes)
}

// Fork returns a file system that begins as this one and then goes its own way, in
// constant time. It has the same options, and none of the open files.
func (f *FS) Fork() *FS { return f.Snapshot().FS(f.options) }

// Options returns what the file system was made with.
func (f *FS) Options() Options { return f.options }

// FS returns a new file system that begins as the snapshot, in constant time. Limits
// that the snapshot already exceeds stop growth only.
func (s *Snapshot) FS(o Options) *FS {
	f := newFS(o)
	f.tree = s.tree
	f.bytes.Store(s.tree.bytes)
	f.nodes.Store(s.tree.nodes)
	return f
}

// Usage returns the size of the tree.
func (f *FS) Usage() Usage {
	return Usage{
		Bytes: f.bytes.Load(), Nodes: int(f.nodes.Load()), Limits: f.options.Limits.full(),
		Met: Met{f.met.bytes.Load(), f.met.file.Load(), f.met.nodes.Load()},
	}
}

func (l Limits) full() Limits {
	or := func(n, resolved int64) int64 {
		if n < 0 {
			return -1
		}
		return resolved
	}
	r := l.resolve()
	return Limits{or(l.Bytes, r.bytes), or(l.FileBytes, r.file), int(or(int64(l.Nodes), r.nodes))}
}

func (f *FS) stamp() stamp { return newStamp(f.now()) }

func (f *FS) random(p []byte) {
	if f.options.Random != nil {
		f.options.Random(p)
		return
	}
	_, _ = rand.Read(p) // never fails
}

// inode returns the current version of an inode, nil if there is none. The caller holds mu.
func (f *FS) inode(ino uint64) *inode { return f.tree.inode(ino) }

// own returns a version of n that may be changed. The caller holds mu for writing.
func (f *FS) own(n *inode) *inode {
	if n.owner == f.owner {
		return n
	}
	if n.owner == nil {
		f.keep(n)
	}
	c := *n
	c.owner = f.owner
	f.tree.set(f.owner, &c)
	return &c
}

// newInode adds an inode without a name. The caller holds mu for writing and accounts for it.
func (f *FS) newInode(mode, uid, gid uint32, now stamp) *inode {
	n := &inode{owner: f.owner, born: f.owner, ino: f.tree.next, mode: mode, uid: uid, gid: gid, atime: now, mtime: now, ctime: now}
	f.tree.next++
	f.tree.set(f.owner, n)
	return n
}

func (f *FS) lock(ino uint64) *sync.RWMutex { return &f.locks[ino%uint64(len(f.locks))] }

// takeBytes accounts for up to n more bytes and returns how many there was room for.
func (f *FS) takeBytes(n int64) int64 {
	if n <= 0 {
		f.bytes.Add(n)
		return n
	}
	for {
		used := f.bytes.Load()
		got := max(0, min(n, f.limits.bytes-used))
		if got < n {
			f.met.bytes.Add(1)
		}
		if f.bytes.CompareAndSwap(used, used+got) {
			return got
		}
	}
}

// takeNode accounts for one more name or inode. The caller holds mu for writing.
func (f *FS) takeNode() syscall.Errno {
	if f.nodes.Load() >= f.limits.nodes {
		f.met.nodes.Add(1)
		return syscall.ENOSPC
	}
	f.nodes.Add(1)
	return 0
}

// Limits bound a tree. In each field zero stands for the default and a negative
// number for no limit.
type Limits struct {
	Bytes     int64 // content of all files; default 100 MiB; past it ENOSPC
	FileBytes int64 // size of one file; default 10 MiB; past it EFBIG
	Nodes     int   // names and inodes, the root too; default 10000; past it ENOSPC
}

// The defaults of [Limits].
const (
	DefaultBytes     = 100 << 20
	DefaultFileBytes = 10 << 20
	DefaultNodes     = 10000
)

const (
	endless = int64(1) << 62 // no limit
	maxLink = 65000          // links of one inode, as on ext4
)

// Options are for [New]; the zero value is useful.
type Options struct {
	Limits Limits
	Now    func() time.Time // the clock; nil: time.Now
	Random func(p []byte)   // fills p for /dev/random and /dev/urandom; nil: crypto/rand
	// NoAtime leaves times of access as they are. Without it reading sets them as
	// Linux does by default (relatime): when they are older than the last change or a day.
	NoAtime bool
}

// limits are Limits with every field filled in.
type limits struct{ bytes, file, nodes int64 }

func (l Limits) resolve() limits {
	or := func(n, fallback int64) int64 {
		switch {
		case n < 0:
			return endless
		case n == 0:
			return fallback
		}
		return min(n, endless)
	}
	return limits{or(l.Bytes, DefaultBytes), or(l.FileBytes, DefaultFileBytes), or(int64(l.Nodes), DefaultNodes)}
}

// Usage is the size of a tree. What it shares with snapshots and forks counts in full
// for each of them. Files that are unlinked but open count too.
type Usage struct {
	Bytes  int64 // content: the sizes of files without their holes of 64 KiB and more, and of links' targets
	Nodes  int   // inodes, and names beyond an inode's first
	Limits Limits
	Met    Met
}

// Met counts the operations that each of the [Limits] has stopped in a tree; some may count more than once.
type Met struct{ Bytes, FileBytes, Nodes uint64 }
