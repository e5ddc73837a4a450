package vfs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// lowerBase is the first inode number of attached layers.
const lowerBase = 1 << 40

// Layer is a read-only file system that was attached to a tree. It is read when it is
// looked at first, and never written: changes are stored in the tree, and are all that
// counts against its limits. All snapshots and forks of the tree share it.
type Layer struct {
	fsys    fs.FS
	options LayerOptions
	table   *lowerTable
	ino     uint64        // of the directory it is attached to
	gen     atomic.Uint64 // by which what was read is still current

	mu     sync.Mutex
	closed bool
	files  map[*lowerFile]*layerFile
	recent []*lowerFile // the keys of files, the one used last at the end
}

// LayerOptions say how a layer appears in the tree.
type LayerOptions struct {
	// Owner returns the owner of a file; nil: root owns all.
	Owner func(fs.FileInfo) (uid, gid uint32)
	// Hide leaves a name out as if it were not there; nil: nothing is left out. The
	// name is a path as of io/fs.
	Hide func(name string) bool
	// ReadOnly makes every change EROFS, also for root.
	ReadOnly bool
	// Protect says what may be done with what the layer has under a name, which is a path as of io/fs and "." for the top; nil:
	// all is Free. It holds for root too. A new file in a directory that may be changed is Free, whatever its name is.
	Protect func(name string) Protection
}

// Protection limits the operations on a file or directory of a layer, each kind less than
// the one before. It does not say anything of what is below a directory.
type Protection uint8

// The kinds.
const (
	Free   Protection = iota
	Pinned            // not removed, not renamed (EBUSY), as a mount point
	Fixed             // pinned, and not changed (EROFS): content, attributes, a directory's names
	Masked            // fixed, and empty: a directory without names, a file that no user can open (EACCES)
)

// lowerTable numbers the inodes of attached layers, for all trees of one family.
type lowerTable struct {
	used  atomic.Bool // a layer was attached somewhere
	mu    sync.Mutex
	next  uint64
	pages atomic.Pointer[[]*lowerPage]
}

type lowerPage [1024]atomic.Pointer[inode]

func (t *lowerTable) at(i uint64) *inode {
	if t == nil {
		return nil
	}
	pages := t.pages.Load()
	if pages == nil || i/1024 >= uint64(len(*pages)) {
		return nil
	}
	return (*pages)[i/1024][i%1024].Load()
}

// add numbers an inode.
func (t *lowerTable) add(n *inode) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var pages []*lowerPage
	if p := t.pages.Load(); p != nil {
		pages = *p
	}
	if t.next/1024 == uint64(len(pages)) {
		more := append(append(make([]*lowerPage, 0, len(pages)+1), pages...), new(lowerPage))
		t.pages.Store(&more)
		pages = more
	}
	n.ino = lowerBase + t.next
	pages[t.next/1024][t.next%1024].Store(n)
	t.next++
}

func (t *lowerTable) replace(n *inode) {
	i := n.ino - lowerBase
	(*t.pages.Load())[i/1024][i%1024].Store(n)
}

// Attach fills the empty directory at path with what fsys holds, which is read as far as
// it is looked at. fsys should implement [fs.ReadLinkFS], and its files [io.ReaderAt].
// Whatever it holds, it is seen only below path: a link in it leads where it leads in the tree.
func (f *FS) Attach(dir string, fsys fs.FS, o LayerOptions) (*Layer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, e := f.find(&Cred{}, dir, true)
	switch {
	case e != 0:
	case !n.isDir():
		e = syscall.ENOTDIR
	case n.lazy != nil:
		e = syscall.EBUSY
	case n.names.n > 0:
		e = syscall.ENOTEMPTY
	}
	if e != 0 {
		return nil, pathError("attach", dir, e)
	}
	l := &Layer{fsys: fsys, options: o, table: f.tree.lower, files: map[*lowerFile]*layerFile{}}
	l.gen.Store(1)
	l.table.used.Store(true)
	n = f.own(n)
	l.ino = n.ino
	n.lazy = &lazyDir{layer: l, name: ".", ino: n.ino}
	n.origin = &origin{dir: n.lazy}
	n.protection = o.protection(".")
	n.mask()
	return l, nil
}

func (o *LayerOptions) protection(name string) Protection {
	if o.Protect == nil {
		return Free
	}
	return o.Protect(name)
}

