package vfs

import (
	"bytes"
	"path"
	"slices"
	"syscall"
)

// Flatten returns a self-contained snapshot of what s shows, with all attached layers read
// into memory: removed files are missing, masked ones are empty. It is what [Snapshot.Save] and
// [Snapshot.WritePack] take when s has layers. Sockets of a layer are left out. What exceeds the
// limits is ENOSPC or EFBIG. A snapshot without layers is returned as it is.
func (s *Snapshot) Flatten(l Limits) (*Snapshot, error) {
	if !s.tree.hasLayer() {
		return s, nil
	}
	c := &flattener{from: &s.tree, to: New(Options{Limits: l}), made: map[uint64]*inode{}}
	top := s.tree.inode(rootIno)
	at, e := c.below("/", top, c.to.tree.inode(rootIno))
	if e != 0 {
		return nil, pathError("flatten", at, e)
	}
	c.to.tree.inode(rootIno).resemble(top)
	return c.to.Snapshot(), nil
}

// flattener copies a tree; no other tree shares the new one yet.
type flattener struct {
	from *tree
	to   *FS
	made map[uint64]*inode // by number in from: what has several names
}

// below copies the content of a directory; on an error it returns the path.
func (c *flattener) below(path string, from, to *inode) (string, syscall.Errno) {
	d, e := from.dir()
	if e != 0 {
		return path, e
	}
	at := path
	d.each("", func(ent dirent) bool {
		var n *inode
		if n, e = c.from.current(ent); e == 0 && n != nil && n.mode&sIFMT != sIFSOCK {
			at, e = c.node(join(path, ent.name), ent.name, n, to)
		}
		return e == 0
	})
	return at, e
}

func (c *flattener) node(path, name string, from, dir *inode) (string, syscall.Errno) {
	f := c.to
	if from.isDir() && dir.nlink >= maxLink {
		return path, syscall.EMLINK
	}
	if e := f.takeNode(); e != 0 {
		return path, e
	}
	if n := c.made[from.ino]; n != nil {
		n.nlink++
		f.bind(dir, name, n, dir.mtime)
		n.ctime = from.ctime
		return "", 0
	}
	n := f.newInode(from.mode, from.uid, from.gid, from.ctime)
	n.nlink = 1
	if from.nlink > 1 && !from.isDir() {
		c.made[from.ino] = n
	}
	f.bind(dir, name, n, dir.mtime)
	var e syscall.Errno
	at := path
	switch {
	case from.isDir():
		n.nlink = 2
		dir.nlink++
		at, e = c.below(path, from, n)
	case from.isLink():
		n.target, n.size = from.target, from.size
		if got := f.takeBytes(n.cost()); got < n.cost() {
			e = syscall.ENOSPC
		}
	case from.isFile():
		e = c.file(from, n)
	}
	n.resemble(from)
	return at, e
}

// file takes over the chunks, and reads those of a layer.
func (c *flattener) file(from, to *inode) syscall.Errno {
	f := c.to
	if from.size > f.limits.file {
		return syscall.EFBIG
	}
	if got := f.takeBytes(from.held); got < from.held {
		return syscall.ENOSPC
	}
	to.content = from.content
	to.lower = nil
	if from.lower == nil {
		return 0
	}
	for off := int64(0); off < from.lower.size; off += chunkSize {
		if from.chunk(uint64(off)>>chunkBits) != nil {
			continue
		}
		part := make([]byte, min(chunkSize, from.lower.size-off))
		if e := from.lower.readAt(part, off); e != 0 {
			return e
		}
		if from.size > chunkSize && bytes.Equal(part, holes[:len(part)]) {
			continue
		}
		if _, _, e := f.write(to, part, off, to.mtime); e != 0 {
			return e
		}
	}
	return 0
}

// resemble copies another inode's attributes, except for its type, number and links.
func (n *inode) resemble(from *inode) {
	n.mode, n.uid, n.gid, n.rdev = from.mode, from.uid, from.gid, from.rdev
	n.atime, n.mtime, n.ctime = from.atime, from.mtime, from.ctime
}

