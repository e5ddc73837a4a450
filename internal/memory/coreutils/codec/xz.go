package codec

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// xzDictionary is the largest accepted dictionary: twice that of xz -9.
const xzDictionary = 128 << 20

// XzReader reads the streams of a .xz file; see "The .xz File Format", version 1.2.
type XzReader struct {
	// Streams, Blocks, Packed and Unpacked count what was read; Check is the kind of
	// check sum of the last stream.
	Streams, Blocks  int64
	Packed, Unpacked int64
	Check            byte

	in     *bufio.Reader
	memory *Memory
	block  *xzBlock
	sizes  []xzSizes // of the blocks of this stream
	stream bool      // a stream has begun
	err    error
}

type xzSizes struct{ unpadded, unpacked uint64 }

// xzBlock is a block that is being read.
type xzBlock struct {
	data       io.Reader
	in         *countingReader
	check      hash.Hash
	headerSize int
	packed     int64 // what the header says, -1: nothing
	unpacked   int64
	size       int64 // read so far
}

// NewXzReader returns a reader of all streams in a row. It charges m, which may be nil.
func NewXzReader(in *bufio.Reader, m *Memory) *XzReader { return &XzReader{in: in, memory: m} }

// Read returns the streams' data.
func (x *XzReader) Read(b []byte) (int, error) {
	for x.err == nil {
		if x.block == nil {
			x.err = x.next()
			continue
		}
		n, err := x.block.data.Read(b)
		x.block.size += int64(n)
		x.Unpacked += int64(n)
		if x.block.check != nil {
			x.block.check.Write(b[:n])
		}
		switch {
		case errors.Is(err, io.EOF):
			x.err = x.endBlock()
		case err != nil:
			x.err = xzFault(err)
		}
		if n > 0 || len(b) == 0 {
			return n, nil
		}
	}
	return 0, x.err
}

func xzFault(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault(Truncated)
	}
	if isInputError(err) {
		return err
	}
	return fault(Corrupt)
}

// take reads n bytes that have to be there.
func (x *XzReader) take(n int) ([]byte, error) {
	b := make([]byte, n) // bounded: a header of the format, 1024 bytes at most
	k, err := io.ReadFull(x.in, b)
	x.Packed += int64(k)
	return b, truncatedError(err)
}

// next goes to the next block.
func (x *XzReader) next() error {
	if !x.stream {
		if err := x.beginStream(); err != nil {
			return err
		}
	}
	size, err := x.in.Peek(1)
	if err != nil {
		return truncatedError(err)
	}
	if size[0] == 0 {
		return x.endStream()
	}
	return x.beginBlock(int(size[0]+1) * 4)
}

func (x *XzReader) beginStream() error {
	head, err := x.in.Peek(12)
	if x.Streams > 0 {
		for err == nil && bytes.Equal(head[:4], []byte{0, 0, 0, 0}) {
			_, _ = x.in.Discard(4) // It is in the buffer.
			x.Packed += 4
			head, err = x.in.Peek(12)
		}
		if len(head) == 0 || len(head) == 4 && string(head) == "\x00\x00\x00\x00" || len(head) == 8 && string(head) == "\x00\x00\x00\x00\x00\x00\x00\x00" {
			x.Packed += int64(len(head))
			return eofOr(err)
		}
	}
	magic := magics[Xz]
	if n := min(len(head), len(magic)); x.Streams == 0 && (!bytes.Equal(head[:n], magic[:n]) || n < len(magic)) {
		return fault(NotFormat)
	}
	if len(head) < 12 {
		return truncatedError(err)
	}
	if !bytes.HasPrefix(head, magic) || crc32.ChecksumIEEE(head[6:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return fault(Corrupt)
	}
	if head[6] != 0 || head[7] > 15 {
		return fault(Unsupported)
	}
	x.Check = head[7]
	x.stream, x.sizes = true, x.sizes[:0]
	x.Streams++
	x.Packed += 12
	_, err = x.in.Discard(12)
	return err
}

// checkSizes are the bytes that the kinds of check sums take.
var checkSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

func (x *XzReader) newCheck() hash.Hash {
	switch x.Check {
	case 1:
		return crc32.NewIEEE()
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA))
	case 10:
		return sha256.New()
	}
	return nil
}

// beginBlock reads the header of a block.
func (x *XzReader) beginBlock(size int) error {
	h, err := x.take(size)
	if err != nil {
		return err
	}
	if crc32.ChecksumIEEE(h[:size-4]) != binary.LittleEndian.Uint32(h[size-4:]) {
		return fault(Corrupt)
	}
	flags := h[1]
	h = h[2 : size-4]
	b := &xzBlock{headerSize: size, packed: -1, unpacked: -1, check: x.newCheck()}
	for _, f := range []struct {
		bit byte
		to  *int64
	}{{0x40, &b.packed}, {0x80, &b.unpacked}} {
		if flags&f.bit == 0 {
			continue
		}
		n, k := binary.Uvarint(h)
		if k <= 0 || n > 1<<62 {
			return fault(Corrupt)
		}
		*f.to, h = int64(n), h[k:]
	}
	// One filter, LZMA2, whose property of one byte is the size of the dictionary.
	if flags&0x3f != 0 || len(h) < 3 || h[0] != 0x21 || h[1] != 1 {
		return fault(Unsupported)
	}
	dict, err := lzma.DecodeDictCap(h[2])
	if err != nil {
		return fault(Unsupported)
	}
	if b.unpacked >= 0 {
		dict = min(dict, b.unpacked)
	}
	if dict > xzDictionary {
		return fault(TooLarge)
	}
	if err := x.memory.hold(xzReaderMemory + int(max(dict, lzma.MinDictCap))); err != nil {
		return err
	}
	b.in = &countingReader{in: x.in}
	b.data, err = lzma.Reader2Config{DictCap: int(max(dict, lzma.MinDictCap))}.NewReader2(b.in)
	if err != nil {
		return xzFault(err)
	}
	x.block = b
	x.Blocks++
	return nil
}

