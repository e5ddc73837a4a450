package fd

import (
	"context"
	"io"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Stream is a standard stream of a command: a description whose calls end with the process.
type Stream struct {
	Description *Description // nil: closed

	ctx context.Context //nolint:containedctx // io.Reader has no other way.
}

// Read implements io.Reader.
func (s *Stream) Read(b []byte) (int, error) {
	if s.Description == nil {
		return 0, syscall.EBADF
	}
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.Description.Read(s.ctx, b)
}

// Write implements io.Writer.
func (s *Stream) Write(b []byte) (int, error) {
	if s.Description == nil {
		return 0, syscall.EBADF
	}
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.Description.Write(s.ctx, b)
}

// Terminal returns the size of the terminal that the stream leads to, which the caller of Run has given
// with a method of this kind; not ok when it leads to none.
func (s *Stream) Terminal() (columns, rows int, ok bool) {
	if s.Description == nil {
		return 0, 0, false
	}
	return s.Description.terminal()
}

// NewStream returns a stream whose calls end with ctx.
func NewStream(ctx context.Context, d *Description) *Stream { return &Stream{Description: d, ctx: ctx} }

// Open returns the stream as a file, sharing its offset.
func (s *Stream) Open(ctx context.Context) (*vfs.File, error) {
	if s.Description == nil {
		return nil, syscall.EBADF
	}
	return s.Description.Open(ctx)
}

// Shared is the stream behind a file that Description.Open has made.
type Shared struct {
	*Stream
}

// Close gives the reference back.
func (s Shared) Close() error {
	s.Description.Unref()
	return nil
}

// ReaderOf returns the description behind a reader, or a new one of it. The caller gives up the reference.
func ReaderOf(r io.Reader) *Description {
	if s, ok := r.(*Stream); ok {
		if s.Description == nil {
			return nil
		}
		return s.Description.Ref()
	}
	if f, ok := r.(*vfs.File); ok {
		return NewFile(f.Dup(), "pipe")
	}
	return NewHost(r, nil, "stdin")
}

// WriterOf returns the description behind a writer, or a new one of it. The caller gives up the reference.
func WriterOf(w io.Writer) *Description {
	if s, ok := w.(*Stream); ok {
		if s.Description == nil {
			return nil
		}
		return s.Description.Ref()
	}
	if f, ok := w.(*vfs.File); ok {
		return NewFile(f.Dup(), "pipe")
	}
	return NewHost(nil, w, "stdout")
}
