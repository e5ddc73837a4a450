package codec

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"github.com/klauspost/compress/flate"
)

// GzipHeader is the header of a gzip member.
type GzipHeader struct {
	Name  string    // empty: none
	Mtime time.Time // zero: none
}

// GzipReader reads the members of a gzip stream; see RFC 1952.
type GzipReader struct {
	// Header is that of the member that was read last.
	Header GzipHeader
	// Overhead is the size of the first member's header and trailer; 0 when there are more.
	Overhead int64
	// CRC and Size are those of the last member that was read.
	CRC, Size uint32

	in      *bufio.Reader
	inflate io.ReadCloser
	inside  bool
	members int
	sum     uint32
	err     error
}

// NewGzipReader returns a reader of all consecutive members in in. Zeros after the
// last one are padding.
func NewGzipReader(in *bufio.Reader) *GzipReader { return &GzipReader{in: in} }

// Read returns the members' data.
func (g *GzipReader) Read(b []byte) (int, error) {
	for g.err == nil {
		if !g.inside {
			g.err = g.begin()
			continue
		}
		n, err := g.inflate.Read(b)
		g.sum = crc32.Update(g.sum, crc32.IEEETable, b[:n])
		g.Size += uint32(n)
		switch {
		case errors.Is(err, io.EOF):
			g.inside = false
			g.err = g.end()
		case err != nil:
			g.err = inflateFault(err)
		}
		if n > 0 || len(b) == 0 {
			return n, nil
		}
	}
	return 0, g.err
}

// inflateFault turns the errors of package flate into an *Error.
func inflateFault(err error) error {
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok {
		return fault(Corrupt)
	}
	if _, ok := errors.AsType[flate.InternalError](err); ok {
		return fault(Corrupt)
	}
	return truncatedError(err)
}

// begin goes to the next member; io.EOF when there is none.
func (g *GzipReader) begin() error {
	head, err := g.in.Peek(2)
	switch {
	case len(head) == 0 && g.members > 0:
		return eofOr(err)
	case len(head) < 2 && g.members == 0:
		return truncatedError(err)
	case len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b:
		if g.members == 0 {
			return fault(NotFormat)
		}
		return g.rest()
	}
	g.members++
	if err := g.header(); err != nil {
		return err
	}
	g.inside, g.sum, g.Size = true, 0, 0
	if g.members > 1 {
		g.Overhead = 0
	}
	if g.inflate == nil {
		g.inflate = flate.NewReader(g.in)
		return nil
	}
	return g.inflate.(flate.Resetter).Reset(g.in, nil)
}

// eofOr returns io.EOF for the end of the input, or the error that ended it.
func eofOr(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.EOF
	}
	return err
}

// rest looks at the data after the last member.
func (g *GzipReader) rest() error {
	for {
		c, err := g.in.ReadByte()
		if err != nil {
			return eofOr(err)
		}
		if c != 0 {
			return fault(Garbage)
		}
	}
}

// flags of a member's header.
const (
	gzipText = 1 << iota
	gzipHeaderCRC
	gzipExtra
	gzipName
	gzipComment
)

func (g *GzipReader) header() error {
	var h [10]byte
	if _, err := io.ReadFull(g.in, h[:]); err != nil {
		return truncatedError(err)
	}
	if h[2] != 8 {
		return &Error{Unsupported, fmt.Sprintf(": unknown method %d -- not supported", h[2])}
	}
	flags := h[3]
	if flags&0x20 != 0 {
		return &Error{Unsupported, " is encrypted -- not supported"}
	}
	if flags&0xc0 != 0 {
		return &Error{Unsupported, fmt.Sprintf(" has flags 0x%x -- not supported", flags)}
	}
	g.Overhead = 10 + 8
	g.Header = GzipHeader{}
	if sec := binary.LittleEndian.Uint32(h[4:]); sec != 0 {
		g.Header.Mtime = time.Unix(int64(sec), 0)
	}
	if flags&gzipExtra != 0 {
		var n [2]byte
		if _, err := io.ReadFull(g.in, n[:]); err != nil {
			return truncatedError(err)
		}
		size := int(binary.LittleEndian.Uint16(n[:]))
		if _, err := g.in.Discard(size); err != nil {
			return truncatedError(err)
		}
		g.Overhead += int64(size) + 2
	}
	if err := g.texts(flags); err != nil {
		return err
	}
	if flags&gzipHeaderCRC != 0 {
		g.Overhead += 2
		if _, err := g.in.Discard(2); err != nil {
			return truncatedError(err)
		}
	}
	return nil
}

