package shell

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// description is an open file description: what descriptors of several processes share.
// It is a file or pipe of vfs, a stream of the host, or output that is being captured.
type description struct {
	refs atomic.Int32
	file *vfs.File // nil for the others
	host *hostStream
	capt *capture
	name string
	mode uint8 // modeRead, modeWrite
	seek bool  // a regular file: what is read too far can be given back
	text bool  // ahead is all there is: a here-document

	mu    sync.Mutex
	ahead []byte // read from a pipe and not yet given to anyone
	pipe  uint64 // the number that it goes by as a pipe
}

const (
	modeRead  = 1
	modeWrite = 2
)

// newFile takes the file over.
func newFile(f *vfs.File, name string) *description {
	d := &description{file: f, name: name}
	if f.Readable() {
		d.mode |= modeRead
	}
	if f.Writable() {
		d.mode |= modeWrite
	}
	if info, err := f.Stat(); err == nil {
		d.seek = info.Mode.IsRegular()
	}
	d.refs.Store(1)
	return d
}

// newPipeEnd is newFile for an end of a pipe.
func newPipeEnd(f *vfs.File, mode uint8) *description {
	d := &description{file: f, mode: mode, name: "pipe"}
	d.refs.Store(1)
	return d
}

func (d *description) ref() *description {
	d.refs.Add(1)
	return d
}

// unref gives up a reference; the last one closes.
func (d *description) unref() {
	if d.refs.Add(-1) != 0 {
		return
	}
	switch {
	case d.file != nil:
		// Writes were answered when they were made; nothing is left to fail.
		_ = d.file.Close()
	case d.capt != nil:
		d.capt.finish()
	case d.host != nil:
		d.host.finish()
	}
}

// read reads what is there; it waits for a pipe until ctx ends.
func (d *description) read(ctx context.Context, b []byte) (int, error) {
	if d.mode&modeRead == 0 {
		return 0, syscall.EBADF
	}
	if len(b) == 0 {
		return 0, nil
	}
	if !d.seek {
		d.mu.Lock()
		if len(d.ahead) > 0 {
			n := copy(b, d.ahead)
			d.ahead = d.ahead[n:]
			d.mu.Unlock()
			return n, nil
		}
		d.mu.Unlock()
	}
	switch {
	case d.text:
		return 0, io.EOF
	case d.file == nil && d.host == nil:
		return 0, syscall.EBADF
	case d.host != nil:
		return d.host.read(ctx, b)
	case d.seek:
		return d.file.Read(b)
	}
	return d.file.WithContext(ctx).Read(b)
}

// unread gives back bytes read from a pipe; the next reader gets them first.
func (d *description) unread(b []byte) {
	if len(b) == 0 {
		return
	}
	if d.seek {
		// A regular file that was just read can be sought.
		_, _ = d.file.Seek(int64(-len(b)), io.SeekCurrent)
		return
	}
	d.mu.Lock()
	d.ahead = append(append([]byte(nil), b...), d.ahead...)
	d.mu.Unlock()
}

func (d *description) write(ctx context.Context, b []byte) (int, error) {
	switch {
	case d.mode&modeWrite == 0:
		return 0, syscall.EBADF
	case d.capt != nil:
		return d.capt.write(b)
	case d.host != nil:
		return d.host.write(b)
	case d.seek:
		return d.file.Write(b)
	}
	return d.file.WithContext(ctx).Write(b)
}

// stdStream is a standard stream of a command: a description, bound to the end of the process.
type stdStream struct {
	d   *description
	ctx context.Context //nolint:containedctx // io.Reader has no other way.
}

func (s *stdStream) Read(b []byte) (int, error) {
	if s.d == nil {
		return 0, syscall.EBADF
	}
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.d.read(s.ctx, b)
}

func (s *stdStream) Write(b []byte) (int, error) {
	if s.d == nil {
		return 0, syscall.EBADF
	}
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.d.write(s.ctx, b)
}

// Terminal returns the size of the terminal that the stream leads to, which the caller of Run has given
// with a method of this kind; not ok when it leads to none.
func (s *stdStream) Terminal() (columns, rows int, ok bool) {
	if s.d == nil || s.d.host == nil {
		return 0, 0, false
	}
	return s.d.host.terminal()
}

