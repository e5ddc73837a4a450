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

// clone copies a stage to another directory, and shares blocks if the file system can. It cannot use hard links, because an
// overlay writes to the files of its upper directory.
type clone struct {
	was, is manifest // of the original and the clone, if the stage is a copy
	size    int64    // bytes on disk, if nothing is shared
}

// cloneStage copies the stage in from to the empty directory to. No process must write to the stage meanwhile. It syncs
// only the metadata: syncfs(2) would wait for the writes of all processes, and fsync(2) of each file for as many
// commits.
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
		return 0, wrapDiskFull(err)
	}
	if c.was != nil {
		err = writeJSON(filepath.Join(to, manifestFile), c.manifest())
	}
	if err = errors.Join(err, twin.save()); err != nil {
		return 0, wrapDiskFull(err)
	}
	return c.size, nil
}

// CloneTree copies the tree in from to the empty directory to. The tree may contain any files that commands can create.
// Both are own trees (see [tree.Open]). It shares blocks if the file system can. size is the size of the copy on disk
// if nothing is shared. Exhausted: the disk is full.
func CloneTree(ctx context.Context, from, to string) (size int64, err error) {
	c := &clone{is: manifest{}}
	err = c.run(ctx, from, to)
	return c.size, wrapDiskFull(err)
}

// wrapDiskFull adds the code Exhausted to the error of a full disk.
func wrapDiskFull(err error) error {
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

// copyOwner gives the copy the owner and the attributes of the original.
func (v *clone) copyOwner(c *copier, path string, st tree.Info) error {
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
		return nil // only these types have user attributes (xattr(7))
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
	ours          = "user."  // commands cannot set attributes of other namespaces
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

// note adds the copy of a recorded entry to the record of the clone.
func (v *clone) note(path string, from, to tree.Info) {
	if was, ok := v.was[path]; ok && was.Copy.IsSame(from.Fingerprint()) {
		v.is[path] = copied{Low: was.Low, Copy: to.Fingerprint()}
	}
}

// manifest returns the record of the clone, in which the entries that had changed in the original count as changed.
func (v *clone) manifest() manifest {
	for path, was := range v.was {
		if _, ok := v.is[path]; !ok {
			v.is[path] = copied{Low: was.Low} // differs from every entry
		}
	}
	return v.is
}
