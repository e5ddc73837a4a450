package tarfile

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Reader reads the members of an archive, one after another.
type Reader struct {
	// Zeros is the number of zero blocks that the last Next read before the header or the
	// end: one alone is odd, two end an archive.
	Zeros int
	// IgnoreZeros goes on behind blocks of zeros.
	IgnoreZeros bool

	in     io.Reader
	blocks int64 // taken from in
	left   int64 // bytes of the member's data that are not read
	pad    int64
	data   int64 // of the member, with its padding
	global map[string]string
	local  map[string]string
	block  [BlockSize]byte
}

// NewReader returns a reader of the archive in.
func NewReader(in io.Reader) *Reader { return &Reader{in: in} }

// HasData reports whether there is data of a member that is not passed over yet.
func (r *Reader) HasData() bool { return r.data > 0 }

// Blocks returns how many blocks were read.
func (r *Reader) Blocks() int64 { return r.blocks }

// Next goes to the next member, whose data Read returns. At the end of the archive it
// returns io.EOF. After ErrHeader it may be called again, after other errors not.
func (r *Reader) Next() (*Header, error) {
	if err := r.Skip(); err != nil {
		return nil, err
	}
	r.Zeros, r.local = 0, nil
	first := r.blocks
	var name, link string
	for {
		if err := r.headerBlock(); err != nil {
			return nil, err
		}
		h := &Header{}
		if !h.parse(&r.block) {
			return nil, ErrHeader
		}
		h.Block = first + int64(r.Zeros)
		switch h.Type {
		case longName, longLink, paxHeader, paxGlobal:
			data, err := r.extension(h.Stored)
			if err != nil {
				return nil, err
			}
			if err := r.extend(h.Type, data, &name, &link); err != nil {
				return nil, err
			}
			continue
		default:
		}
		if name != "" {
			h.Name = name
		}
		if link != "" {
			h.Link = link
		}
		r.left = h.Stored
		if err := r.settle(h); err != nil {
			return nil, err
		}
		r.data = r.left + r.pad
		return h, nil
	}
}

// extend reads the extended headers before a member.
func (r *Reader) extend(kind Type, data []byte, name, link *string) error {
	switch kind {
	case longName:
		*name = text(data)
	case longLink:
		*link = text(data)
	case paxGlobal:
		if r.global == nil {
			r.global = map[string]string{}
		}
		return records(data, r.global)
	default:
		r.local = map[string]string{}
		return records(data, r.local)
	}
	return nil
}

// headerBlock reads the next block that is not of zeros.
func (r *Reader) headerBlock() error {
	for {
		switch err := r.readBlock(); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return io.EOF
		case err != nil:
			return err
		}
		if !bytes.Equal(r.block[:], zeros[:]) {
			if r.Zeros > 0 && !r.IgnoreZeros {
				return io.EOF // One block of zeros ends an archive, too.
			}
			return nil
		}
		r.Zeros++
		if r.Zeros == 2 && !r.IgnoreZeros {
			return io.EOF
		}
	}
}

var zeros [BlockSize]byte

func (r *Reader) readBlock() error {
	_, err := io.ReadFull(r.in, r.block[:])
	if err == nil {
		r.blocks++
	}
	return err
}

// extensionMax bounds the headers that go before a member.
const extensionMax = 1 << 20

func (r *Reader) extension(size int64) ([]byte, error) {
	if size > extensionMax || size < 0 {
		return nil, ErrLarge
	}
	data := make([]byte, (size+BlockSize-1)/BlockSize*BlockSize)
	if _, err := io.ReadFull(r.in, data); err != nil {
		return nil, truncated(err)
	}
	r.blocks += int64(len(data)) / BlockSize
	return data[:size], nil
}

func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTruncated
	}
	return err
}

// settle applies the extensions to the header, and finds the position of the data.
func (r *Reader) settle(h *Header) error {
	size := h.Stored
	for _, m := range []map[string]string{r.global, r.local} {
		if err := h.extend(m, &size); err != nil {
			return err
		}
	}
	if size < 0 {
		return ErrMalformed
	}
	switch h.Type {
	case Link, Symlink, Char, Block, Dir, Fifo, Volume:
		if h.Type != Dir || h.Format == V7 {
			size = 0 // A size that is given has no data behind it.
		}
	default:
	}
	r.left, r.pad = size, -size&(BlockSize-1)
	h.Stored = size
	if !h.Holes && h.Type != Sparse {
		h.Size = size
	}
	switch {
	case h.Type == Sparse:
		return r.oldSparse(h)
	case r.local["GNU.sparse.major"] == "1":
		return r.sparseMap(h)
	}
	return h.checkRuns()
}

