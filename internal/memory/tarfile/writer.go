package tarfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

// ErrName is a name that the format cannot hold, ErrLinkName such a link, ErrValue another value.
var (
	ErrName     = errors.New("file name is too long")
	ErrLinkName = errors.New("link name is too long")
	ErrValue    = errors.New("value out of range")
)

// Writer writes members. What a member holds is written with Write, and has to be as
// much as its header says.
type Writer struct {
	Format  Format
	Written int64

	out  io.Writer
	left int64 // of the member
	pad  int64
}

// NewWriter returns a writer to out.
func NewWriter(out io.Writer, f Format) *Writer { return &Writer{out: out, Format: f} }

func (w *Writer) put(b []byte) error {
	n, err := w.out.Write(b)
	w.Written += int64(n)
	return err
}

// Write writes a part of the member's data.
func (w *Writer) Write(b []byte) (int, error) {
	if int64(len(b)) > w.left {
		return 0, io.ErrShortWrite
	}
	n, err := w.out.Write(b)
	w.Written += int64(n)
	w.left -= int64(n)
	if err == nil && w.left == 0 && w.pad > 0 {
		err = w.put(zeros[:w.pad])
		w.pad = 0
	}
	return n, err
}

// Left returns how much of the member has to be written yet.
func (w *Writer) Left() int64 { return w.left }

// Close writes the end of the archive, filled up to a whole record of so many bytes.
func (w *Writer) Close(record int64) error {
	if err := w.put(zeros[:]); err != nil {
		return err
	}
	for first := true; first || w.Written%record != 0; first = false {
		if err := w.put(zeros[:]); err != nil {
			return err
		}
	}
	return nil
}

// Header writes the header of a member. Runs of a file with holes are written for the formats
// that have them.
func (w *Writer) Header(h *Header) error {
	records, table := "", ""
	c := *h
	if !c.Holes {
		c.Stored = 0
		if c.Type == Regular {
			c.Stored = c.Size
		}
	}
	data := c.Stored
	switch {
	case w.Format == Pax && c.Holes:
		table = runTable(&c)
		data += int64(len(table))
		records = record("GNU.sparse.major", "1") + record("GNU.sparse.minor", "0") +
			record("GNU.sparse.name", c.Name) + record("GNU.sparse.realsize", strconv.FormatInt(c.Size, 10))
		c.Name = path.Join(path.Dir(c.Name), "GNUSparseFile.0", path.Base(c.Name))
	case c.Holes:
		c.Type = Sparse
	}
	var err error
	switch w.Format {
	case Pax:
		err = w.extended(&c, h.Name, records, data)
	case GNU, OldGNU:
		err = w.longNames(&c)
	default:
		err = w.shortNames(&c)
	}
	if err != nil {
		return err
	}
	b, err := w.block(&c, data)
	if err != nil {
		return err
	}
	if err := w.putHeader(&c, b); err != nil {
		return err
	}
	w.left, w.pad = c.Stored, -c.Stored&(BlockSize-1)
	return w.put([]byte(table))
}

// putHeader writes the block, and the blocks of parts behind it.
func (w *Writer) putHeader(h *Header, b *[BlockSize]byte) error {
	if h.Type != Sparse {
		return w.put(addChecksum(b))
	}
	runs := h.Runs
	entries := func(b []byte, most int) {
		for i := range min(most, len(runs)) {
			octal(b[i*24:i*24+12], runs[i].Off)
			octal(b[i*24+12:i*24+24], runs[i].Size)
		}
		runs = runs[min(most, len(runs)):]
	}
	entries(b[386:], 4)
	if len(runs) > 0 {
		b[482] = 1
	}
	octal(b[483:495], h.Size)
	if err := w.put(addChecksum(b)); err != nil {
		return err
	}
	for len(runs) > 0 {
		var more [BlockSize]byte
		entries(more[:], 21)
		if len(runs) > 0 {
			more[504] = 1
		}
		if err := w.put(more[:]); err != nil {
			return err
		}
	}
	return nil
}

