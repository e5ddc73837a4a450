package stage

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// manifest records a copy: the fingerprints of each entry in the workspace and in the copy.
type manifest = pathMap[copied]

type copied struct {
	Low  tree.Fingerprint `json:"low"`
	Copy tree.Fingerprint `json:"copy"`
}

// copier copies a workspace or a stage's view to a stage's directory.
type copier struct {
	ctx      context.Context //nolint:containedctx // bounds one copy
	from, to *tree.Tree
	manifest manifest
	view     *clone            // copies a stage's view, with an overlay's attributes and whiteouts; nil: a workspace
	links    map[uint64]string // by inode: the first name of a file with several names
	clones   bool              // the file system shares blocks; false after the first refusal
	any      bool              // the copy shares blocks
}

// copyWorkspace copies the workspace from, without sockets and devices, to the empty directory to.
func copyWorkspace(from, to string, inode uint64) (cloned bool, m manifest, err error) {
	c := &copier{ctx: context.Background(), manifest: manifest{}, links: map[uint64]string{}, clones: true}
	if c.from, err = tree.Open(from, false); err != nil {
		return false, nil, err
	}
	defer c.from.Close()
	if c.to, err = tree.Open(to, true); err != nil {
		return false, nil, err
	}
	defer c.to.Close()
	var st unix.Stat_t
	if err := unix.Fstat(c.from.FD(), &st); err != nil {
		return false, nil, err
	}
	if st.Ino != inode {
		return false, nil, sandbox.Errorf(sandbox.Denied, "%s was exchanged meanwhile", from)
	}
	err = c.directory("")
	return c.clones && c.any, c.manifest, err
}

func (c *copier) directory(path string) error {
	names, err := c.from.Names(path)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := c.entry(tree.Join(path, n)); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) entry(path string) error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	st, err := c.from.Lstat(path)
	if err != nil || !st.Exists {
		return err
	}
	switch st.Kind() {
	case patch.Directory:
		if err = c.to.Mkdir(path, 0o700); err == nil {
			err = c.inside(path, st)
		}
	case patch.Symlink:
		var target string
		if target, err = c.from.Readlink(path); err == nil {
			err = c.to.Symlink(target, path)
		}
	case patch.FIFO:
		err = c.to.Mkfifo(path)
	case patch.File:
		err = c.file(path, st)
	case patch.Socket, patch.Device:
		if c.view == nil {
			return nil
		}
		err = c.to.Mknod(path, st)
	}
	if err != nil {
		return err
	}
	return c.finish(path, st)
}

// inside copies the entries of a directory. It temporarily changes the mode of an own directory
// that its mode makes unreadable.
func (c *copier) inside(path string, st tree.Info) error {
	if c.from.IsOwn() && st.Mode&0o500 != 0o500 {
		return c.from.Unlocked(path, func() error { return c.directory(path) })
	}
	return c.directory(path)
}

func (c *copier) file(path string, st tree.Info) error {
	if st.Nlink > 1 {
		if first, ok := c.links[st.Ino]; ok {
			return c.to.Link(first, path)
		}
		c.links[st.Ino] = path
	}
	src, err := c.from.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := c.to.Create(path)
	if err != nil {
		return err
	}
	if c.clones {
		if err := unix.IoctlFileClone(int(dst.Fd()), int(src.Fd())); err == nil {
			c.any = true
			return dst.Close()
		}
		c.clones = false
	}
	return errors.Join(copySparse(c.ctx, dst, src), dst.Close())
}

// finish sets the mode and time of the original on the copy, and records both entries.
func (c *copier) finish(path string, st tree.Info) error {
	if c.view != nil {
		if err := c.view.copyOwner(c, path, st); err != nil {
			return err
		}
	}
	if st.Kind() != patch.Symlink {
		if err := c.to.Chmod(path, st.Mode&0o7777); err != nil {
			return err
		}
	}
	err := c.to.In(path, func(dir int, name string) error {
		times := []unix.Timespec{st.Atim, st.Mtim}
		return unix.UtimesNanoAt(dir, name, times, unix.AT_SYMLINK_NOFOLLOW)
	})
	if err != nil {
		return err
	}
	now, err := c.to.Lstat(path)
	if c.view != nil {
		c.view.note(path, st, now)
		return err
	}
	c.manifest[path] = copied{Low: st.Fingerprint(), Copy: now.Fingerprint()}
	return err
}

// piece is the number of bytes that are copied between two checks of the context.
const piece = 64 << 20

// copySparse copies src with its holes to the empty dst. It fails when ctx ends.
func copySparse(ctx context.Context, dst, src *os.File) error {
	info, err := src.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := unix.Seek(int(src.Fd()), at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // a hole to the end
		}
		if err != nil {
			data = at // this file system does not report holes
		}
		hole, err := unix.Seek(int(src.Fd()), data, unix.SEEK_HOLE)
		if err != nil || hole <= data {
			hole = size
		}
		hole = min(hole, data+piece)
		if _, err := src.Seek(data, io.SeekStart); err != nil {
			return err
		}
		if _, err := dst.Seek(data, io.SeekStart); err != nil {
			return err
		}
		n, err := io.CopyN(dst, src, hole-data)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if at = data + n; n < hole-data {
			break // the file was truncated meanwhile
		}
	}
	return dst.Truncate(size)
}

// reserved is the prefix of the names of Apply's temporary files.
const reserved = ".agent-sandbox-stage-"

func isReserved(path string) bool {
	return len(filepath.Base(path)) > len(reserved) && filepath.Base(path)[:len(reserved)] == reserved
}