// checkRuns makes sure that the parts fit the file and the data.
func (h *Header) checkRuns() error {
	if !h.Holes {
		return nil
	}
	end, sum := int64(0), int64(0)
	for _, run := range h.Runs {
		if run.Off < end || run.Size < 0 || run.Off > math.MaxInt64-run.Size {
			return ErrMalformed
		}
		end = run.Off + run.Size
		sum += run.Size
	}
	if h.Size < end || sum != h.Stored {
		return ErrMalformed
	}
	return nil
}

// Read returns the data of the member, without its holes. At the end it is io.EOF.
func (r *Reader) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.in.Read(b[:min(int64(len(b)), r.left)])
	r.left -= int64(n)
	if err != nil && r.left > 0 {
		return n, truncated(err)
	}
	return n, nil
}

// Skip passes over the rest of the member.
func (r *Reader) Skip() error {
	n := r.left + r.pad
	if r.data == 0 {
		return nil
	}
	if err := discard(r.in, n); err != nil {
		return truncated(err)
	}
	r.blocks += r.data / BlockSize
	r.left, r.pad, r.data = 0, 0, 0
	return nil
}

// discard passes over n bytes.
func discard(in io.Reader, n int64) error {
	if d, ok := in.(interface{ Discard(n int) (int, error) }); ok && n < math.MaxInt32 {
		_, err := d.Discard(int(n))
		return err
	}
	_, err := io.CopyN(io.Discard, in, n)
	return err
}

// text returns the text before the first zero.
func text(b []byte) string {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	return string(b)
}

// parse reads a header; false when its check sum is wrong.
func (h *Header) parse(b *[BlockSize]byte) bool {
	want, ok := number(b[148:156])
	if !ok {
		return false
	}
	var sum, signed int64
	for i, c := range b {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
		signed += int64(int8(c)) // as some old systems count
	}
	if want != sum && want != signed {
		return false
	}
	h.Type = Type(b[156])
	h.Name, h.Link = text(b[:100]), text(b[157:257])
	switch {
	case string(b[257:263]) == "ustar\x00":
		h.Format = Ustar
		if prefix := text(b[345:500]); prefix != "" {
			h.Name = prefix + "/" + h.Name
		}
	case string(b[257:265]) == "ustar  \x00":
		h.Format = GNU
	default:
		h.Format = V7
	}
	field := func(from, to int) int64 {
		n, _ := number(b[from:to])
		return n
	}
	h.Mode = uint32(field(100, 108)) & 0o7777
	h.UID, h.GID = uint32(field(108, 116)), uint32(field(116, 124))
	h.Stored = field(124, 136)
	h.Size = h.Stored
	h.Mtime = time.Unix(field(136, 148), 0)
	if h.Format != V7 {
		h.User, h.Group = text(b[265:297]), text(b[297:329])
		h.Major, h.Minor = uint32(field(329, 337)), uint32(field(337, 345))
	}
	if h.Format == GNU && h.Type == Sparse {
		h.Size = field(483, 495)
	}
	switch {
	case h.Type == OldRegular && strings.HasSuffix(h.Name, "/"):
		h.Type = Dir
	case h.Type == OldRegular:
		h.Type = Regular
	}
	return h.Stored >= 0
}

// number reads digits of base 8, or of base 256 when the first bit is set.
func number(b []byte) (int64, bool) {
	if b[0]&0x80 != 0 {
		n := int64(b[0] & 0x3f)
		if b[0]&0x40 != 0 {
			n -= 64
		}
		for _, c := range b[1:] {
			if n > math.MaxInt64>>8 || n < math.MinInt64>>8 {
				return 0, false
			}
			n = n<<8 | int64(c)
		}
		return n, true
	}
	s := strings.Trim(text(b), " ")
	if s == "" {
		return 0, true
	}
	n, err := strconv.ParseInt(s, 8, 64)
	return n, err == nil
}

// IsHeader reports whether a block is a header.
func IsHeader(b []byte) bool {
	if len(b) < BlockSize {
		return false
	}
	return new(Header).parse((*[BlockSize]byte)(b))
}