// endBlock checks a block.
func (x *XzReader) endBlock() error {
	b := x.block
	x.block = nil
	x.Packed += b.in.n
	if b.packed >= 0 && b.packed != b.in.n || b.unpacked >= 0 && b.unpacked != b.size {
		return fault(Corrupt)
	}
	padding, err := x.take(int(-b.in.n & 3))
	if err != nil {
		return err
	}
	for _, c := range padding {
		if c != 0 {
			return fault(Corrupt)
		}
	}
	want, err := x.take(checkSizes[x.Check])
	if err != nil {
		return err
	}
	if b.check != nil {
		got := b.check.Sum(nil)
		if x.Check != 10 {
			for i, j := 0, len(got)-1; i < j; i, j = i+1, j-1 {
				got[i], got[j] = got[j], got[i] // Numbers are little-endian here.
			}
		}
		if !bytes.Equal(got, want) {
			return fault(Corrupt)
		}
	}
	if len(x.sizes) >= xzBlocksMax {
		return fault(TooLarge)
	}
	if len(x.sizes) == cap(x.sizes) {
		if err := x.memory.add(xzSizesMemory * max(cap(x.sizes), 64)); err != nil {
			return err
		}
	}
	x.sizes = append(x.sizes, xzSizes{uint64(int64(b.headerSize) + b.in.n + int64(len(want))), uint64(b.size)})
	return nil
}

// xzBlocksMax bounds the block list of a stream, which is compared with its index.
const xzBlocksMax = 1 << 20

// endStream compares the index and the footer with the blocks.
func (x *XzReader) endStream() error {
	sum := crc32.NewIEEE()
	size := int64(0)
	in := byteReaderFunc(func() (byte, error) {
		c, err := x.in.ReadByte()
		if err == nil {
			sum.Write([]byte{c})
			size++
		}
		return c, truncatedError(err)
	})
	_, _ = in() // the zero that was looked at
	count, err := binary.ReadUvarint(in)
	if err != nil {
		return xzNumberFault(err)
	}
	if count != uint64(len(x.sizes)) {
		return fault(Corrupt)
	}
	for _, s := range x.sizes {
		unpadded, err := binary.ReadUvarint(in)
		if err != nil {
			return xzNumberFault(err)
		}
		unpacked, err := binary.ReadUvarint(in)
		if err != nil {
			return xzNumberFault(err)
		}
		if s != (xzSizes{unpadded, unpacked}) {
			return fault(Corrupt)
		}
	}
	for size&3 != 0 { // bounded: at most three bytes
		c, err := in()
		if err != nil {
			return err
		}
		if c != 0 {
			return fault(Corrupt)
		}
	}
	x.Packed += size
	index := sum.Sum32()
	end, err := x.take(4 + 12)
	if err != nil {
		return err
	}
	x.stream = false
	foot := end[4:]
	if binary.LittleEndian.Uint32(end) != index || string(foot[10:]) != "YZ" || foot[8] != 0 || foot[9] != x.Check ||
		crc32.ChecksumIEEE(foot[4:10]) != binary.LittleEndian.Uint32(foot) || int64(binary.LittleEndian.Uint32(foot[4:])+1)*4 != size+4 {
		return fault(Corrupt)
	}
	return nil
}

func xzNumberFault(err error) error {
	if FaultOf(err) != 0 {
		return err
	}
	return xzFault(err)
}

type byteReaderFunc func() (byte, error)

func (f byteReaderFunc) ReadByte() (byte, error) { return f() }

// countingReader counts the bytes read.
type countingReader struct {
	in *bufio.Reader
	n  int64
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.n += int64(n)
	return n, err
}

func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// dictionary returns how large the dictionary is at a level of xz: a power of two, as xz
// wants of a .lzma file, and no larger than the data needs.
func dictionary(level int, size int64) int {
	n := [...]int{256 << 10, 1 << 20, 2 << 20, 4 << 20, 4 << 20, 8 << 20}[min(level, 5)]
	for size >= 0 && n > lzma.MinDictCap && int64(n/2) >= size {
		n /= 2
	}
	return n
}

// lzmaReader reads a .lzma file.
type lzmaReader struct {
	in     *bufio.Reader
	memory *Memory
	dec    io.Reader
	err    error
}

func (l *lzmaReader) Read(b []byte) (int, error) {
	if l.err == nil && l.dec == nil {
		l.err = l.begin()
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.dec.Read(b)
	if err != nil {
		l.err = err
		if !errors.Is(err, io.EOF) {
			l.err = xzFault(err)
		}
		if n == 0 {
			return 0, l.err
		}
	}
	return n, nil
}

func (l *lzmaReader) begin() error {
	head, err := l.in.Peek(lzma.HeaderLen)
	if len(head) < lzma.HeaderLen {
		return truncatedError(err)
	}
	dict := binary.LittleEndian.Uint32(head[1:])
	size := binary.LittleEndian.Uint64(head[5:])
	if !lzma.ValidHeader(head) || size != 1<<64-1 && size > 1<<38 {
		return fault(NotFormat)
	}
	if uint64(dict) > xzDictionary && size > xzDictionary {
		return fault(TooLarge)
	}
	if err := l.memory.hold(xzReaderMemory + int(max(dict, lzma.MinDictCap))); err != nil {
		return err
	}
	l.dec, err = lzma.ReaderConfig{DictCap: xzDictionary}.NewReader(l.in)
	if err != nil {
		return xzFault(err)
	}
	return nil
}
