package split

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// splitParts says into how many parts split divides its input, and how: -n.
type splitParts struct {
	way        byte  // l: whole lines; r: lines in turn; 0: bytes
	count      int64 // 0: not asked for
	only       int64 // the part that is written, to standard output; 0: all, to files
	elide      bool
	unbuffered bool
}

// parse reads N, K/N, and both with l/ or r/ before.
func (c *splitParts) parse(o *program.Options) {
	text := o.Value
	if rest, ok := strings.CutPrefix(text, "l/"); ok {
		c.way, text = 'l', rest
	} else if rest, ok := strings.CutPrefix(text, "r/"); ok {
		c.way, text = 'r', rest
	}
	which, number, ok := strings.Cut(text, "/")
	if !ok {
		which, number = "", text
	}
	c.count, ok = program.UnsignedNumber(o, number, "invalid number of chunks", program.NoUnits, 1, math.MaxInt64-1)
	if ok && which != "" {
		c.only, _ = program.UnsignedNumber(o, which, "invalid chunk number", program.NoUnits, 1, c.count)
	}
}

// run divides the input and returns the exit status.
func (c *splitParts) run(s *split, name string, in io.Reader) int {
	size := int64(0)
	if c.way != 'r' {
		var err error
		if s.out.hasInput && s.out.input.IsDir() {
			err = syscall.EISDIR
		} else {
			in, size, err = measureInput(s.p, in)
		}
		if err != nil {
			if s.p.Context().Err() != nil || errors.Is(err, shell.ErrFuel) {
				return s.p.Status(err)
			}
			s.p.Errorf(err, "%s: cannot determine file size", name)
			return 1
		}
	}
	l := program.NewLineReader(s.p, in, s.eol)
	part := &splitPart{splitParts: c, s: s, each: max(1, size/c.count)}
	if c.only > 0 {
		part.stdout = program.NewOutput(s.p)
	}
	var err error
	switch c.way {
	case 'r':
		err = part.turns(l)
	case 'l':
		err = part.lines(l)
	default:
		err = part.bytes(l)
	}
	if part.stdout == nil {
		return s.status(name, l, err)
	}
	if err := part.stdout.Flush(); err != nil {
		return s.p.WriteFailed(err)
	}
	return s.status(name, l, nil)
}

// measureInput returns how much is left of the input. Input of unknown length is read to its end.
func measureInput(p *shell.Proc, in io.Reader) (io.Reader, int64, error) {
	if f, ok := in.(io.ReadSeeker); ok {
		here, err := f.Seek(0, io.SeekCurrent)
		if err == nil {
			if end, err := f.Seek(0, io.SeekEnd); err == nil && end > here {
				_, err = f.Seek(here, io.SeekStart)
				return io.LimitReader(f, end-here), end - here, err
			}
			_, _ = f.Seek(here, io.SeekStart)
		}
	}
	b, err := program.ReadWhole(p, in)
	return bytes.NewReader(b), int64(len(b)), err
}

// splitPart divides an input.
type splitPart struct {
	*splitParts
	s      *split
	each   int64 // size of a part; the last one takes the rest
	number int64 // of the current part, from 1; 0 before the first
	stdout *program.Output
}

// reach goes on to a part. Those between are empty.
func (d *splitPart) reach(number int64) error {
	if d.only > 0 {
		d.number = number
		return nil
	}
	if d.elide && d.number < number {
		d.number = number - 1
	}
	for ; d.number < number; d.number++ {
		if err := d.s.p.Spend(1); err != nil {
			return err
		}
		if err := d.s.out.next(); err != nil {
			return err
		}
	}
	return nil
}

// write adds to the current part.
func (d *splitPart) write(b []byte) error {
	if d.only == 0 {
		return d.s.out.write(b)
	}
	if d.number != d.only {
		return nil
	}
	_, err := d.stdout.Write(b)
	return err
}

// finish makes the parts for which nothing was left.
func (d *splitPart) finish(l *program.LineReader) error {
	if l.Err() == nil && !d.elide {
		return d.reach(d.count)
	}
	return nil
}