func (g *GzipReader) texts(flags byte) error {
	if flags&gzipName != 0 {
		name, err := g.text()
		if err != nil {
			return err
		}
		g.Header.Name = name
	}
	if flags&gzipComment != 0 {
		if _, err := g.text(); err != nil {
			return err
		}
	}
	return nil
}

// textMax bounds the stored part of a name or a comment, in bytes; the rest is skipped.
const textMax = 4096

func (g *GzipReader) text() (string, error) {
	var b []byte
	for {
		c, err := g.in.ReadByte()
		if err != nil {
			return "", truncatedError(err)
		}
		g.Overhead++
		if c == 0 {
			return string(b), nil
		}
		if len(b) < textMax {
			b = append(b, c) // bounded: textMax
		}
	}
}

// end checks the data after a member's data.
func (g *GzipReader) end() error {
	var t [8]byte
	if _, err := io.ReadFull(g.in, t[:]); err != nil {
		return truncatedError(err)
	}
	g.CRC = binary.LittleEndian.Uint32(t[:])
	length := binary.LittleEndian.Uint32(t[4:]) == g.Size
	switch {
	case g.CRC != g.sum && !length:
		return &Error{Checksum, "length differs"}
	case g.CRC != g.sum:
		return fault(Checksum)
	case !length:
		return fault(Length)
	}
	return nil
}

// GzipWriter writes one member.
type GzipWriter struct {
	// Overhead is the size of the header and the trailer.
	Overhead int64

	w       io.Writer
	deflate *flate.Writer
	sum     uint32
	size    uint32
}

// NewGzipWriter writes the header; level is 1 to 9.
func NewGzipWriter(w io.Writer, level int, h GzipHeader, m *Memory) (*GzipWriter, error) {
	if err := m.hold(gzipWriterMemory); err != nil {
		return nil, err
	}
	head := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3}
	if sec := h.Mtime.Unix(); !h.Mtime.IsZero() && sec > 0 && sec < 1<<32 {
		binary.LittleEndian.PutUint32(head[4:], uint32(sec))
	}
	switch level {
	case 1:
		head[8] = 4
	case 9:
		head[8] = 2
	}
	if h.Name != "" {
		head[3] = gzipName
		head = append(append(head, h.Name...), 0)
	}
	if _, err := w.Write(head); err != nil {
		return nil, err
	}
	deflate, err := flate.NewWriter(w, level)
	if err != nil {
		return nil, err
	}
	return &GzipWriter{Overhead: int64(len(head)) + 8, w: w, deflate: deflate}, nil
}

// Write compresses b.
func (g *GzipWriter) Write(b []byte) (int, error) {
	g.sum = crc32.Update(g.sum, crc32.IEEETable, b)
	g.size += uint32(len(b))
	return g.deflate.Write(b)
}

// CRC returns the checksum of the data so far.
func (g *GzipWriter) CRC() uint32 { return g.sum }

// Close writes the rest, and the trailer.
func (g *GzipWriter) Close() error {
	if err := g.deflate.Close(); err != nil {
		return err
	}
	var t [8]byte
	binary.LittleEndian.PutUint32(t[:], g.sum)
	binary.LittleEndian.PutUint32(t[4:], g.size)
	_, err := g.w.Write(t[:])
	return err
}