// open returns the stream as a file, sharing its offset.
func (s *stdStream) open(ctx context.Context) (*vfs.File, error) {
	if s.d == nil {
		return nil, syscall.EBADF
	}
	return s.d.open(ctx)
}

// fdTable is the descriptors of a process. Processes share it until one changes it.
type fdTable struct {
	refs atomic.Int32
	mu   sync.Mutex // held by the owner while he changes fds, and by others while they read
	fds  []*description
}

func newFdTable() *fdTable {
	t := &fdTable{}
	t.refs.Store(1)
	return t
}

func (t *fdTable) share() *fdTable {
	t.refs.Add(1)
	return t
}

// release gives the table up; the last one closes what is open.
func (t *fdTable) release() {
	if t.refs.Add(-1) != 0 {
		return
	}
	t.mu.Lock()
	fds := t.fds
	t.fds = nil
	t.mu.Unlock()
	for _, d := range fds {
		if d != nil {
			d.unref()
		}
	}
}

// take is get for other processes than the owner; who takes gives the reference back.
func (t *fdTable) take(fd int) *description {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if d := t.get(fd); d != nil {
		return d.ref()
	}
	return nil
}

// numbers lists what is open, for other processes.
func (t *fdTable) numbers() []int {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []int
	for fd, d := range t.fds {
		if d != nil {
			list = append(list, fd)
		}
	}
	return list
}

// get returns the description of a descriptor, nil when it is closed.
func (t *fdTable) get(fd int) *description {
	if fd < 0 || fd >= len(t.fds) {
		return nil
	}
	return t.fds[fd]
}

// ownFds makes the process's table its own.
func (sh *interp) ownFds() *fdTable {
	t := sh.fds
	if t.refs.Load() == 1 {
		return t
	}
	c := newFdTable()
	c.fds = make([]*description, len(t.fds))
	for i, d := range t.fds {
		if d != nil {
			c.fds[i] = d.ref()
		}
	}
	t.release()
	sh.fds = c
	sh.showFds()
	return c
}

// showFds lets other processes see what this one has open, if it is one for others.
func (sh *interp) showFds() {
	if sh.ownProcess {
		sh.p.table.Store(sh.fds)
	}
}

// setFd makes fd the description, taking over the reference; nil closes it.
func (sh *interp) setFd(fd int, d *description) error {
	if fd >= sh.maxFiles() {
		if d != nil {
			d.unref()
		}
		return syscall.EBADF
	}
	t := sh.ownFds()
	if d == nil && fd >= len(t.fds) {
		return nil
	}
	t.mu.Lock()
	for fd >= len(t.fds) {
		t.fds = append(t.fds, nil)
	}
	old := t.fds[fd]
	t.fds[fd] = d
	t.mu.Unlock()
	if old != nil {
		old.unref()
	}
	return nil
}

// freeFd returns the lowest closed descriptor from at on.
func (sh *interp) freeFd(at int) (int, error) {
	for fd := at; fd < sh.maxFiles(); fd++ {
		if sh.fds.get(fd) == nil {
			return fd, nil
		}
	}
	return 0, syscall.EMFILE
}

func (sh *interp) maxFiles() int {
	n := sh.m.limits.Files
	if sh.rlimit != nil && sh.rlimit.files >= 0 {
		n = min(n, sh.rlimit.files)
	}
	return n
}

// stream returns a view of the descriptor.
func (sh *interp) stream(ctx context.Context, fd int) *stdStream {
	return &stdStream{d: sh.fds.get(fd), ctx: ctx}
}

// openFile opens a path for a redirection or built-in.
func (sh *interp) openFile(path string, flag int) (*description, error) {
	if fd, ok := ownStream(path); ok {
		d := sh.fds.get(fd)
		if d == nil {
			return nil, syscall.ENOENT
		}
		return sh.reopen(sh.ctx, d, flag)
	}
	f, err := sh.m.fs.OpenFile(sh.ctx, sh.cred, sh.abs(path), flag, 0o666&^sh.umask)
	if err != nil {
		return nil, err
	}
	if s, ok := f.Stream().(shared); ok { // One that the process has open, by another name.
		d := s.d.ref()
		_ = f.Close()
		return d, nil
	}
	return newFile(f, path), nil
}
