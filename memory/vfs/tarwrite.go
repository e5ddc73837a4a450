package vfs

import (
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/tarfile"
)

// WriteTar writes what is below the directory dir as a tar archive in the PAX format:
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

// runs returns the parts of a file that are no holes.
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
