package fd

import (
	"context"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/gate"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Description is an open file description, which descriptors of several processes share. It is a file or pipe of vfs, a stream of the host, or output that is being captured.
type Description struct {
	refs atomic.Int32
	File *vfs.File // a file or pipe, nil for the others
	Host *Host     // a stream of the host, nil for the others
	capt *Capture
	Name string
	Mode uint8 // ModeRead, ModeWrite
	Seek bool  // a regular file: what is read too far can be given back
	text bool  // only ahead is read: a here-document

	mu    sync.Mutex
	ahead []byte // read from a pipe and not yet returned by Read
	pipe  uint64 // the number that it goes by as a pipe
}

// Modes of a description.
const (
	ModeRead  = 1
	ModeWrite = 2
)

// NewFile returns a description of a file, which it takes over.
func NewFile(f *vfs.File, name string) *Description {
	d := &Description{File: f, Name: name}
	if f.IsReadable() {
		d.Mode |= ModeRead
	}
	if f.IsWritable() {
		d.Mode |= ModeWrite
	}
	if info, err := f.Stat(); err == nil {
		d.Seek = info.Mode.IsRegular()
	}
	d.refs.Store(1)
	return d
}

// newPipeEnd is newFile for an end of a pipe.
func newPipeEnd(f *vfs.File, mode uint8) *Description {
	d := &Description{File: f, Mode: mode, Name: "pipe"}
	d.refs.Store(1)
	return d
}

// Ref adds a reference.
func (d *Description) Ref() *Description {
	d.refs.Add(1)
	return d
}

// Unref gives up a reference; the last one closes.
func (d *Description) Unref() {
	if d.refs.Add(-1) != 0 {
		return
	}
	switch {
	case d.File != nil:
		// Each write has already returned its error.
		_ = d.File.Close()
	case d.capt != nil:
		d.capt.finish()
	case d.Host != nil:
		d.Host.Finish()
	}
}

// IsTerminal reports whether the description leads to the terminal of the machine's caller.
func (d *Description) IsTerminal() bool {
	_, _, ok := d.terminal()
	return ok
}

func (d *Description) terminal() (columns, rows int, ok bool) {
	if d.Host == nil {
		return 0, 0, false
	}
	return d.Host.terminal()
}

// IsText reports whether the description is that of a text in memory, which never waits.
func (d *Description) IsText() bool { return d.text }

// Read reads the available data; it waits for a pipe until ctx ends.
func (d *Description) Read(ctx context.Context, b []byte) (int, error) {
	if d.Mode&ModeRead == 0 {
		return 0, syscall.EBADF
	}
	if len(b) == 0 {
		return 0, nil
	}
	if !d.Seek {
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
	case d.File == nil && d.Host == nil:
		return 0, syscall.EBADF
	case d.Seek:
		return d.File.Read(b)
	}
	g := gate.Of(ctx)
	g.Block()
	defer g.Unblock(ctx)
	if d.Host != nil {
		return d.Host.read(ctx, b)
	}
	return d.File.WithContext(ctx).Read(b)
}

// Unread gives back bytes read from a pipe; the next reader gets them first.
func (d *Description) Unread(b []byte) {
	if len(b) == 0 {
		return
	}
	if d.Seek {
		// Seeking in a regular file that was just read cannot fail.
		_, _ = d.File.Seek(int64(-len(b)), io.SeekCurrent)
		return
	}
	d.mu.Lock()
	d.ahead = append(append([]byte(nil), b...), d.ahead...)
	d.mu.Unlock()
}

// Write writes all of b; it waits for a pipe until ctx ends.
func (d *Description) Write(ctx context.Context, b []byte) (int, error) {
	switch {
	case d.Mode&ModeWrite == 0:
		return 0, syscall.EBADF
	case d.capt != nil:
		return d.capt.Write(b)
	case d.Seek:
		return d.File.Write(b)
	}
	g := gate.Of(ctx)
	g.Pass(ctx)
	g.Block()
	defer g.Unblock(ctx)
	if d.Host != nil {
		return d.Host.write(b)
	}
	return d.File.WithContext(ctx).Write(b)
}

// NewText returns a description from which s is read.
func NewText(s string) *Description {
	d := &Description{Mode: ModeRead, Name: "pipe", ahead: []byte(s), text: true}
	d.refs.Store(1)
	return d
}

// NewPipe returns the ends of a pipe.
func NewPipe() (r, w *Description) {
	a, b := vfs.Pipe()
	return newPipeEnd(a, ModeRead), newPipeEnd(b, ModeWrite)
}

// Shown returns the target of the link in /proc that stands for the description; next numbers a new pipe.
func (d *Description) Shown(next func() uint64) string {
	if d.File != nil {
		switch at, gone := d.File.Path(); {
		case gone:
			return at + " (deleted)"
		case at != "":
			return at
		}
	}
	if d.IsTerminal() {
		return "/dev/tty"
	}
	return "pipe:[" + strconv.FormatUint(d.Number(next), 10) + "]"
}

// Number returns the number of a pipe, or of a stream that looks like one; next is called for the first time.
func (d *Description) Number(next func() uint64) uint64 {
	if d.File != nil {
		if n := d.File.Pipe(next); n != 0 {
			return n
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pipe == 0 {
		d.pipe = next()
	}
	return d.pipe
}

// Open returns the description as a file of vfs, which shares its offset; the caller closes it.
func (d *Description) Open(ctx context.Context) (*vfs.File, error) {
	if d.File != nil {
		d.mu.Lock()
		ahead := len(d.ahead)
		d.mu.Unlock()
		if ahead == 0 {
			return d.File.Dup().WithContext(ctx), nil
		}
	}
	flag := os.O_RDONLY
	switch d.Mode {
	case 0:
		return nil, syscall.EBADF
	case ModeWrite:
		flag = os.O_WRONLY
	case ModeRead | ModeWrite:
		flag = os.O_RDWR
	}
	return vfs.NewStream(d.Name, flag, Shared{&Stream{Description: d.Ref(), ctx: ctx}}), nil
}