// mask removes from a masked inode what must not be visible.
func (n *inode) mask() {
	if n.protection != Masked {
		return
	}
	n.lazy, n.lower, n.size, n.target = nil, nil, 0, ""
	if n.isDir() {
		n.mode = sIFDIR | 0o555
	} else {
		n.mode = sIFREG
	}
}

// In returns the path of the directory that the layer is attached to in a snapshot; false
// if it is not attached there.
func (l *Layer) In(s *Snapshot) (string, bool) {
	n := s.tree.inode(l.ino)
	if n == nil || n.origin == nil || n.origin.dir.layer != l {
		return "", false
	}
	return s.tree.path(n), true
}

// Refresh lets the trees see what was changed in the layer since it was read. What a
// tree has changed stays as it was: a file of which anything was changed, and the list of
// names of a directory in which names were added or removed; until [Layer.Reset].
func (l *Layer) Refresh() { l.gen.Add(1) }

// Close closes the files that the layer keeps open. What was not read yet can no
// longer be read: EIO.
func (l *Layer) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, k := range l.recent {
		l.drop(k)
	}
	l.recent = nil
	return nil
}

// lazyDir is a directory of a layer.
type lazyDir struct {
	layer *Layer
	name  string // as of io/fs
	ino   uint64

	mu     sync.Mutex // held while reading
	gen    atomic.Uint64
	names  atomic.Pointer[names]
	frozen atomic.Bool // not read again
	mtime  stamp
}

// freeze returns the names as they are and will stay, nil if they were never read.
func (d *lazyDir) freeze() *names {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.frozen.Store(true)
	return d.names.Load()
}

// isReadOnly reports whether n belongs to a layer that is not to be changed.
func (n *inode) isReadOnly() bool {
	switch {
	case n.protection >= Fixed:
		return true
	case n.lazy != nil:
		return n.lazy.layer.options.ReadOnly
	case n.origin != nil:
		return n.origin.dir.layer.options.ReadOnly
	}
	return false
}

// load returns the names, which it reads if need be.
func (d *lazyDir) load() (*names, syscall.Errno) {
	gen := d.layer.gen.Load()
	if d.gen.Load() == gen || d.frozen.Load() {
		return d.names.Load(), 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gen.Load() == gen || d.frozen.Load() {
		return d.names.Load(), 0
	}
	info, err := fs.Stat(d.layer.fsys, d.name)
	if err != nil {
		return nil, lowerErrno(err)
	}
	old := d.names.Load()
	if mtime := newStamp(info.ModTime()); old == nil || mtime != d.mtime {
		fresh, e := d.read(old)
		if e != 0 {
			return nil, e
		}
		d.mtime = mtime
		d.names.Store(fresh)
	}
	d.gen.Store(gen)
	return d.names.Load(), 0
}

func (d *lazyDir) read(old *names) (*names, syscall.Errno) {
	list, err := fs.ReadDir(d.layer.fsys, d.name)
	if err != nil {
		return nil, lowerErrno(err)
	}
	fresh, mark := &names{}, new(epoch)
	for _, ent := range list {
		name := ent.Name()
		if name == "" || name == "." || name == ".." || len(name) > maxName || strings.ContainsAny(name, "/\x00") {
			continue // nothing in the tree could be called that
		}
		if h := d.layer.options.Hide; h != nil && h(path.Join(d.name, name)) {
			continue
		}
		info, err := ent.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since
		}
		if err != nil {
			return nil, lowerErrno(err)
		}
		if old != nil {
			if was, ok := old.lookup(name); ok && d.layer.table.at(was.ino()-lowerBase).refreshed(info) {
				fresh.set(mark, was)
				continue
			}
		}
		n, e := d.newInode(name, info)
		if e != 0 {
			return nil, e
		}
		fresh.set(mark, dirent{name, newRef(n.ino, n.mode)})
	}
	if old != nil {
		d.keepOld(old, fresh, mark)
	}
	return fresh, 0
}

// keepOld adds what the layer has no more but some tree has changed.
func (d *lazyDir) keepOld(old, fresh *names, mark *epoch) {
	old.each("", func(e dirent) bool {
		if d.layer.table.at(e.ino() - lowerBase).origin.kept.Load() {
			fresh.set(mark, e)
		}
		return true
	})
}