// of returns the part that the byte at an offset is in.
func (d *splitPart) of(offset int64) int64 { return min(offset/d.each, d.count-1) + 1 }

// bytes divides wherever a part is full.
func (d *splitPart) bytes(l *program.LineReader) error {
	at := int64(0)
	for {
		b, ok := l.Bytes()
		if !ok {
			return d.finish(l)
		}
		for len(b) > 0 {
			part := d.of(at)
			if d.only > 0 && part > d.only {
				return nil
			}
			n := int64(len(b))
			if part < d.count {
				n = min(n, part*d.each-at)
			}
			if err := d.reach(part); err != nil {
				return err
			}
			if err := d.write(b[:n]); err != nil {
				return err
			}
			b, at = b[n:], at+n
		}
	}
}

// lines gives a line to the part in which it begins.
func (d *splitPart) lines(l *program.LineReader) error {
	at, fresh := int64(0), true
	for {
		b, ok := l.Bytes()
		if !ok {
			return d.finish(l)
		}
		for len(b) > 0 {
			if fresh {
				part := d.of(at)
				if d.only > 0 && part > d.only {
					return nil
				}
				if err := d.reach(part); err != nil {
					return err
				}
			}
			n := d.whole(b, at)
			fresh = b[n-1] == d.s.eol
			if err := d.write(b[:n]); err != nil {
				return err
			}
			b, at = b[n:], at+int64(n)
		}
	}
}

// whole returns how much of b, which begins at an offset, certainly belongs to the current part.
func (d *splitPart) whole(b []byte, at int64) int {
	from := int64(0)
	if d.number == d.count {
		return len(b)
	}
	// The line with the part's last byte is the last one.
	if last := d.number*d.each - 1; last > at {
		from = last - at
	}
	if from >= int64(len(b)) {
		return len(b)
	}
	if i := bytes.IndexByte(b[from:], d.s.eol); i >= 0 {
		return int(from) + i + 1
	}
	return len(b)
}

// splitTurn is the memory of a part's state in round-robin distribution, in bytes.
const splitTurn = 256

// turns gives a line to each part in turn.
func (d *splitPart) turns(l *program.LineReader) error {
	if d.only > 0 {
		return d.turn(l)
	}
	var all []*splitPiece
	var err error
	turn, fresh := int64(0), true
	for err == nil {
		b, ok := l.Bytes()
		if !ok {
			break
		}
		for len(b) > 0 && err == nil {
			if fresh && turn == int64(len(all)) {
				all, err = d.another(all)
				if err != nil {
					break
				}
			}
			n := bytes.IndexByte(b, d.s.eol) + 1
			if fresh = n > 0; !fresh {
				n = len(b)
			}
			err = all[turn].write(b[:n])
			if b = b[n:]; fresh {
				turn = (turn + 1) % d.count
			}
		}
	}
	for err == nil && l.Err() == nil && !d.elide && int64(len(all)) < d.count {
		all, err = d.another(all)
	}
	for _, piece := range all {
		if err == nil {
			err = d.s.out.end(piece)
		} else {
			piece.abandon()
		}
	}
	return err
}

func (d *splitPart) another(all []*splitPiece) ([]*splitPiece, error) {
	if err := d.s.p.Reserve(splitTurn); err != nil {
		return all, err
	}
	piece, err := d.s.out.open()
	if piece != nil {
		all = append(all, piece)
	}
	return all, err
}

// turn writes the lines of one part.
func (d *splitPart) turn(l *program.LineReader) error {
	at := int64(0)
	for {
		b, ok := l.Bytes()
		if !ok {
			return nil
		}
		for len(b) > 0 {
			n := bytes.IndexByte(b, d.s.eol) + 1
			whole := n > 0
			if !whole {
				n = len(b)
			}
			if at == d.only-1 {
				if _, err := d.stdout.Write(b[:n]); err != nil {
					return err
				}
				if d.unbuffered {
					_ = d.stdout.Flush()
				}
			}
			if b = b[n:]; whole {
				at = (at + 1) % d.count
			}
		}
	}
}
