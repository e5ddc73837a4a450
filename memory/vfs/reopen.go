package vfs

import (
	"context"
	"io"
	"os"
	"syscall"
)

// Reopen opens what f is open on once more, as opening /proc/self/fd/N does on Linux: a file, with or
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
	d.v.refs++ // also of what has no name, which nobody else finds
	f.openMu.Unlock()
	file := f.newFileOn(d.v, c, n, d.name, flag)
	file.h.d.rare = d.rare
	return file, 0
}

// enter counts one more end of an anonymous pipe, for which nobody waits.
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
		return under(d.rareness().top, d.v.lost), true
	}
	return under(d.rareness().top, d.fs.tree.path(n)), false
}

// Pipe returns the number of the anonymous pipe that f is an end of, which Stat tells too: it is
// taken from next when it is asked for first. Zero: f is no such end.
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

// NewStream returns a file over something that is none, such as a connection: it is read, written and
// closed like a pipe, and Stat describes one. What waits in s has to know itself when to end: it
// does not see WithContext.
func NewStream(name string, flag int, s io.ReadWriteCloser) *File {
	return (&opened{d: description{rare: &rarely{stream: s}, name: name, flag: flag}}).file()
}

// Stream returns what the file was made of by [NewStream]; nil: it was not.
func (f *File) Stream() io.ReadWriteCloser { return f.h.d.stream() }
