package codec

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// zstdWindow is the largest window that a frame may ask for, as zstd has it by default.
const zstdWindow = 128 << 20

type zstdReader struct {
	in     *bufio.Reader
	memory *Memory
	dec    *zstd.Decoder
	begun  bool // something was read
	err    error
}

func (z *zstdReader) Read(b []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	if z.dec == nil {
		if z.err = z.begin(); z.err != nil {
			return 0, z.err
		}
	}
	n, err := z.dec.Read(b)
	z.begun = z.begun || n > 0
	if err != nil {
		z.err = z.fault(err)
		if n > 0 {
			return n, nil
		}
	}
	return n, z.err
}

func (z *zstdReader) begin() error {
	switch head, err := z.in.Peek(4); {
	case len(head) == 0:
		return truncatedError(err)
	case len(head) < 4:
		return &Error{NotFormat, "unknown header"}
	case Sniff(head) != Zstd && (head[0]&0xf0 != 0x50 || string(head[1:]) != "\x2a\x4d\x18"):
		return fault(NotFormat)
	}
	window, err := z.window()
	if err != nil {
		return err
	}
	if err := z.memory.hold(zstdReaderMemory + int(window)); err != nil {
		return err
	}
	z.dec, err = zstd.NewReader(z.in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	return err
}

// window returns the size of the window that frames may ask for: that of the first one, and at least zstdLeastWindow.
func (z *zstdReader) window() (uint64, error) {
	var first zstd.Header
	head, _ := z.in.Peek(min(zstd.HeaderMaxSize, z.in.Size()))
	if first.Decode(head) != nil {
		return zstdLeastWindow, nil //nolint:nilerr // The decoder reports it.
	}
	if first.WindowSize > zstdWindow {
		return 0, fault(TooLarge)
	}
	return max(first.WindowSize, zstdLeastWindow), nil
}

func (z *zstdReader) fault(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.Is(err, zstd.ErrMagicMismatch):
		if z.begun {
			return fault(Garbage)
		}
		return fault(NotFormat)
	case errors.Is(err, zstd.ErrCRCMismatch):
		return fault(Checksum)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fault(TooLarge)
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return fault(Unsupported)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fault(Truncated)
	}
	if isInputError(err) {
		return err
	}
	return fault(Corrupt)
}

// isInputError distinguishes a read error of the input from an error in its data: errors of the process and its files wrap a
// cause, those of the library are plain texts.
func isInputError(err error) bool {
	return errors.Unwrap(err) != nil || errors.Is(err, io.ErrClosedPipe)
}

// Close releases the reader's resources.
func (z *zstdReader) Close() error {
	if z.dec != nil {
		z.dec.Close()
	}
	return nil
}

func newZstdWriter(w io.Writer, level int, size int64) (io.WriteCloser, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)),
		zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	enc.ResetContentSize(w, size)
	return enc, nil
}
