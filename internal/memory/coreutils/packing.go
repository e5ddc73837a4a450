package coreutils

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// pump copies all of src to dst and takes fuel for it. An error of dst is a writeError.
func pump(p *shell.Proc, dst io.Writer, src io.Reader) (n int64, err error) {
	next := nextPart(src)
	for {
		b, err := next()
		n += int64(len(b))
		if len(b) > 0 {
			if err := p.Spend(1 + len(b)>>6); err != nil {
				return n, err
			}
			if _, err := dst.Write(b); err != nil {
				return n, &writeError{err}
			}
		}
		switch {
		case isEnd(err):
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
			return func() ([]byte, error) { return f.Next(bufferSize) }
		}
	}
	buf := make([]byte, bufferSize)
	return func() ([]byte, error) {
		n, err := src.Read(buf)
		return buf[:n], err
	}
}

// writeError is an error of the side that is written to.
type writeError struct{ err error }

func (w *writeError) Error() string { return w.err.Error() }
func (w *writeError) Unwrap() error { return w.err }

// isWriteError tells whether writing failed.
func isWriteError(err error) bool {
	_, ok := errors.AsType[*writeError](err)
	return ok
}

// countingWriter counts what is written.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// countingReader counts what is read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// replacement is a file that takes the place of another one, as compressing does.
type replacement struct {
	p    *shell.Proc
	path string
	file *vfs.File
}

// newReplacement makes path, which must not be there yet.
func newReplacement(p *shell.Proc, path string) (*replacement, error) {
	f, err := p.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &replacement{p, path, f}, nil
}

// finish closes the file and gives it what the one it replaces has.
func (r *replacement) finish(like *vfs.Info, mtime time.Time) error {
	err := r.file.Close()
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

// drop removes the file.
func (r *replacement) drop() {
	_ = r.file.Close()
	_ = r.p.Unlink(r.path)
}
