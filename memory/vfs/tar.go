package vfs

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
)

// WriteTar writes the content of the directory dir as a tar archive in the PAX format:
// modes, owners by number, times in nanoseconds, hard and symbolic links, devices and
// named pipes. Names begin with "./". Files with holes are sparse, as GNU tar writes them, and their
// holes are not looked at. Sockets of a layer are left out: no archive holds one.
func (s *Snapshot) WriteTar(w io.Writer, dir string) error {
	f := s.FS(Options{NoAtime: true})
	top, e := f.find(&Cred{}, dir, true)
	if e != 0 {
		return pathError("tar", dir, e)
	}
	t := &tarWriter{tree: &f.tree, tar: tarfile.NewWriter(w, tarfile.Pax), seen: map[uint64]string{}}
	if err := t.node(".", top); err != nil {
		return err
	}
	return t.tar.Close(tarfile.BlockSize)
}

type tarWriter struct {
	tree *tree
	tar  *tarfile.Writer
	seen map[uint64]string // by number of an inode with several names: the one written first
}

func (t *tarWriter) node(name string, n *inode) error {
	h := &tarfile.Header{
		Name: name, Mode: n.mode & perms, UID: n.uid, GID: n.gid,
		Mtime: n.mtime.time(), Atime: n.atime.time(), Ctime: n.ctime.time(),
	}
	if !n.isDir() && n.nlink > 1 {
		if first, ok := t.seen[n.ino]; ok {
			h.Type, h.Link = tarfile.Link, first
			return t.tar.Header(h)
		}
		t.seen[n.ino] = name
	}
	switch n.mode & sIFMT {
	case sIFREG:
		return t.file(h, n)
	case sIFDIR:
		h.Type, h.Name = tarfile.Dir, name+"/"
		if err := t.tar.Header(h); err != nil {
			return err
		}
		return t.below(name, n)
	case sIFLNK:
		h.Type, h.Link = tarfile.Symlink, n.target
	case sIFIFO:
		h.Type = tarfile.Fifo
	case sIFCHR:
		h.Type, h.Major, h.Minor = tarfile.Char, Major(n.rdev), Minor(n.rdev)
	case sIFBLK:
		h.Type, h.Major, h.Minor = tarfile.Block, Major(n.rdev), Minor(n.rdev)
	default:
		return nil
	}
	return t.tar.Header(h)
}

func (t *tarWriter) below(name string, n *inode) error {
	d, e := n.dir()
	if e != 0 {
		return pathError("tar", name, e)
	}
	var err error
	d.each("", func(e dirent) bool {
		kid, bad := t.tree.current(e)
		if bad != 0 {
			err = pathError("tar", name+"/"+e.name, bad)
		} else if kid != nil {
			err = t.node(name+"/"+e.name, kid)
		}
		return err == nil
	})
	return err
}

func (t *tarWriter) file(h *tarfile.Header, n *inode) error {
	h.Type, h.Size = tarfile.Regular, n.size
	runs := []tarfile.Run{{Size: n.size}}
	if n.lower == nil { // else what looks like holes comes from below
		if own := n.runs(); len(own) != 1 || own[0].Size != n.size {
			h.Holes, runs = n.size > 0, own
		}
	}
	if h.Holes {
		if last := len(runs) - 1; last < 0 || runs[last].Off+runs[last].Size < n.size {
			runs = append(runs, tarfile.Run{Off: n.size}) // GNU tar marks the end so
		}
		h.Runs = runs
		for _, r := range runs {
			h.Stored += r.Size
		}
	}
	if err := t.tar.Header(h); err != nil {
		return err
	}
	for _, r := range runs {
		if err := n.copyTo(t.tar, r.Off, r.Size); err != nil {
			return err
		}
	}
	return nil
}

// runs returns the parts of a file that are not holes.
func (c *content) runs() []tarfile.Run {
	var runs []tarfile.Run
	add := func(i uint64, _ *chunk) bool {
		off, size := int64(i)<<chunkBits, span(c.size, i)
		if last := len(runs) - 1; last >= 0 && runs[last].Off+runs[last].Size == off {
			runs[last].Size += size
		} else if size > 0 {
			runs = append(runs, tarfile.Run{Off: off, Size: size})
		}
		return true
	}
	if c.first != nil {
		add(0, c.first)
	}
	c.rest.each(1, add)
	return runs
}