// Graft is a path whose state is taken from one tree to another.
type Graft struct {
	Path string
	// Attributes takes only the attributes of a file, and leaves its content.
	Attributes bool
	// Gone says that nothing is there.
	Gone bool
}

// Extract returns a snapshot without layers that holds the files of s at the paths of grafts, under the same paths: of a
// directory only itself, so that its entries need grafts of their own, in the order of [Diff]. A file that cannot be read, because
// a layer no longer has it, is left out, and its path is in lost.
func (s *Snapshot) Extract(grafts []Graft) (part *Snapshot, lost []string, err error) {
	c := &flattener{from: &s.tree, to: New(Options{Limits: Limits{-1, -1, -1}}), made: map[uint64]*inode{}}
	for _, g := range grafts {
		if g.Gone {
			continue
		}
		switch e := c.extract(g); e {
		case 0:
		case syscall.ESTALE, syscall.EIO, syscall.ENOENT, syscall.EACCES:
			lost = append(lost, g.Path)
		default:
			return nil, nil, pathError("extract", g.Path, e)
		}
	}
	return c.to.Snapshot(), lost, nil
}

func (c *flattener) extract(g Graft) syscall.Errno {
	f, p := c.to, path.Clean("/"+g.Path)
	n := c.from.lookup(p)
	if n == nil || p == "/" {
		return syscall.ENOENT
	}
	if err := f.MkdirAll(Cred{}, path.Dir(p), 0o755); err != nil {
		return syscall.ENOENT // a directory above could not be copied
	}
	dir, name := f.tree.lookup(path.Dir(p)), path.Base(p)
	if have := f.tree.child(dir, name); have != nil { // it was needed for what is below
		have.resemble(n)
		return 0
	}
	dir = f.own(dir)
	if first := c.made[n.ino]; first != nil {
		first.nlink++
		f.bind(dir, name, first, dir.mtime)
		first.resemble(n)
		return 0
	}
	to := f.newInode(n.mode, n.uid, n.gid, n.ctime)
	to.nlink = 1
	f.nodes.Add(1)
	e := syscall.Errno(0)
	switch {
	case n.isDir():
		to.nlink = 2
		dir.nlink++
	case n.isLink():
		to.target, to.size = n.target, n.size
	case n.isFile() && !g.Attributes:
		e = c.file(n, to)
	}
	if e != 0 {
		f.tree.remove(f.owner, to.ino)
		f.nodes.Add(-1)
		return e
	}
	if n.nlink > 1 && !n.isDir() {
		c.made[n.ino] = to
	}
	f.bind(dir, name, to, dir.mtime)
	to.resemble(n)
	return 0
}

// Graft replaces the files at the paths of grafts by those of part, even where the tree protects them: it is for the code that prepares
// one. What part does not have stays as it is.
func (f *FS) Graft(part *Snapshot, grafts []Graft) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range slices.Backward(grafts) { // what is gone, from below
		if g.Gone {
			f.adopt(nil, path.Clean("/"+g.Path))
		}
	}
	first := map[uint64]string{}
	for _, g := range grafts {
		p := path.Clean("/" + g.Path)
		want := part.tree.lookup(p)
		if g.Gone || want == nil {
			continue
		}
		have := f.tree.lookup(p)
		switch at, linked := first[want.ino]; {
		case g.Attributes:
			if have != nil && have.mode&sIFMT == want.mode&sIFMT {
				f.own(have).resemble(want)
			}
			continue
		case linked:
			f.join(at, p)
		default:
			f.adopt(want, p)
		}
		if want.nlink > 1 && !want.isDir() {
			first[want.ino] = p
		}
		if now := f.tree.lookup(p); now != nil && have != nil && have.isDir() == now.isDir() && now.protection != have.protection {
			f.own(now).protection = have.protection
		}
	}
}

// join gives the file at one path a second name.
func (f *FS) join(at, p string) {
	n := f.tree.lookup(at)
	f.adopt(nil, p)
	dir := f.tree.lookup(path.Dir(p))
	if n == nil || dir == nil || !dir.isDir() || n.isDir() {
		return
	}
	n, dir = f.own(n), f.own(f.inode(dir.ino))
	n.nlink++
	f.nodes.Add(1)
	f.bind(dir, path.Base(p), n, dir.mtime)
}
