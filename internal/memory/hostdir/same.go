package hostdir

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// isApplied reports whether the host's state at the path of a change equals the change's result.
func (a *applier) isApplied(c vfs.Change) bool {
	if !hasStagedFile(c) {
		return false
	}
	info, err := a.lstat(c.Path)
	if err != nil || info.Mode().Type() != c.New.Mode.Type() {
		return false
	}
	if info.Mode().Type() == fs.ModeSymlink {
		is, err := a.mount.root.Readlink(c.Path)
		wanted, werr := a.tree.Readlink(vfs.Cred{}, a.inside(c.Path))
		return err == nil && werr == nil && is == wanted
	}
	return info.Mode().Perm() == c.New.Mode.Perm() && info.Size() == c.New.Size && a.isSameContent(c)
}

// isSameContent reports whether the file of the host reads as that of a change. One that cannot be read does not.
func (a *applier) isSameContent(c vfs.Change) bool {
	wanted, err := a.tree.OpenFile(context.Background(), vfs.Cred{}, a.inside(c.Path), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer wanted.Close()
	is, err := a.mount.root.OpenFile(c.Path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer is.Close()
	// What was exchanged since for something without an end is read for no longer than the file is.
	_, err = wanted.WriteTo(&comparison{with: io.LimitReader(is, c.New.Size)})
	return err == nil
}

// errDiffers ends a comparison.
var errDiffers = errors.New("it differs")

// comparison is a writer that fails when the data differs from what it reads.
type comparison struct {
	with io.Reader
	buf  [32 << 10]byte
}

func (r *comparison) Write(p []byte) (int, error) {
	for n := 0; n < len(p); {
		part := r.buf[:min(len(r.buf), len(p)-n)]
		if _, err := io.ReadFull(r.with, part); err != nil {
			return n, err
		}
		if !bytes.Equal(part, p[n:n+len(part)]) {
			return n, errDiffers
		}
		n += len(part)
	}
	return len(p), nil
}
