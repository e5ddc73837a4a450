package vfs

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// OpenFile opens the file at path; flag holds the O_ constants of os and syscall:
// O_APPEND, O_CREATE, O_EXCL, O_TRUNC, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK; others have no
// effect. A file that it creates gets the permissions perm, of which the caller has
// taken the umask. Opening a named pipe waits for the other side, or until ctx ends,
// whose error it then returns.
func (f *FS) OpenFile(ctx context.Context, c Cred, path string, flag int, perm fs.FileMode) (*File, error) {
	file, e := f.openFile(&c, path, flag, perm)
	if e == elsewhere {
		return f.openElsewhere(ctx, c, path, flag, perm)
	}
	if e != 0 {
		return nil, pathError("open", path, e)
	}
	if p := file.h.d.pipe; p != nil {
		if err := p.join(ctx, flag); err != nil {
			file.h.d.abandon()
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
	return file, nil
}

// Open opens a file for reading.
func (f *FS) Open(ctx context.Context, c Cred, path string) (*File, error) {
	return f.OpenFile(ctx, c, path, os.O_RDONLY, 0)
}

const accessMode = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

func (f *FS) openFile(c *Cred, path string, flag int, perm fs.FileMode) (*File, syscall.Errno) {
	if flag&accessMode == accessMode || flag&os.O_CREATE != 0 && flag&syscall.O_DIRECTORY != 0 {
		return nil, syscall.EINVAL
	}
	var n *inode
	var e syscall.Errno
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
	} else {
		f.mu.RLock()
		defer f.mu.RUnlock()
	}
	created := false
	if flag&os.O_CREATE != 0 {
		n, created, e = f.openCreate(c, path, flag, perm)
	} else {
		n, e = f.openExisting(c, path, flag)
	}
	if e == 0 && !created {
		e = mayOpen(c, n, flag)
	}
	if e == 0 && flag&os.O_TRUNC != 0 && n.isFile() && !created {
		n = f.own(n)
		n.dropPrivileges(c)
		if e = f.resize(n, 0); e == 0 {
			n.mtime = f.stamp()
			n.ctime = n.mtime
		}
	}
	if e != 0 {
		return nil, e
	}
	return f.newFile(c, n, path, flag), 0
}

// openElsewhere opens a file that is not in the tree itself.
func (f *FS) openElsewhere(ctx context.Context, c Cred, path string, flag int, perm fs.FileMode) (*File, error) {
	l := follow
	switch {
	case flag&os.O_CREATE != 0 && flag&(os.O_EXCL|syscall.O_NOFOLLOW) != 0, flag&syscall.O_NOFOLLOW != 0 && !strings.HasSuffix(path, "/"):
		l = nofollow
	case flag&os.O_CREATE != 0:
		l = followBare
	}
	s, e := f.resolve(&c, path, l, true)
	if e != 0 {
		return nil, pathError("open", path, e)
	}
	if s.fs == nil {
		return f.openGenerated(ctx, &c, &s, path, flag)
	}
	if s.on.isReadOnly() {
		if flag&accessMode != os.O_RDONLY || flag&os.O_TRUNC != 0 {
			return nil, pathError("open", path, syscall.EROFS)
		}
		if _, err := s.fs.Lstat(c, s.path); err != nil && flag&os.O_CREATE != 0 {
			return nil, pathError("open", path, syscall.EROFS)
		}
	}
	file, err := s.fs.OpenFile(ctx, c, s.path, flag, perm)
	if err != nil {
		return nil, withName(err, path)
	}
	r := file.h.d.rareness()
	r.dev, r.top, r.sealed = cmp.Or(r.dev, s.on.number()), joinBelow(s.top, r.top), r.sealed || s.on.isReadOnly()
	file.h.d.rare = &r
	return file, nil
}

// openCreate finds or creates the file.
func (f *FS) openCreate(c *Cred, path string, flag int, perm fs.FileMode) (*inode, bool, syscall.Errno) {
	link := followBare
	if flag&(os.O_EXCL|syscall.O_NOFOLLOW) != 0 {
		link = nofollow
	}
	p, e := f.walk(c, path, link)
	switch {
	case e != 0:
		return nil, false, e
	case p.tail && p.final == plain:
		return nil, false, syscall.EISDIR
	case p.long:
		return nil, false, syscall.ENAMETOOLONG
	case p.node != nil && flag&os.O_EXCL != 0:
		return nil, false, syscall.EEXIST
	case p.node != nil && p.node.isLink():
		return nil, false, syscall.ELOOP
	case p.node != nil && p.node.isDir():
		return nil, false, syscall.EISDIR
	case p.node != nil:
		return p.node, false, 0
	}
	if e := c.mayAdd(p.dir); e != 0 {
		return nil, false, e
	}
	n, e := f.add(c, p, sIFREG|permBits(perm))
	return n, true, e
}

func (f *FS) openExisting(c *Cred, path string, flag int) (*inode, syscall.Errno) {
	nofollow := flag&syscall.O_NOFOLLOW != 0 && !strings.HasSuffix(path, "/")
	n, e := f.find(c, path, !nofollow)
	switch {
	case e != 0:
		return nil, e
	case flag&syscall.O_DIRECTORY != 0 && !n.isDir():
		return nil, syscall.ENOTDIR
	case n.isLink():
		return nil, syscall.ELOOP
	}
	return n, 0
}

// mayOpen checks an existing file against the flags.
func mayOpen(c *Cred, n *inode, flag int) syscall.Errno {
	var mask uint32
	switch flag & accessMode {
	case os.O_RDONLY:
		mask = MayRead
	case os.O_WRONLY:
		mask = MayWrite
	default:
		mask = MayRead | MayWrite
	}
	if flag&os.O_TRUNC != 0 {
		mask |= MayWrite
	}
	if n.isDir() && mask&MayWrite != 0 {
		return syscall.EISDIR
	}
	if e := c.may(n, mask); e != 0 {
		return e
	}
	switch n.mode & sIFMT {
	case sIFSOCK, sIFBLK:
		return syscall.ENXIO
	case sIFCHR:
		if deviceOf(n.rdev) == noDevice {
			return syscall.ENXIO
		}
	}
	return 0
}

// Reopen opens the file of f once more, as opening /proc/self/fd/N does on Linux: a file, with or
// without a name, with an offset of its own and if c may; of a pipe one more end of the same pipe. flag
// is as in [FS.OpenFile].
func (f *File) Reopen(ctx context.Context, c Cred, flag int) (*File, error) {
	d := f.h.d
	if f.h.closed.Load() {
		return nil, f.fail("open", syscall.ENOENT)
	}
	if flag&syscall.O_DIRECTORY != 0 && !d.dir {
		return nil, f.fail("open", syscall.ENOTDIR)
	}
	if d.stream() != nil {
		return f.Dup(), nil
	}
	if d.fs == nil {
		return (&opened{d: description{pipe: d.pipe.enter(flag), name: d.name, flag: flag}}).file(), nil
	}
	file, e := d.fs.reopen(d, &c, flag)
	if e != 0 {
		return nil, f.fail("open", e)
	}
	if file.h.d.pipe != nil {
		if err := file.h.d.pipe.join(ctx, flag); err != nil {
			file.h.d.abandon()
			return nil, f.fail("open", err)
		}
	}
	return file, nil
}

func (f *FS) reopen(d *description, c *Cred, flag int) (*File, syscall.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.node(d.v)
	if e := mayOpen(c, n, flag); e != 0 {
		return nil, e
	}
	if d.rareness().sealed && (flag&accessMode != os.O_RDONLY || flag&os.O_TRUNC != 0) {
		return nil, syscall.EROFS
	}
	if flag&os.O_TRUNC != 0 && n.isFile() {
		n = f.ownNode(d.v)
		n.dropPrivileges(c)
		if e := f.resize(n, 0); e != 0 {
			return nil, e
		}
		n.mtime = f.stamp()
		n.ctime = n.mtime
	}
	f.openMu.Lock()
	d.v.refs++ // also of a file without a name, which no other process finds
	f.openMu.Unlock()
	file := f.newFileOn(d.v, c, n, d.name, flag)
	file.h.d.rare = d.rare
	return file, 0
}

// enter counts one more end of an anonymous pipe, for which no process waits.
func (p *pipe) enter(flag int) *pipe {
	p.mu.Lock()
	defer p.mu.Unlock()
	if flag&accessMode != os.O_WRONLY {
		p.readers++
	}
	if flag&accessMode != os.O_RDONLY {
		p.writers++
	}
	return p
}

// Path returns where the file is now; of one that was removed where it was, and gone is true. "": it never was
// anywhere.
func (f *File) Path() (at string, gone bool) {
	d := f.h.d
	if d.fs == nil {
		return "", false
	}
	d.fs.mu.RLock()
	defer d.fs.mu.RUnlock()
	n := d.fs.node(d.v)
	switch {
	case n.ino >= generatedBase:
		return d.name, false
	case d.v.orphan != nil && d.v.lost == "": // a Restore has taken it away
		return d.name, true
	case d.v.orphan != nil:
		return joinBelow(d.rareness().top, d.v.lost), true
	}
	return joinBelow(d.rareness().top, d.fs.tree.path(n)), false
}

// Pipe returns the number of the anonymous pipe that f is an end of, which Stat returns too: it is
// taken from next on the first request. Zero: f is not such an end.
func (f *File) Pipe(next func() uint64) uint64 {
	p := f.h.d.pipe
	if p == nil || f.h.d.fs != nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number == 0 {
		p.number = next()
	}
	return p.number
}

// NewStream returns a file over something that is not a file, such as a connection: it is read, written and
// closed like a pipe, and Stat describes one. A call that waits in s has to end by itself: it does not see WithContext.
func NewStream(name string, flag int, s io.ReadWriteCloser) *File {
	return (&opened{d: description{rare: &rarely{stream: s}, name: name, flag: flag}}).file()
}

// Stream returns the argument of [NewStream] from which the file was made, nil for other files.
func (f *File) Stream() io.ReadWriteCloser { return f.h.d.stream() }