// newInode describes what d holds under name.
func (d *lazyDir) newInode(name string, info fs.FileInfo) (*inode, syscall.Errno) {
	n := &inode{mode: lowerMode(info.Mode()), nlink: 1, link: link{d.ino, name}, origin: &origin{dir: d, name: name}}
	n.origin.gen.Store(d.layer.gen.Load())
	n.protection = d.layer.options.protection(n.origin.path())
	if n.isLink() && n.protection != Masked {
		target, err := fs.ReadLink(d.layer.fsys, n.origin.path())
		if err != nil || target == "" {
			return nil, lowerErrno(err)
		}
		n.target = target
	}
	n.describe(info)
	d.layer.table.add(n)
	if n.isDir() {
		n.nlink = 2
		if n.protection != Masked {
			n.lazy = &lazyDir{layer: d.layer, name: n.origin.path(), ino: n.ino}
		}
	}
	return n, 0
}

// origin is the place in a layer from which an inode comes.
type origin struct {
	dir  *lazyDir
	name string
	gen  atomic.Uint64

	kept atomic.Bool // some tree has changed it, or what is below: its name must stay
}

// keep notes that an inode of a layer, which is not changed yet, will be.
func (f *FS) keep(n *inode) {
	for n != nil && n.origin != nil && !n.origin.kept.Swap(true) {
		n = f.inode(n.link.dir)
	}
}

func (o *origin) path() string { return path.Join(o.dir.name, o.name) }

// describe takes over what info says; no other tree shares the inode yet.
func (n *inode) describe(info fs.FileInfo) {
	n.mtime = newStamp(info.ModTime())
	n.atime, n.ctime = n.mtime, n.mtime
	n.mode = n.mode&sIFMT | permBits(info.Mode())
	n.size, n.lower = int64(len(n.target)), nil
	if n.isFile() {
		n.size = max(info.Size(), 0)
		if n.size > 0 {
			n.lower = &lowerFile{origin: n.origin, size: n.size, mtime: n.mtime}
		}
	}
	if owner := n.origin.dir.layer.options.Owner; owner != nil {
		n.uid, n.gid = owner(info)
	}
	n.mask()
}

// refreshed brings an inode of the table up to date, unless something else is there now.
func (n *inode) refreshed(info fs.FileInfo) bool {
	mode, same := lowerMode(info.Mode()), n.mtime == newStamp(info.ModTime())
	switch {
	case n.origin.kept.Load():
		return true
	case n.protection == Masked && n.isDir() == info.IsDir():
		return true
	case n.mode == mode && same && (!n.isFile() || n.size == info.Size()):
		return true
	case n.mode&sIFMT != mode&sIFMT, n.isLink():
		return false
	}
	c := *n
	c.describe(info)
	n.origin.dir.layer.table.replace(&c)
	return true
}

// fresh returns the current version of an inode of the table, for which it looks at
// the layer once after every Refresh.
func (n *inode) fresh() (*inode, syscall.Errno) {
	l := n.origin.dir.layer
	gen := l.gen.Load()
	if n.origin.gen.Load() == gen || n.origin.kept.Load() {
		return n, 0
	}
	n.origin.dir.mu.Lock()
	defer n.origin.dir.mu.Unlock()
	info, err := fs.Lstat(l.fsys, n.origin.path())
	if err != nil {
		return nil, lowerErrno(err)
	}
	n = l.table.at(n.ino - lowerBase)
	if !n.refreshed(info) {
		return nil, syscall.ESTALE
	}
	n.origin.gen.Store(gen)
	return l.table.at(n.ino - lowerBase), 0
}

func lowerMode(m fs.FileMode) uint32 {
	if m&(fs.ModeDevice|fs.ModeIrregular) != 0 {
		m = m&^fs.ModeType | fs.ModeSocket // is there, and cannot be opened: no device of a host leads inside
	}
	return modeBits(m)
}

