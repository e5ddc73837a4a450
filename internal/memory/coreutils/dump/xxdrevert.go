package dump

import (
	"bufio"
	"errors"
	"io"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

var errBackwards = errors.New("sorry, cannot seek backwards")

// xxdReader turns a hex dump back into bytes. Lines are taken as xxd writes them: an
// offset, anything that is not a digit, then pairs of digits up to the columns of a line;
// the rest is skipped.
type xxdReader struct {
	x    *xxdJob
	in   *bufio.Reader
	file *vfs.File // where to seek in; nil for a stream

	have int64 // position in the output
	want int64 // offset of the next byte
}

func (x *xxdJob) revert(in io.Reader, file *vfs.File) int {
	r := &xxdReader{x: x, in: bufio.NewReaderSize(in, program.BufferSize), file: file}
	if err := r.run(); err != nil {
		if errors.Is(err, errBackwards) {
			_ = x.out.Flush()
			x.p.Warn("%v.", err)
			return 5
		}
		return x.p.Status(err)
	}
	return x.close()
}

func (r *xxdReader) run() error {
	plain := r.x.style == xxdPlain
	garbage := true // passing over what is before a line's first digit
	now, before, older := -1, 0, 0
	col := r.x.cols
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return nil //nolint:nilerr // The end of the dump.
		}
		if err := r.x.p.Spend(1); err != nil {
			return err
		}
		if c == '\r' || plain && (c == ' ' || c == '\n' || c == '\t') {
			continue
		}
		older, before, now = before, now, ascii.HexValue(c)
		if now < 0 && garbage {
			continue
		}
		garbage = false
		if !plain && col >= r.x.cols {
			if now < 0 {
				col = 0
			} else {
				r.want = r.want<<4 | int64(now)
			}
			continue
		}
		if err := r.move(); err != nil {
			return err
		}
		switch {
		case before >= 0 && now >= 0:
			_ = r.x.out.WriteByte(byte(before<<4 | now))
			r.have++
			r.want++
			now = -1
			if col++; !plain && col >= r.x.cols {
				c = r.restOfLine()
				garbage = true
			}
		case now < 0 && before < 0 && older < 0:
			c = r.restOfLine()
			garbage = true
		}
		if c == '\n' {
			if !plain {
				r.want = 0
			}
			col, garbage = r.x.cols, true
		}
	}
}

// restOfLine passes over the rest of a line and returns what ended it.
func (r *xxdReader) restOfLine() byte {
	r.want = 0
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return 0
		}
		if c == '\n' {
			return c
		}
	}
}

// move brings the output to where the next byte belongs.
func (r *xxdReader) move() error {
	target := r.x.seek + r.want
	if target == r.have {
		return nil
	}
	if r.file != nil {
		if err := r.x.out.Flush(); err != nil {
			return err
		}
		if _, err := r.file.Seek(target, io.SeekStart); err == nil {
			r.have = target
			return nil
		}
	}
	if target < r.have {
		return errBackwards
	}
	for ; r.have < target; r.have++ {
		if r.have&0xfff == 0 {
			if err := r.x.p.Spend(64); err != nil {
				return err
			}
		}
		if err := r.x.out.WriteByte(0); err != nil {
			return err
		}
	}
	return nil
}
