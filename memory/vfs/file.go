package vfs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// File is an open file: a reference to an open file description, which holds the
// offset and the flags. It is safe for concurrent use.
type File struct {
	h *handle
	// Of the context given to WithContext.
	done <-chan struct{}
	why  func() error
}

// handle is the open state that all views of one File share and Close closes.
type handle struct {
	d      *description
	closed atomic.Bool
}

// description is an open file description as of open(2).
type description struct {
	fs   *FS    // nil for an anonymous pipe
	v    *vnode // nil for an anonymous pipe
	pipe *pipe
	dev  device
	dir  bool
	cred Cred
	name string
	flag int
	refs atomic.Int32

	rare *rarely // nil: all of it is zero

	mu  sync.Mutex // guards what follows
	off int64
	at  string // the last name that ReadDir returned
}

// rarely holds the rarely used fields of a description.
type rarely struct {
	dev    uint64 // Info.Dev
	top    string // where the tree of the file is mounted; "": nowhere
	sealed bool   // by a mount that is read-only
	stream io.ReadWriteCloser
}

// stream returns the stream from which a file was made.
func (d *description) stream() io.ReadWriteCloser { return d.rareness().stream }

// rareness returns the rarely used fields, if any.
func (d *description) rareness() rarely {
	if d.rare == nil {
		return rarely{}
	}
	return *d.rare
}

// opened is all that opening allocates, in one piece.
type opened struct {
	d description
	h handle
	f File
}

func (f *FS) newFile(c *Cred, n *inode, name string, flag int) *File {
	return f.newFileOn(f.retain(n), c, n, name, flag)
}

// newFileOn is newFile for a caller that has retained the inode.
func (f *FS) newFileOn(v *vnode, c *Cred, n *inode, name string, flag int) *File {
	o := &opened{d: description{fs: f, v: v, name: name, flag: flag, cred: *c, dir: n.isDir()}}
	o.d.cred.Proc = nil // it is for walking only, and may hold on to much
	switch n.mode & sIFMT {
	case sIFIFO:
		o.d.pipe = o.d.v.fifo
	case sIFCHR:
		o.d.dev = deviceOf(n.rdev)
	}
	return o.file()
}

func (o *opened) file() *File {
	o.d.refs.Store(1)
	o.h.d, o.f.h = &o.d, &o.h
	return &o.f
}

// isPipe reports whether it has no offset.
func (d *description) isPipe() bool { return d.pipe != nil || d.stream() != nil }

// abandon gives back a description that never came to use.
func (d *description) abandon() { d.fs.release(d.v) }

// Dup returns a further reference to the same open file description: offset and flags
// are shared, and the file is open until the last of them is closed. Of a closed File
// it is a closed one.
func (f *File) Dup() *File {
	d := f.h.d
	dup := &File{h: &handle{d: d}, done: f.done, why: f.why}
	for {
		n := d.refs.Load()
		if f.h.closed.Load() || n == 0 {
			dup.h.closed.Store(true)
			return dup
		}
		if d.refs.CompareAndSwap(n, n+1) {
			return dup
		}
	}
}

// WithContext returns a view of f whose calls return ctx's error once ctx ends, if
// they would have to wait. Closing either closes both.
func (f *File) WithContext(ctx context.Context) *File {
	return &File{h: f.h, done: ctx.Done(), why: ctx.Err}
}

// Name returns the path it was opened by, or "pipe".
func (f *File) Name() string { return f.h.d.name }

// Flags returns the flags it was opened with.
func (f *File) Flags() int { return f.h.d.flag }

// IsReadable reports whether it was opened for reading.
func (f *File) IsReadable() bool { return f.h.d.flag&accessMode != os.O_WRONLY }

// IsWritable reports whether it was opened for writing.
func (f *File) IsWritable() bool { return f.h.d.flag&accessMode != os.O_RDONLY }

// Close closes this reference. A second Close is fs.ErrClosed.
func (f *File) Close() error {
	if f.h.closed.Swap(true) {
		return f.fail("close", fs.ErrClosed)
	}
	d := f.h.d
	if d.refs.Add(-1) > 0 {
		return nil
	}
	if d.pipe != nil {
		d.pipe.leave(d.flag)
	}
	if s := d.stream(); s != nil {
		return s.Close()
	}
	if d.fs != nil {
		d.fs.release(d.v)
	}
	return nil
}

func (f *File) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.h.d.name, Err: err}
}

// wrote is the error of writing.
func (f *File) wrote(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return f.fail("write", e)
}

// ready checks that f is open, and for what op does.
func (f *File) ready(op string, write bool) error {
	switch {
	case f.h.closed.Load():
		return f.fail(op, fs.ErrClosed)
	case write && !f.IsWritable(), !write && !f.IsReadable():
		return f.fail(op, syscall.EBADF)
	case !write && f.h.d.dir:
		return f.fail(op, syscall.EISDIR)
	}
	return nil
}

