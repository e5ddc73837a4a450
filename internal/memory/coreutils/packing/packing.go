// Package packing holds what programs that pack and compress share: counted copies, the replacement of a
// file by its packed form, and the messages about broken data.
package packing

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Copy copies all of src to dst and takes fuel for it. An error of dst is a WriteError.
func Copy(p *shell.Proc, dst io.Writer, src io.Reader) (n int64, err error) {
	next := nextPart(src)
	for {
		b, err := next()
		n += int64(len(b))
		if len(b) > 0 {
			if err := p.Spend(1 + len(b)>>6); err != nil {
				return n, err
			}
			if _, err := dst.Write(b); err != nil {
				return n, &WriteError{err}
			}
		}
		switch {
		case program.IsEnd(err):
			return n, nil
		case err != nil:
			return n, err
		}
	}
}

// nextPart returns a function that returns what comes next in src. A file in memory is
// not copied.
func nextPart(src io.Reader) func() ([]byte, error) {
	if f, ok := src.(*vfs.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode.IsRegular() {
			return func() ([]byte, error) { return f.Next(program.BufferSize) }
		}
	}
	buf := make([]byte, program.BufferSize)
	return func() ([]byte, error) {
		n, err := src.Read(buf)
		return buf[:n], err
	}
}

// WriteError is an error of the side that is written to.
type WriteError struct{ Err error }

func (w *WriteError) Error() string { return w.Err.Error() }

func (w *WriteError) Unwrap() error { return w.Err }

// IsWriteError reports whether writing failed.
func IsWriteError(err error) bool {
	_, ok := errors.AsType[*WriteError](err)
	return ok
}

// CountingWriter counts the bytes written.
type CountingWriter struct {
	W io.Writer
	N int64
}

func (c *CountingWriter) Write(b []byte) (int, error) {
	n, err := c.W.Write(b)
	c.N += int64(n)
	return n, err
}

// CountingReader counts the bytes read.
type CountingReader struct {
	R io.Reader
	N int64
}

func (c *CountingReader) Read(b []byte) (int, error) {
	n, err := c.R.Read(b)
	c.N += int64(n)
	return n, err
}

// replacement is a file that takes the place of another one, as compressing does.
type replacement struct {
	p    *shell.Proc
	path string
	File *vfs.File
}

// NewReplacement makes path, which must not be there yet.
func NewReplacement(p *shell.Proc, path string) (*replacement, error) {
	f, err := p.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &replacement{p, path, f}, nil
}

// Finish closes the file and gives it what the one it replaces has.
func (r *replacement) Finish(like *vfs.Info, mtime time.Time) error {
	err := r.File.Close()
	mode := like.Mode
	if e := r.p.Chown(r.path, like.UID, like.GID, false); e != nil {
		mode = mode.Perm()
	}
	if e := r.p.Chmod(r.path, mode); err == nil {
		err = e
	}
	if e := r.p.Chtimes(r.path, like.Atime, mtime, false); err == nil {
		err = e
	}
	return err
}

// Drop removes the file.
func (r *replacement) Drop() {
	_ = r.File.Close()
	_ = r.p.Unlink(r.path)
}
