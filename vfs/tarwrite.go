package vfs

import (
	"archive/tar"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

// WriteTar writes what is below the directory dir as a tar archive in the PAX format:
// modes, owners by number, times in nanoseconds, hard and symbolic links, devices and
// named pipes. Names begin with "./". Files with holes are sparse, as GNU tar writes them.
func (s *Snapshot) WriteTar(w io.Writer, dir string) error {
	f := s.FS(Options{NoAtime: true})
	top, e := f.find(&Cred{}, dir, true)
	if e != 0 {
		return pathError("tar", dir, e)
	}
	t := &tarWriter{tree: &f.tree, out: w, tar: tar.NewWriter(w), seen: map[uint64]string{}}
	if err := t.node(".", top); err != nil {
		return err
	}
	return t.tar.Close()
}

type tarWriter struct {
	tree *tree
	out  io.Writer
	tar  *tar.Writer
	seen map[uint64]string // by number of an inode with several names: the one written first
}

func (t *tarWriter) node(name string, n *inode) error {
	h := &tar.Header{
		Name: name, Mode: int64(n.mode & perms), Uid: int(n.uid), Gid: int(n.gid),
		ModTime: n.mtime.time(), AccessTime: n.atime.time(), ChangeTime: n.ctime.time(), Format: tar.FormatPAX,
	}
	if !n.isDir() && n.nlink > 1 {
		if first, ok := t.seen[n.ino]; ok {
			h.Typeflag, h.Linkname = tar.TypeLink, first
			return t.tar.WriteHeader(h)
		}
		t.seen[n.ino] = name
	}
	switch n.mode & sIFMT {
	case sIFREG:
		h.Typeflag, h.Size = tar.TypeReg, n.size
		return t.file(h, n)
	case sIFDIR:
		h.Typeflag, h.Name = tar.TypeDir, name+"/"
	case sIFLNK:
		h.Typeflag, h.Linkname = tar.TypeSymlink, n.target
	case sIFIFO:
		h.Typeflag = tar.TypeFifo
	case sIFCHR, sIFBLK:
		h.Typeflag = tar.TypeChar
		if n.mode&sIFMT == sIFBLK {
			h.Typeflag = tar.TypeBlock
		}
		h.Devmajor, h.Devminor = int64(Major(n.rdev)), int64(Minor(n.rdev))
	default:
		return nil // a socket of a layer: no archive holds one
	}
	if err := t.tar.WriteHeader(h); err != nil || !n.isDir() {
		return err
	}
	return t.below(name, n)
}

func (t *tarWriter) below(name string, n *inode) error {
	d, e := n.dir()
	if e != 0 {
		return pathError("tar", name, e)
	}
	var err error
	d.each("", func(e dirent) bool {
		if kid := t.tree.inode(e.ino()); kid != nil {
			err = t.node(name+"/"+e.name, kid)
		}
		return err == nil
	})
	return err
}

func (t *tarWriter) file(h *tar.Header, n *inode) error {
	runs := n.runs()
	if len(runs) == 1 && runs[0].size == n.size || n.size == 0 || n.lower != nil {
		if err := t.tar.WriteHeader(h); err != nil {
			return err
		}
		return n.copyTo(t.tar, 0, n.size)
	}
	return t.sparse(h, n, runs)
}

// run is a part of a file that is no hole.
type run struct{ off, size int64 }

// runs returns the parts of a file that are no holes.
func (c *content) runs() []run {
	var runs []run
	add := func(i uint64, _ *chunk) bool {
		off, size := int64(i)<<chunkBits, span(c.size, i)
		if last := len(runs) - 1; last >= 0 && runs[last].off+runs[last].size == off {
			runs[last].size += size
		} else if size > 0 {
			runs = append(runs, run{off, size})
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

// sparse writes a file with holes in GNU's PAX format 1.0, which archive/tar only
// reads: the headers are made here. See "Storing Sparse Files" in GNU tar's manual.
func (t *tarWriter) sparse(h *tar.Header, n *inode, runs []run) error {
	if err := t.tar.Flush(); err != nil {
		return err
	}
	if len(runs) == 0 || runs[len(runs)-1].off+runs[len(runs)-1].size < n.size {
		runs = append(runs, run{off: n.size}) // GNU tar marks the end so
	}
	var m strings.Builder
	fmt.Fprintln(&m, len(runs))
	size := int64(0)
	for _, r := range runs {
		fmt.Fprintf(&m, "%d\n%d\n", r.off, r.size)
		size += r.size
	}
	table := padded([]byte(m.String()))
	size += int64(len(table))
	records := record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") +
		record("GNU.sparse.name", h.Name) + record("GNU.sparse.realsize", strconv.FormatInt(n.size, 10)) +
		record("size", strconv.FormatInt(size, 10)) + record("uid", strconv.Itoa(h.Uid)) + record("gid", strconv.Itoa(h.Gid)) +
		record("mtime", seconds(h.ModTime)) + record("atime", seconds(h.AccessTime)) + record("ctime", seconds(h.ChangeTime))
	base := path.Base(h.Name)
	base = base[:min(len(base), 80)]
	for _, block := range [][]byte{
		rawHeader("PaxHeaders.0/"+base, tar.TypeXHeader, 0o644, int64(len(records))), padded([]byte(records)),
		rawHeader("GNUSparseFile.0/"+base, tar.TypeReg, h.Mode, size), table,
	} {
		if _, err := t.out.Write(block); err != nil {
			return err
		}
	}
	for _, r := range runs {
		if err := n.copyTo(t.out, r.off, r.size); err != nil {
			return err
		}
	}
	_, err := t.out.Write(make([]byte, -size&511))
	return err
}

// padded fills p up to whole blocks.
func padded(p []byte) []byte { return append(p, make([]byte, -len(p)&511)...) }

// record is a PAX record: its length, which counts itself, the key and the value.
func record(key, value string) string {
	size := len(key) + len(value) + 3
	size += len(strconv.Itoa(size))
	s := fmt.Sprintf("%d %s=%s\n", size, key, value)
	if len(s) != size {
		s = fmt.Sprintf("%d %s=%s\n", len(s), key, value)
	}
	return s
}

func seconds(t time.Time) string {
	sec, nsec := t.Unix(), t.Nanosecond()
	sign := ""
	if sec < 0 && nsec > 0 {
		sec, nsec = sec+1, 1e9-nsec
		if sec == 0 {
			sign = "-"
		}
	}
	return fmt.Sprintf("%s%d.%09d", sign, sec, nsec)
}

// rawHeader is a ustar header; what does not fit stands in the PAX records.
func rawHeader(name string, kind byte, mode, size int64) []byte {
	b := make([]byte, 512)
	copy(b, name)
	octal := func(at, width int, v int64) { copy(b[at:at+width-1], fmt.Sprintf("%0*o", width-1, v)) }
	octal(100, 8, mode)
	octal(108, 8, 0)
	octal(116, 8, 0)
	octal(124, 12, size&(1<<33-1))
	octal(136, 12, 0)
	b[156] = kind
	copy(b[257:], "ustar\x0000")
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}