// Read reads from the offset and moves it. At the end it returns 0 and io.EOF. A pipe
// is read as far as it is filled; Read waits only while it is empty and has writers.
func (f *File) Read(p []byte) (int, error) {
	if err := f.ready("read", false); err != nil {
		return 0, err
	}
	if len(p) == 0 {
		return 0, nil
	}
	d := f.h.d
	switch {
	case d.pipe != nil:
		n, err := d.pipe.read(p, d.flag&syscall.O_NONBLOCK != 0, f.done, f.why)
		if n > 0 && d.fs != nil {
			d.fs.accessed(d.v.ino, d.v)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			err = f.fail("read", err)
		}
		return n, err
	case d.dev != noDevice:
		return d.dev.read(d.fs, p)
	case d.rare != nil && d.rare.stream != nil:
		return d.rare.stream.Read(p)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n, e := d.fs.readAt(d.v, p, d.off)
	d.off += int64(n)
	if e != 0 {
		return n, f.fail("read", e)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Next returns the next bytes of a regular file without copying them: at least one and
// at most limit, and io.EOF at the end. It moves the offset. The bytes never change,
// and later writes do not change them; the caller must not change them either.
// Anything else than a regular file is EINVAL.
func (f *File) Next(limit int) ([]byte, error) {
	if err := f.ready("read", false); err != nil {
		return nil, err
	}
	d := f.h.d
	if d.isPipe() || d.dev != noDevice || limit <= 0 {
		return nil, f.fail("read", syscall.EINVAL)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	part, e := d.fs.slice(d.v, d.off, limit)
	if e != 0 {
		return nil, f.fail("read", e)
	}
	d.off += int64(len(part))
	if len(part) == 0 {
		return nil, io.EOF
	}
	return part, nil
}

// WriteTo writes the rest of the file to w, of a regular file without copying it.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	if err := f.ready("read", false); err != nil {
		return 0, err
	}
	next := f.Next
	if f.h.d.isPipe() || f.h.d.dev != noDevice {
		buf := make([]byte, chunkSize/2)
		next = func(int) ([]byte, error) {
			n, err := f.Read(buf)
			return buf[:n], err
		}
	}
	sum := int64(0)
	for {
		part, err := next(chunkSize)
		if len(part) > 0 {
			n, err := w.Write(part)
			sum += int64(n)
			if err != nil {
				return sum, err
			}
		}
		switch {
		case err == io.EOF: //nolint:errorlint // Read and Next return it as it is.
			return sum, nil
		case err != nil:
			return sum, err
		}
	}
}

// ReadAt reads at off, as [io.ReaderAt] says; a pipe is ESPIPE.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	d := f.h.d
	switch {
	case off < 0:
		return 0, f.fail("read", syscall.EINVAL)
	case d.isPipe() && !f.h.closed.Load():
		return 0, f.fail("read", syscall.ESPIPE)
	}
	if err := f.ready("read", false); err != nil {
		return 0, err
	}
	switch {
	case d.dev != noDevice:
		return d.dev.read(d.fs, p)
	}
	n, e := d.fs.readAt(d.v, p, off)
	if e != 0 {
		return n, f.fail("read", e)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write writes at the offset, or the end with O_APPEND, and moves the offset. If it
// writes less than p it says why: ENOSPC, EFBIG, or EPIPE for a pipe without readers.
// What a pipe gets at once is in one piece up to 4096 bytes.
func (f *File) Write(p []byte) (int, error) {
	if err := f.ready("write", true); err != nil {
		return 0, err
	}
	d := f.h.d
	switch {
	case d.pipe != nil:
		n, err := d.pipe.write(p, d.flag&syscall.O_NONBLOCK != 0, f.done, f.why)
		if n > 0 && d.fs != nil {
			d.fs.modified(d.v)
		}
		if err != nil {
			err = f.fail("write", err)
		}
		return n, err
	case d.dev != noDevice:
		n, e := d.dev.write(p)
		return n, f.wrote(e)
	case d.rare != nil && d.rare.stream != nil:
		return d.rare.stream.Write(p)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	off := d.off
	if d.flag&os.O_APPEND != 0 {
		off = atEnd
	}
	n, end, e := d.fs.writeAt(d.v, &d.cred, p, off)
	if n > 0 {
		d.off = end
	}
	return n, f.wrote(e)
}

// WriteAt writes at off, as [io.WriterAt] says; with O_APPEND at the end, as Linux does.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	d := f.h.d
	switch {
	case off < 0:
		return 0, f.fail("write", syscall.EINVAL)
	case d.isPipe() && !f.h.closed.Load():
		return 0, f.fail("write", syscall.ESPIPE)
	}
	if err := f.ready("write", true); err != nil {
		return 0, err
	}
	switch {
	case d.dev != noDevice:
		n, e := d.dev.write(p)
		return n, f.wrote(e)
	}
	if d.flag&os.O_APPEND != 0 {
		off = atEnd
	}
	n, _, e := d.fs.writeAt(d.v, &d.cred, p, off)
	return n, f.wrote(e)
}

// Seek sets the offset of the next Read or Write, as [io.Seeker] says. A pipe is ESPIPE.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	d := f.h.d
	switch {
	case f.h.closed.Load():
		return 0, f.fail("seek", fs.ErrClosed)
	case d.isPipe():
		return 0, f.fail("seek", syscall.ESPIPE)
	case d.dev != noDevice:
		return 0, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += d.off
	case io.SeekEnd:
		info, err := f.Stat()
		if err != nil {
			return 0, err
		}
		offset += info.Size
	default:
		return 0, f.fail("seek", syscall.EINVAL)
	}
	if offset < 0 {
		return 0, f.fail("seek", syscall.EINVAL)
	}
	if d.dir && offset == 0 {
		d.at = ""
	}
	d.off = offset
	return offset, nil
}

// ReadDir returns the next n entries in the order of their names, and io.EOF at the
// end; with n ≤ 0 all that are left, and no error at the end.
func (f *File) ReadDir(n int) ([]DirEntry, error) {
	d := f.h.d
	switch {
	case f.h.closed.Load():
		return nil, f.fail("readdir", fs.ErrClosed)
	case !d.dir:
		return nil, f.fail("readdir", syscall.ENOTDIR)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fs.mu.RLock()
	entries, e := d.fs.node(d.v).dir()
	var list []DirEntry
	if e == 0 {
		list = entries.list(d.at, n)
	}
	d.fs.mu.RUnlock()
	if e != 0 {
		return nil, f.fail("readdir", e)
	}
	d.fs.accessed(d.v.ino, d.v)
	if d.rare != nil {
		for i := range list {
			list[i].Ino = inoOn(d.rare.dev, list[i].Ino)
		}
	}
	if len(list) > 0 {
		d.at = list[len(list)-1].Name
	} else if n > 0 {
		return nil, io.EOF
	}
	return list, nil
}

// Stat describes the file.
func (f *File) Stat() (Info, error) {
	d := f.h.d
	switch {
	case f.h.closed.Load():
		return Info{}, f.fail("stat", fs.ErrClosed)
	case d.fs == nil:
		return Info{Name: d.name, Mode: fs.ModeNamedPipe | 0o600, Nlink: 1, Ino: d.pipe.ino()}, nil
	}
	d.fs.mu.RLock()
	defer d.fs.mu.RUnlock()
	i := d.fs.infoOf(d.fs.node(d.v), d.name)
	if d.rare != nil {
		i.Dev = d.rare.dev
		i.Ino = inoOn(i.Dev, i.Ino)
	}
	return i, nil
}

// Truncate sets the size.
func (f *File) Truncate(size int64) error {
	d := f.h.d
	switch {
	case f.h.closed.Load():
		return f.fail("truncate", fs.ErrClosed)
	case !f.IsWritable() || d.fs == nil || d.pipe != nil || d.dev != noDevice || size < 0:
		return f.fail("truncate", syscall.EINVAL)
	}
	d.fs.mu.Lock()
	defer d.fs.mu.Unlock()
	n := d.fs.ownNode(d.v)
	n.dropPrivileges(&d.cred)
	if e := d.fs.resize(n, size); e != 0 {
		return f.fail("truncate", e)
	}
	n.mtime = d.fs.stamp()
	n.ctime = n.mtime
	return nil
}

// Sync only checks that f is open: a File has no slower storage.
func (f *File) Sync() error {
	if f.h.closed.Load() {
		return f.fail("sync", fs.ErrClosed)
	}
	return nil
}

// ReadFile returns the content of the file at path. A named pipe is read to its end.
func (f *FS) ReadFile(ctx context.Context, c Cred, path string) ([]byte, error) {
	file, err := f.OpenFile(ctx, c, path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode.IsRegular() {
		return io.ReadAll(file.WithContext(ctx))
	}
	data := make([]byte, info.Size)
	n, err := file.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data[:n], nil
}

// WriteFile creates the file at path with perm, or empties the existing one, and writes data to it.
func (f *FS) WriteFile(ctx context.Context, c Cred, path string, data []byte, perm fs.FileMode) error {
	file, err := f.OpenFile(ctx, c, path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = file.WithContext(ctx).Write(data)
	return errors.Join(err, file.Close())
}

// MkdirAll creates a directory and those above it that are missing. It is not an error if
// there is a directory already.
func (f *FS) MkdirAll(c Cred, path string, perm fs.FileMode) error {
	err := f.Mkdir(c, path, perm)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.EEXIST):
		if info, e := f.Stat(c, path); e == nil && info.IsDir() {
			return nil
		}
		return err
	case !errors.Is(err, syscall.ENOENT):
		return err
	}
	up := strings.TrimRight(path, "/")
	i := strings.LastIndexByte(up, '/')
	if i <= 0 {
		return err
	}
	if err := f.MkdirAll(c, up[:i], perm); err != nil {
		return err
	}
	if err := f.Mkdir(c, path, perm); err != nil && !errors.Is(err, syscall.EEXIST) {
		return err
	}
	return nil
}
