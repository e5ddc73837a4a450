package stage

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// clone is a copy of a stage in another directory, which shares blocks with it where the file system can. Hard links
// would not do: an overlay writes to the files that are in it.
type clone struct {
	was, is manifest // of a stage that is a copy itself
	size    int64    // bytes on the disk, if nothing is shared
}

// cloneStage makes the empty directory to a stage like the one in from, which rests. Only its description is brought to the
// disk: syncfs(2) would wait for all that everybody writes there, and fsync(2) of each file for as many commits.
func cloneStage(ctx context.Context, from, to string) (size int64, err error) {
	s, err := readStage(from)
	if err != nil {
		return 0, err
	}
	c := &clone{is: manifest{}}
	switch s.Kind {
	case Overlay:
		err = mkdirs(to, upperDir, workDir)
	case Copy, Reflink:
		if err = readJSON(filepath.Join(from, manifestFile), &c.was); err == nil {
			err = mkdirs(to, treeDir)
		}
	}
	if err != nil {
		return 0, err
	}
	twin := newStage(to, s.data)
	if err := c.run(ctx, s.viewDir(), twin.viewDir()); err != nil {
		return 0, full(err)
	}
	if c.was != nil {
		err = writeJSON(filepath.Join(to, manifestFile), c.manifest())
	}
	if err = errors.Join(err, twin.save()); err != nil {
		return 0, full(err)
	}
	return c.size, nil
}

// CloneTree makes the empty directory to a copy of the tree in from, both of them ours, with whatever commands can make of it.
// They share blocks where the file system can. size is what the copy takes on the disk if nothing is shared.
func CloneTree(ctx context.Context, from, to string) (size int64, err error) {
	c := &clone{is: manifest{}}
	err = c.run(ctx, from, to)
	return c.size, full(err)
}

// full says when it was the disk's room that ran out.
func full(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return sandbox.Errorf(sandbox.Exhausted, "copy the files: %w", err)
	}
	return err
}

func (v *clone) run(ctx context.Context, from, to string) (err error) {
	c := &copier{ctx: ctx, view: v, links: map[uint64]string{}, clones: true}
	if c.from, err = tree.Open(from, true); err != nil {
		return err
	}
	defer c.from.Close()
	if c.to, err = tree.Open(to, true); err != nil {
		return err
	}
	defer c.to.Close()
	st, err := c.from.Lstat("")
	if err != nil {
		return err
	}
	if err := c.directory(""); err != nil {
		return err
	}
	if err := copyAttributes(c.from.FD(), c.to.FD()); err != nil {
		return err
	}
	return unix.Fchmod(c.to.FD(), st.Mode&0o7777)
}

// belongings gives the copy the owner and the attributes of the original.
func (v *clone) belongings(c *copier, path string, st tree.Info) error {
	v.size += st.Blocks * 512
	now, err := c.to.Lstat(path)
	if err != nil {
		return err
	}
	if now.Uid != st.Uid || now.Gid != st.Gid {
		err := c.to.In(path, func(dir int, name string) error {
			return unix.Fchownat(dir, name, int(st.Uid), int(st.Gid), unix.AT_SYMLINK_NOFOLLOW)
		})
		if err != nil {
			return err
		}
	}
	if !st.IsDir() && !st.IsFile() {
		return nil // user attributes are for these only (xattr(7))
	}
	to, err := c.to.OpenAt(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return err
	}
	defer unix.Close(to)
	return c.from.Reading(path, st, func(from int) error { return copyAttributes(from, to) })
}

const (
	maxAttributes = 64 << 10 // XATTR_LIST_MAX, and XATTR_SIZE_MAX
	ours          = "user."  // the others are not a command's to set
)

func copyAttributes(from, to int) error {
	n, err := unix.Flistxattr(from, nil)
	if err != nil || n == 0 {
		return ignoreUnsupported(err)
	}
	list := make([]byte, maxAttributes)
	if n, err = unix.Flistxattr(from, list); err != nil {
		return ignoreUnsupported(err)
	}
	var value []byte
	for name := range bytes.SplitSeq(list[:n], []byte{0}) {
		if !strings.HasPrefix(string(name), ours) {
			continue
		}
		if value == nil {
			value = make([]byte, maxAttributes)
		}
		size, err := unix.Fgetxattr(from, string(name), value)
		if err != nil {
			return err
		}
		if err := unix.Fsetxattr(to, string(name), value[:size], 0); err != nil {
			return err
		}
	}
	return nil
}

func ignoreUnsupported(err error) error {
	if errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	return err
}

// note follows an entry of the record from the original to the copy.
func (v *clone) note(path string, from, to tree.Info) {
	if was, ok := v.was[path]; ok && was.Copy.Same(from.Fingerprint()) {
		v.is[path] = copied{Low: was.Low, Copy: to.Fingerprint()}
	}
}

// manifest is the record of the copy: what had changed since the original was made has changed in it too.
func (v *clone) manifest() manifest {
	for path, was := range v.was {
		if _, ok := v.is[path]; !ok {
			v.is[path] = copied{Low: was.Low} // nothing is like it
		}
	}
	return v.is
}
