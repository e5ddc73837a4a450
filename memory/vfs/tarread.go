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
)

// ReadTar adds what the tar archive holds below the directory dir, as root: modes,
// owners by number, times, links, devices, named pipes. Blocks of zeros become holes.
// What is in the way is replaced, but a directory stays one. No name or link in the archive
// makes it write outside dir: names are taken below it, and links are never followed.
// Whatever is wrong with the archive is an error; what was read before it stays.
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

// clear removes what is in the way.
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

// finish sets what writing into directories has changed.
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
