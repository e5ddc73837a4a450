// Package codec reads and writes the compressed formats that gzip, bzip2, xz and zstd know, as streams. A reader returns an
// *Error for data that it cannot read; each command words the fault as its original does. Memory is bounded for every stream.
package codec

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// Format is a compressed format.
type Format uint8

// The formats.
const (
	None Format = iota
	Gzip
	Bzip2
	Xz
	Lzma // what xz calls its legacy format
	Zstd
	Compress // of compress(1), read only
)

// magics are the first bytes of each format.
var magics = [...][]byte{
	Gzip: {0x1f, 0x8b}, Bzip2: []byte("BZh"), Xz: []byte("\xfd7zXZ\x00"), Lzma: {0x5d, 0, 0},
	Zstd: {0x28, 0xb5, 0x2f, 0xfd}, Compress: {0x1f, 0x9d},
}

// SniffLength is the number of bytes that Sniff examines.
const SniffLength = 6

// Sniff returns the format of a stream that begins with head.
func Sniff(head []byte) Format {
	for f, m := range magics {
		if len(m) > 0 && bytes.HasPrefix(head, m) {
			return Format(f)
		}
	}
	return None
}

// Fault is an error in a stream.
type Fault uint8

// The faults.
const (
	NotFormat   Fault = iota + 1 // it does not begin as the format does
	Truncated                    // it ends too early
	Corrupt                      // it makes no sense
	Checksum                     // a check sum differs
	Length                       // there is more or less than it says
	Unsupported                  // it uses what this package does not know
	TooLarge                     // reading it takes more memory than is given
	Garbage                      // all is read, and something else follows
)

// Error is a fault of a stream. For gzip, Detail says what is not
// supported, and of Checksum that the length differs too.
type Error struct {
	Fault  Fault
	Detail string
}

// Error returns a description in plain words.
func (e *Error) Error() string {
	text := [...]string{
		NotFormat: "not in this format", Truncated: "unexpected end", Corrupt: "data is corrupt", Checksum: "checksum differs",
		Length: "length differs", Unsupported: "unsupported", TooLarge: "needs too much memory", Garbage: "trailing garbage",
	}[e.Fault]
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// FaultOf returns the fault inside err, 0 when it is none.
func FaultOf(err error) Fault {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fault
	}
	return 0
}

func fault(f Fault) error { return &Error{Fault: f} }

// truncatedError makes an end of input inside a stream an error.
func truncatedError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fault(Truncated)
	}
	return err
}

// NewReader returns a reader of the data of the stream in, with all that is appended to
// it in the same format. It does not read beyond the stream, except for the buffer of in. It charges m, which may be nil; the
// charge's error ends the stream.
func NewReader(f Format, in *bufio.Reader, m *Memory) io.Reader {
	switch f {
	case Gzip:
		return NewGzipReader(in)
	case Bzip2:
		return newBzip2Reader(in, m)
	case Xz:
		return NewXzReader(in, m)
	case Lzma:
		return &lzmaReader{in: in, memory: m}
	case Zstd:
		return &zstdReader{in: in, memory: m}
	case Compress:
		return newLZWReader(in)
	case None:
	}
	return in
}

// NewWriter returns a writer whose Close ends the stream, and leaves w open. Level is
// as the program counts it; size is how much will be written, or -1. It charges m, which may be nil.
func NewWriter(f Format, w io.Writer, level int, size int64, m *Memory) (io.WriteCloser, error) {
	switch f {
	case Gzip:
		return NewGzipWriter(w, level, GzipHeader{}, m)
	case Bzip2:
		return newBzip2Writer(w, level, m), nil
	case Xz, Lzma:
		dict := dictionary(level, size)
		if err := m.hold(dictionaryWriterMemory(dict)); err != nil {
			return nil, err
		}
		if f == Lzma {
			return lzma.WriterConfig{DictCap: dict}.NewWriter(w)
		}
		return xz.WriterConfig{DictCap: dict, CheckSum: xz.CRC64}.NewWriter(w)
	case Zstd:
		if err := m.hold(zstdWriterMemory(level)); err != nil {
			return nil, err
		}
		return newZstdWriter(w, level, size)
	case None, Compress:
	}
	return nil, errors.ErrUnsupported
}