// longNames writes the members that hold names of over 100 bytes.
func (w *Writer) longNames(h *Header) error {
	field := 100
	if w.Format == OldGNU {
		field = 99 // It ended names with a zero.
	}
	for _, long := range []struct {
		kind Type
		text string
	}{{longLink, h.Link}, {longName, h.Name}} {
		if len(long.text) <= field {
			continue
		}
		data := []byte(long.text + "\x00")
		b, err := w.block(&Header{Name: "././@LongLink", Type: long.kind, Mode: 0o644, User: "root", Group: "root", Mtime: time.Unix(0, 0)}, int64(len(data)))
		if err != nil {
			return err
		}
		if err := w.put(append(addChecksum(b), padded(data)...)); err != nil {
			return err
		}
	}
	h.Name, h.Link = cut(h.Name, field), cut(h.Link, field)
	return nil
}

func (w *Writer) shortNames(h *Header) error {
	if len(h.Link) > 100 {
		return ErrLinkName
	}
	if w.Format == V7 && len(h.Name) > 99 {
		return ErrName
	}
	if len(h.Name) > 100 {
		if _, _, ok := splitName(h.Name); !ok {
			return ErrName
		}
	}
	return nil
}

// splitName cuts a name at a slash so that both parts fit a header.
func splitName(name string) (prefix, rest string, ok bool) {
	if len(name) > 155+1+100 {
		return "", "", false
	}
	at := strings.LastIndexByte(name[:min(155+1, len(name)-1)], '/')
	if at <= 0 || len(name)-at-1 > 100 || len(name)-at-1 == 0 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

// extended writes the values that the header cannot hold before it.
func (w *Writer) extended(h *Header, name, records string, data int64) error {
	if len(h.Name) > 100 || !isASCII(h.Name) {
		if _, _, ok := splitName(h.Name); !ok || !isASCII(h.Name) {
			if !h.Holes {
				records += record("path", h.Name)
			}
			h.Name = h.Name[:min(len(h.Name), 100)]
		}
	}
	if len(h.Link) > 100 || !isASCII(h.Link) {
		records += record("linkpath", h.Link)
		h.Link = h.Link[:min(len(h.Link), 100)]
	}
	if len(h.User) > 31 || !isASCII(h.User) {
		records += record("uname", h.User)
	}
	if len(h.Group) > 31 || !isASCII(h.Group) {
		records += record("gname", h.Group)
	}
	if data >= 1<<33 {
		records += record("size", strconv.FormatInt(data, 10))
	}
	if h.UID >= 1<<21 {
		records += record("uid", strconv.FormatUint(uint64(h.UID), 10))
	}
	if h.GID >= 1<<21 {
		records += record("gid", strconv.FormatUint(uint64(h.GID), 10))
	}
	if sec := h.Mtime.Unix(); h.Mtime.Nanosecond() != 0 || sec < 0 || sec >= 1<<33 {
		records += record("mtime", paxSeconds(h.Mtime))
	}
	if !h.Atime.IsZero() {
		records += record("atime", paxSeconds(h.Atime))
	}
	if !h.Ctime.IsZero() {
		records += record("ctime", paxSeconds(h.Ctime))
	}
	if records == "" {
		return nil
	}
	dir, base := path.Split(strings.TrimRight(name, "/"))
	if dir == "" {
		dir = "./"
	}
	b, err := w.block(&Header{Name: cut(dir+"PaxHeaders/"+base, 100), Type: paxHeader, Mode: 0o644, Mtime: h.Mtime.Truncate(time.Second)}, int64(len(records)))
	if err != nil {
		return err
	}
	return w.put(append(addChecksum(b), padded([]byte(records))...))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func cut(s string, n int) string { return s[:min(len(s), n)] }

// block makes a header without its check sum.
func (w *Writer) block(h *Header, size int64) (*[BlockSize]byte, error) {
	b := new([BlockSize]byte)
	name := h.Name
	if w.Format == Ustar || w.Format == Pax {
		if len(name) > 100 {
			if prefix, rest, ok := splitName(name); ok {
				copy(b[345:500], prefix)
				name = rest
			}
		}
	}
	copy(b[:100], name)
	copy(b[157:257], h.Link)
	b[156] = byte(h.Type)
	if w.Format == V7 && h.Type == Regular {
		b[156] = 0
	}
	fits := true
	put := func(from, to int, n int64) { fits = w.number(b[from:to], n) && fits }
	put(100, 108, int64(h.Mode))
	put(108, 116, int64(h.UID))
	put(116, 124, int64(h.GID))
	put(124, 136, size)
	put(136, 148, h.Mtime.Unix())
	if !fits {
		return nil, ErrValue
	}
	gnu := w.Format == GNU || w.Format == OldGNU
	switch {
	case gnu:
		copy(b[257:265], "ustar  \x00")
	case w.Format != V7:
		copy(b[257:265], "ustar\x0000")
	}
	if w.Format != V7 {
		copy(b[265:296], h.User)
		copy(b[297:328], h.Group)
	}
	if h.Type == Char || h.Type == Block {
		put(329, 337, int64(h.Major))
		put(337, 345, int64(h.Minor))
	} else if !gnu {
		put(329, 337, 0)
		put(337, 345, 0)
	}
	return b, nil
}

// number writes octal digits and a zero; a number that does not fit is written in base 256 where that is
// known, and nothing in a pax header, whose records have it.
func (w *Writer) number(b []byte, n int64) bool {
	if n >= 0 && (len(b) > 8 && n < 1<<33 || n < 1<<21) {
		octal(b, n)
		return true
	}
	switch w.Format {
	case GNU, OldGNU:
		var all [8]byte
		binary.BigEndian.PutUint64(all[:], uint64(n))
		fill := byte(0)
		if n < 0 {
			fill = 0xff
		}
		for i := range b {
			b[i] = fill
		}
		if len(b) >= 8 {
			copy(b[len(b)-8:], all[:])
		}
		b[0] |= 0x80
		if n >= 0 && len(b) == 8 {
			b[0] = 0x80
		}
		return true
	case Pax:
		octal(b, 0)
		return true
	default:
		return false
	}
}

func octal(b []byte, n int64) {
	for i := len(b) - 2; i >= 0; i-- {
		b[i] = byte('0' + n&7)
		n >>= 3
	}
	b[len(b)-1] = 0
}

// addChecksum returns the header with its check sum.
func addChecksum(b *[BlockSize]byte) []byte {
	copy(b[148:156], "        ")
	sum := int64(0)
	for _, c := range b {
		sum += int64(c)
	}
	octal(b[148:155], sum)
	return b[:]
}

// runTable lists the parts of a file in whole blocks.
func runTable(h *Header) string {
	var m strings.Builder
	fmt.Fprintln(&m, len(h.Runs))
	for _, r := range h.Runs {
		fmt.Fprintf(&m, "%d\n%d\n", r.Off, r.Size)
	}
	return string(padded([]byte(m.String())))
}

// padded fills p up to whole blocks.
func padded(p []byte) []byte { return append(p, make([]byte, -len(p)&(BlockSize-1))...) }

// record is a pax record: its length, which counts itself, the key and the value.
func record(key, value string) string {
	size := len(key) + len(value) + 3
	size += len(strconv.Itoa(size))
	s := fmt.Sprintf("%d %s=%s\n", size, key, value)
	if len(s) != size {
		s = fmt.Sprintf("%d %s=%s\n", len(s), key, value)
	}
	return s
}

// paxSeconds is a time as records have it.
func paxSeconds(t time.Time) string {
	sec, nsec := t.Unix(), t.Nanosecond()
	if nsec == 0 {
		return strconv.FormatInt(sec, 10)
	}
	sign := ""
	if sec < 0 {
		sec, nsec = sec+1, 1e9-nsec
		if sec == 0 {
			sign = "-"
		}
	}
	return fmt.Sprintf("%s%d.%09d", sign, sec, nsec)
}