// lowerErrno returns the error inside for a failure of a layer, whose text could describe the host.
func lowerErrno(err error) syscall.Errno {
	for _, e := range []syscall.Errno{syscall.EACCES, syscall.EPERM, syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP} {
		if errors.Is(err, e) {
			return e
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	}
	return syscall.EIO
}

// lowerFile is the content of a regular file of a layer, up to size.
type lowerFile struct {
	origin *origin
	size   int64
	mtime  stamp
}

// cut returns the file with a smaller size.
func (l *lowerFile) cut(size int64) *lowerFile {
	if l == nil || size >= l.size {
		return l
	}
	if size <= 0 {
		return nil
	}
	c := *l
	c.size = size
	return &c
}

// readAt fills p, of which what lies behind the size is zero.
func (l *lowerFile) readAt(p []byte, off int64) syscall.Errno {
	n := 0
	if l != nil {
		n = int(max(0, min(int64(len(p)), l.size-off)))
	}
	clear(p[n:])
	if n == 0 {
		return 0
	}
	layer := l.origin.dir.layer
	file, e := layer.file(l)
	if e != 0 {
		return e
	}
	defer layer.done(file)
	got, err := file.at.ReadAt(p[:n], off)
	switch {
	case got == n:
		return 0
	case errors.Is(err, io.EOF):
		return syscall.ESTALE // it has become shorter
	}
	return lowerErrno(err)
}

const layerFiles = 16 // so many a layer keeps open

// layerFile is an open file of a layer. It is guarded by the layer's mu.
type layerFile struct {
	file fs.File
	at   io.ReaderAt
	refs int
	old  bool // to be closed after its last use
}

// file returns l's file, which done takes back.
func (l *Layer) file(lf *lowerFile) (*layerFile, syscall.Errno) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, syscall.EIO
	}
	if f := l.files[lf]; f != nil {
		f.refs++
		if last := len(l.recent) - 1; l.recent[last] != lf {
			l.recent = append(slices.DeleteFunc(l.recent, func(k *lowerFile) bool { return k == lf }), lf)
		}
		return f, 0
	}
	f, e := l.open(lf)
	if e != 0 {
		return nil, e
	}
	if len(l.recent) == layerFiles {
		l.drop(l.recent[0])
		l.recent = slices.Delete(l.recent, 0, 1)
	}
	f.refs = 1
	l.files[lf] = f
	l.recent = append(l.recent, lf)
	return f, 0
}

// open opens l's file and checks that it is still the one that was described.
func (l *Layer) open(lf *lowerFile) (*layerFile, syscall.Errno) {
	file, err := l.fsys.Open(lf.origin.path())
	if err != nil {
		return nil, lowerErrno(err)
	}
	info, err := file.Stat()
	if err == nil && (!info.Mode().IsRegular() || newStamp(info.ModTime()) != lf.mtime) {
		_ = file.Close()
		return nil, syscall.ESTALE
	}
	if at, ok := file.(io.ReaderAt); ok && err == nil {
		return &layerFile{file: file, at: at}, 0
	}
	// What can be read only from its beginning, as in a zip, is read at once.
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(file, lf.size))
	}
	if err != nil {
		_ = file.Close()
		return nil, lowerErrno(err)
	}
	return &layerFile{file: file, at: bytes.NewReader(data)}, 0
}

func (l *Layer) done(f *layerFile) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.refs--; f.refs == 0 && f.old {
		_ = f.file.Close()
	}
}

// drop forgets a file; the caller holds mu and takes it out of recent.
func (l *Layer) drop(lf *lowerFile) {
	f := l.files[lf]
	delete(l.files, lf)
	if f.old = true; f.refs == 0 {
		_ = f.file.Close()
	}
}

// Load reads into memory what the file with that inode number still takes from name in the
// layer, because name is about to change. It is not an error if it takes nothing from there. The
// limits hold: ENOSPC.
func (l *Layer) Load(f *FS, ino uint64, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.inode(ino)
	if n == nil || n.lower == nil || n.lower.origin.dir.layer != l || n.lower.origin.path() != name {
		return nil
	}
	n = f.own(n)
	mtime, ctime := n.mtime, n.ctime
	for off := int64(0); off < n.lower.size; off += chunkSize {
		if n.chunk(uint64(off)>>chunkBits) != nil {
			continue
		}
		part := make([]byte, min(chunkSize, n.lower.size-off))
		e := n.lower.readAt(part, off)
		if e == 0 {
			_, _, e = f.write(n, part, off, mtime)
		}
		if e != 0 {
			return pathError("load", name, e)
		}
	}
	n.mtime, n.ctime, n.lower = mtime, ctime, nil
	return nil
}
