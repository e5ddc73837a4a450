package transfer

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sort"
	"syscall"
	"time"
)

// bufferSize is the number of bytes that are copied at once.
const bufferSize = 256 << 10

// Pack writes the tree below root as tar: the root as ".", then each directory before its entries, sorted by name.
// Symbolic links stay links. It omits sockets, pipes and devices, and files that are removed meanwhile. It reads no
// files outside of root, even if other processes change links in it at the same time.
func Pack(ctx context.Context, w io.Writer, root *os.Root) error {
	return PackWithout(ctx, w, root, func(string, fs.FileMode) bool { return false })
}

// PackWithout is like Pack, but omits the entries for which hides returns true, and all entries below them. Names are
// relative to root, and kind is the type of the entry (see [fs.FileMode.Type]).
func PackWithout(ctx context.Context, w io.Writer, root *os.Root, hides func(name string, kind fs.FileMode) bool) error {
	p := &packer{ctx: ctx, root: root, hides: hides, tar: tar.NewWriter(w), buf: make([]byte, bufferSize)}
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if err := p.header(".", info, ""); err != nil {
		return err
	}
	if err := p.directory("."); err != nil {
		return err
	}
	return p.tar.Close()
}

type packer struct {
	ctx   context.Context //nolint:containedctx // of Pack
	root  *os.Root
	hides func(name string, kind fs.FileMode) bool
	tar   *tar.Writer
	buf   []byte
}

func (p *packer) directory(name string) error {
	d, err := p.root.OpenFile(name, os.O_RDONLY|onlyDirectory|noFollow, 0)
	if err != nil {
		return ignoreGone(err)
	}
	entries, err := d.ReadDir(-1)
	err = errors.Join(err, d.Close())
	if err != nil {
		return ignoreGone(err)
	}
	sort.Slice(entries, func(i, j int) bool { return entries[i].Name() < entries[j].Name() })
	for _, e := range entries {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		inner := path.Join(name, e.Name())
		if p.hides(inner, e.Type()) {
			continue
		}
		if err := p.entry(inner, e.Type()); err != nil {
			return err
		}
	}
	return nil
}

func (p *packer) entry(name string, kind fs.FileMode) error {
	switch kind {
	case 0:
		return p.file(name)
	case fs.ModeDir:
		info, err := p.root.Lstat(name)
		if err != nil || !info.IsDir() {
			return ignoreGone(err)
		}
		if err := p.header(name, info, ""); err != nil {
			return err
		}
		return p.directory(name)
	case fs.ModeSymlink:
		info, err := p.root.Lstat(name)
		if err != nil {
			return ignoreGone(err)
		}
		link, err := p.root.Readlink(name)
		if err != nil {
			return ignoreGone(err)
		}
		return p.header(name, info, link)
	default:
		return nil
	}
}

// file packs the number of bytes that the file has when it is opened.
func (p *packer) file(name string) error {
	f, err := p.root.OpenFile(name, os.O_RDONLY|noFollow|nonblock, 0)
	if err != nil {
		return ignoreGone(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if err := p.header(name, info, ""); err != nil {
		return err
	}
	n, err := io.CopyBuffer(plainWriter{p.tar}, io.LimitReader(plainReader{p.ctx, f}, info.Size()), p.buf)
	if err == nil && n < info.Size() {
		return fmt.Errorf("%s became shorter while it was read", name)
	}
	return err
}

// header writes times in whole seconds, because fractions need an additional header for each file.
func (p *packer) header(name string, info fs.FileInfo, link string) error {
	h := &tar.Header{Name: name, Linkname: link, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime().Truncate(time.Second)}
	switch {
	case info.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case link != "":
		h.Typeflag = tar.TypeSymlink
	default:
		h.Typeflag, h.Size = tar.TypeReg, info.Size()
	}
	return p.tar.WriteHeader(h)
}

// ignoreGone returns nil for an error about a file that another process has removed or replaced meanwhile.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// plainWriter and plainReader hide all methods but Write and Read, so that a copy uses its buffer.
type plainWriter struct{ io.Writer }

type plainReader struct {
	ctx context.Context //nolint:containedctx // of one copy
	r   io.Reader
}

func (r plainReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