// copyTo writes size bytes at off to w.
func (c *content) copyTo(w io.Writer, off, size int64) error {
	for size > 0 {
		part, e := c.slice(nil, off, int(min(size, chunkSize)))
		if e != 0 {
			return e
		}
		if len(part) == 0 {
			return io.ErrUnexpectedEOF
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
		off += int64(len(part))
		size -= int64(len(part))
	}
	return nil
}

// ReadTar adds the members of the tar archive below the directory dir, as root: modes,
// owners by number, times, links, devices, named pipes. Blocks of zeros become holes.
// What is in the way is replaced, but a directory stays one. No name or link in the archive
// makes it write outside dir: names are taken below it, and links are never followed.
// A fault of the archive is an error; the members read before it stay.
func (f *FS) ReadTar(ctx context.Context, r io.Reader, dir string) error {
	t := &tarReader{fs: f, tar: tar.NewReader(r)}
	var err error
	if t.dir, err = f.Realpath(Cred{}, dir); err != nil {
		return err
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := t.tar.Next()
		if err == io.EOF {
			return t.finish()
		}
		if err != nil {
			return err
		}
		if err := t.entry(ctx, h); err != nil {
			return fmt.Errorf("tar: %q: %w", h.Name, err)
		}
	}
}

type tarReader struct {
	fs   *FS
	tar  *tar.Reader
	dir  string
	safe string        // a directory that was found to be one without links on the way
	dirs []*tar.Header // whose times are set at the end
}

// at returns where a name of the archive belongs.
func (t *tarReader) at(name string) (string, error) {
	if strings.IndexByte(name, 0) >= 0 || name == "" {
		return "", syscall.EINVAL
	}
	return path.Join(t.dir, path.Clean("/"+name)), nil
}

// parent makes sure that the directory of p is one, without a link on the way to it.
func (t *tarReader) parent(p string) error {
	up := path.Dir(p)
	if up == t.safe || p == t.dir {
		return nil
	}
	at := t.dir
	for part := range strings.SplitSeq(strings.TrimPrefix(up[len(t.dir):], "/"), "/") {
		if part == "" {
			continue
		}
		at = path.Join(at, part)
		info, err := t.fs.Lstat(Cred{}, at)
		switch {
		case errors.Is(err, syscall.ENOENT):
			err = t.fs.Mkdir(Cred{}, at, 0o755)
		case err == nil && !info.IsDir():
			// A link here could lead anywhere; nothing is written through it.
			err = syscall.ENOTDIR
		}
		if err != nil {
			return err
		}
	}
	t.safe = up
	return nil
}

func (t *tarReader) entry(ctx context.Context, h *tar.Header) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	p, err := t.at(h.Name)
	if err != nil {
		return err
	}
	if p == t.dir && h.Typeflag != tar.TypeDir {
		return syscall.EINVAL
	}
	if err := t.parent(p); err != nil {
		return err
	}
	if err := t.clear(p, h.Typeflag == tar.TypeDir); err != nil {
		return err
	}
	mode := h.FileInfo().Mode()
	switch h.Typeflag {
	case tar.TypeDir:
		if err := t.fs.Mkdir(Cred{}, p, 0o755); err != nil && !errors.Is(err, syscall.EEXIST) {
			return err
		}
		t.dirs = append(t.dirs, h)
	case tar.TypeReg, tar.TypeGNUSparse:
		err = t.file(ctx, p, h.Size)
	case tar.TypeLink:
		return t.link(h, p)
	case tar.TypeSymlink:
		err = t.fs.Symlink(Cred{}, h.Linkname, p)
	case tar.TypeFifo, tar.TypeChar, tar.TypeBlock:
		err = t.fs.Mknod(Cred{}, p, mode, Device(uint32(h.Devmajor), uint32(h.Devminor)))
	default:
		err = fmt.Errorf("entry of type %q: %w", h.Typeflag, errors.ErrUnsupported)
	}
	if err != nil {
		return err
	}
	return t.attributes(h, p, mode)
}

// clear removes an existing file at the path.
func (t *tarReader) clear(p string, dir bool) error {
	info, err := t.fs.Lstat(Cred{}, p)
	switch {
	case errors.Is(err, syscall.ENOENT):
		return nil
	case err != nil:
		return err
	case info.IsDir() && dir:
		return nil
	case info.IsDir():
		t.safe = ""
		return t.fs.Rmdir(Cred{}, p)
	}
	return t.fs.Unlink(Cred{}, p)
}

func (t *tarReader) link(h *tar.Header, p string) error {
	from, err := t.at(h.Linkname)
	if err != nil {
		return err
	}
	// The way to it must not lead through a link either.
	up := path.Dir(from)
	if real, err := t.fs.Realpath(Cred{}, up); err != nil {
		return err
	} else if real != up {
		return syscall.ELOOP
	}
	return t.fs.Link(Cred{}, from, p)
}

func (t *tarReader) attributes(h *tar.Header, p string, mode fs.FileMode) error {
	if err := t.fs.Chown(Cred{}, p, uint32(h.Uid), uint32(h.Gid), false); err != nil {
		return err
	}
	if mode.Type() != fs.ModeSymlink {
		if err := t.fs.Chmod(Cred{}, p, mode); err != nil {
			return err
		}
	}
	return t.fs.Chtimes(Cred{}, p, h.AccessTime, h.ModTime, false)
}

// file writes a regular file, in which blocks of zeros become holes.
func (t *tarReader) file(ctx context.Context, p string, size int64) error {
	out, err := t.fs.OpenFile(ctx, Cred{}, p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	if size > t.fs.limits.file {
		return syscall.EFBIG // before a small archive makes much of zeros
	}
	buf := make([]byte, min(size, chunkSize))
	for off := int64(0); off < size; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), size-off)]
		if _, err := io.ReadFull(t.tar, buf); err != nil {
			return err
		}
		if size > chunkSize && bytes.Equal(buf, holes[:len(buf)]) {
			continue
		}
		if _, err := out.WriteAt(buf, off); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return out.Truncate(size)
}

// finish sets the attributes that writing into directories has changed.
func (t *tarReader) finish() error {
	for _, h := range t.dirs {
		p, err := t.at(h.Name)
		if err == nil {
			if info, e := t.fs.Lstat(Cred{}, p); e != nil || !info.IsDir() {
				continue // replaced by a later entry
			}
			err = t.attributes(h, p, h.FileInfo().Mode())
		}
		if err != nil {
			return fmt.Errorf("tar: %q: %w", h.Name, err)
		}
	}
	return nil
}
