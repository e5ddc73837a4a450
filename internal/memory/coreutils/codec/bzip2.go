package codec

import (
	"bufio"
	"compress/bzip2"
	"errors"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/crc"
)

// bzip2Reader turns the errors of package bzip2 into an *Error.
type bzip2Reader struct {
	in     *bufio.Reader
	memory *Memory
	dec    io.Reader
	err    error
}

func newBzip2Reader(in *bufio.Reader, m *Memory) *bzip2Reader { return &bzip2Reader{in: in, memory: m} }

func (z *bzip2Reader) Read(b []byte) (int, error) {
	if z.err == nil && z.dec == nil {
		z.err = z.begin()
	}
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.dec.Read(b)
	if err != nil {
		z.err = z.fault(err)
		if n == 0 {
			return 0, z.err
		}
	}
	return n, nil
}

func (z *bzip2Reader) begin() error {
	head, err := z.in.Peek(4)
	for i, c := range head {
		if i < 3 && c != "BZh"[i] || i == 3 && (c < '1' || c > '9') {
			return fault(NotFormat)
		}
	}
	if len(head) < 4 {
		return truncatedError(err)
	}
	// Streams that follow may have larger blocks than this one.
	if err := z.memory.hold(bzip2ReaderMemory + 4*900_000); err != nil {
		return err
	}
	z.dec = bzip2.NewReader(z.in)
	return nil
}

func (z *bzip2Reader) fault(err error) error {
	text, ok := errors.AsType[bzip2.StructuralError](err)
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case !ok:
		return truncatedError(err)
	case strings.Contains(string(text), "continuation"):
		return fault(Garbage)
	case strings.Contains(string(text), "checksum"):
		return fault(Checksum)
	}
	return fault(Corrupt)
}

// bitWriter writes bits, the highest first.
type bitWriter struct {
	w    io.Writer
	bits uint64
	n    uint
	out  []byte
	err  error
}

func (b *bitWriter) write(bits uint64, n uint) {
	b.bits = b.bits<<n | bits
	b.n += n
	for b.n >= 8 {
		b.n -= 8
		b.out = append(b.out, byte(b.bits>>b.n))
	}
}

func (b *bitWriter) bit(set bool) {
	if set {
		b.write(1, 1)
	} else {
		b.write(0, 1)
	}
}

// flush writes out whole bytes.
func (b *bitWriter) flush() {
	if b.err == nil && len(b.out) > 0 {
		_, b.err = b.w.Write(b.out)
	}
	b.out = b.out[:0]
}

// bzip2Writer writes one bzip2 stream.
type bzip2Writer struct {
	bits   bitWriter
	memory *Memory
	level  int
	max    int // bytes of a block

	block  []byte
	used   [256]bool
	crc    uint32
	total  uint32
	run    int // how often last came in a row, 0: nothing came
	last   byte
	begun  bool
	closed bool
}

func newBzip2Writer(w io.Writer, level int, m *Memory) *bzip2Writer {
	// The largest read, less the bytes that an unfinished run may still add.
	return &bzip2Writer{bits: bitWriter{w: w}, memory: m, level: level, max: level*100000 - 19, crc: 0xffffffff}
}

// Write takes b into the block, in which a run of 4 to 259 equal bytes is four and a count.
func (z *bzip2Writer) Write(b []byte) (int, error) {
	for _, c := range b {
		if z.run > 0 && c == z.last && z.run < 255 {
			z.run++
			continue
		}
		z.endRun()
		if len(z.block) >= z.max {
			z.endBlock()
		}
		z.last, z.run = c, 1
	}
	return len(b), z.bits.err
}

func (z *bzip2Writer) endRun() {
	if z.run == 0 {
		return
	}
	z.used[z.last] = true
	table := crc.Table()
	for range z.run {
		z.crc = z.crc<<8 ^ table[byte(z.crc>>24)^z.last]
	}
	for range min(z.run, 4) {
		z.block = append(z.block, z.last)
	}
	if z.run >= 4 {
		z.block = append(z.block, byte(z.run-4))
		z.used[z.run-4] = true
	}
	z.run = 0
}

// Close writes the rest and the end of the stream.
func (z *bzip2Writer) Close() error {
	if z.closed {
		return z.bits.err
	}
	z.closed = true
	z.endRun()
	z.endBlock()
	z.begin()
	z.bits.write(0x177245385090>>24, 24)
	z.bits.write(0x177245385090&0xffffff, 24)
	z.bits.write(uint64(z.total), 32)
	if z.bits.n > 0 {
		z.bits.write(0, 8-z.bits.n)
	}
	z.bits.flush()
	return z.bits.err
}

func (z *bzip2Writer) begin() {
	if !z.begun {
		z.bits.out = append(z.bits.out, 'B', 'Z', 'h', byte('0'+z.level))
		z.begun = true
	}
}

// endBlock writes the block.
func (z *bzip2Writer) endBlock() {
	if len(z.block) == 0 {
		return
	}
	if z.bits.err == nil {
		z.bits.err = z.memory.hold(bzip2WriterFactor * len(z.block))
	}
	if z.bits.err != nil {
		z.block = z.block[:0]
		return
	}
	z.begin()
	sum := ^z.crc
	z.total = (z.total<<1 | z.total>>31) ^ sum
	z.bits.write(0x314159, 24)
	z.bits.write(0x265359, 24)
	z.bits.write(uint64(sum), 32)
	last, origin := rotationSort(z.block)
	z.bits.write(0, 1)
	z.bits.write(uint64(origin), 24)
	z.writeUsed()
	symbols, count := z.moveToFront(last)
	writeSymbols(&z.bits, symbols, count)
	z.bits.flush()
	z.block, z.crc, z.used = z.block[:0], 0xffffffff, [256]bool{}
}

// writeUsed writes which bytes occur.
func (z *bzip2Writer) writeUsed() {
	var groups [16]bool
	for c, used := range z.used {
		groups[c/16] = groups[c/16] || used
	}
	for _, g := range groups {
		z.bits.bit(g)
	}
	for i, g := range groups {
		if !g {
			continue
		}
		for _, used := range z.used[i*16 : i*16+16] {
			z.bits.bit(used)
		}
	}
}

// moveToFront returns the places of the bytes in a list of the latest ones; runs of the
// first place are numbers of two digits, 0 and 1. It ends with the mark of the end, and
// returns how many symbols there are.
func (z *bzip2Writer) moveToFront(data []byte) (symbols []uint16, count int) {
	var list []byte
	for c, used := range z.used {
		if used {
			list = append(list, byte(c))
		}
	}
	symbols = make([]uint16, 0, len(data)/2+8)
	zeros := 0
	endZeros := func() {
		for ; zeros > 0; zeros = (zeros - 1) / 2 {
			symbols = append(symbols, uint16(1-zeros%2))
		}
	}
	for _, c := range data {
		if list[0] == c {
			zeros++
			continue
		}
		endZeros()
		at, before := 0, list[0]
		for list[at] != c || at == 0 {
			at++
			list[at], before = before, list[at]
			if before == c {
				break
			}
		}
		list[0] = c
		symbols = append(symbols, uint16(at+1))
	}
	endZeros()
	end := len(list) + 1
	return append(symbols, uint16(end)), end + 1
}
