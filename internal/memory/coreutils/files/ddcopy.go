package files

import (
	"bytes"
	"errors"
	"io"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// ddPiece is the part of a block that memory holds at once, in bytes: blocks may be larger than memory.
const ddPiece = 1 << 20

// skipInput passes over the start of the input.
func (d *ddJob) skipInput() bool {
	n := d.skip
	if !d.bytes[1] {
		if n > (1<<62)/d.ibs {
			d.proc.Warn("%s: cannot skip", shell.QuoteIfNeeded(d.inName))
			return false
		}
		n *= d.ibs
	}
	if n == 0 {
		return true
	}
	if d.inFile != nil {
		info, err := d.inFile.Stat()
		if err == nil && info.Mode.IsRegular() {
			if _, err = d.inFile.Seek(n, io.SeekCurrent); err != nil {
				d.proc.Errorf(err, "%s: cannot skip", shell.QuoteIfNeeded(d.inName))
				return false
			}
			if info.Size < n {
				d.proc.Warn("%s: cannot skip to specified offset", shell.QuoteIfNeeded(d.inName))
			}
			return true
		}
	}
	buf := make([]byte, min(n, ddPiece))
	for n > 0 {
		got, err := d.in.Read(buf[:min(n, int64(len(buf)))])
		n -= int64(got)
		if d.proc.Spend(1+got>>8) != nil {
			return false
		}
		if err != nil {
			d.proc.Warn("%s: cannot skip to specified offset", shell.QuoteIfNeeded(d.inName))
			return true
		}
	}
	return true
}

// seekOutput passes over the start of the output, and truncates the rest.
func (d *ddJob) seekOutput() bool {
	n := d.seek
	if !d.bytes[2] {
		if n > (1<<62)/d.obs {
			d.proc.Warn("%s: cannot seek", shell.QuoteIfNeeded(d.outName))
			return false
		}
		n *= d.obs
	}
	if n == 0 {
		return true
	}
	f := d.outFile
	if f == nil {
		var err error
		if f, err = d.proc.Stream(1); err != nil {
			d.proc.Errorf(err, "%s: cannot seek", shell.QuoteIfNeeded(d.outName))
			return false
		}
		defer f.Close()
	} else if info, err := f.Stat(); err == nil && info.Mode.IsRegular() && !d.noTrunc {
		if err := f.Truncate(n); err != nil {
			d.proc.Errorf(err, "failed to truncate to %d bytes in output file %s", n, shell.Quote(d.outName))
			return false
		}
	}
	if _, err := f.Seek(n, io.SeekCurrent); err != nil && !d.appends {
		d.proc.Errorf(err, "%s: cannot seek", shell.QuoteIfNeeded(d.outName))
		return false
	}
	return true
}

// copy copies blocks until the end, or until there are enough. The error was reported.
func (d *ddJob) copy() error {
	buf := make([]byte, min(d.ibs, ddPiece))
	left, blocks := int64(-1), d.count
	if d.count >= 0 && d.bytes[0] {
		left, blocks = d.count, -1
	}
	for blocks != 0 && left != 0 {
		want := d.ibs
		if left > 0 {
			want = min(want, left)
		}
		got, err := d.block(buf, want)
		if left > 0 {
			left -= got
		}
		if blocks > 0 {
			blocks--
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		return err
	}
	if err := d.last(); err != nil {
		return err
	}
	if d.flush && d.outFile != nil {
		return d.outFile.Sync()
	}
	return nil
}

// block copies one block of input.
func (d *ddJob) block(buf []byte, want int64) (int64, error) {
	got := int64(0)
	var failed error
	for got < want && failed == nil {
		ask := buf[:min(want-got, int64(len(buf)))]
		n, err := d.in.Read(ask)
		if e := d.proc.Spend(1 + n>>8); e != nil {
			return got, e
		}
		if n > 0 {
			if e := d.write(d.converted(buf[:n])); e != nil {
				return got, e
			}
			got += int64(n)
		}
		failed = err
		if n < len(ask) && !d.full {
			break
		}
	}
	if failed != nil && !errors.Is(failed, io.EOF) {
		d.proc.Errorf(failed, "error reading %s", shell.Quote(d.inName))
		if !d.noError || shell.Errno(failed) == syscall.EISDIR {
			return got, failed
		}
		failed = nil
	}
	switch {
	case got == d.ibs:
		d.inFull++
	case got > 0:
		d.inPart++
		if d.sync {
			if err := d.pad(d.ibs - got); err != nil {
				return got, err
			}
		}
	default:
		return 0, failed
	}
	if d.one && !d.swab {
		if got == d.obs || d.sync {
			d.outFull++
		} else {
			d.outPart++
		}
	}
	return got, failed
}

// pad writes zeros.
func (d *ddJob) pad(n int64) error {
	zeros := make([]byte, min(n, ddPiece))
	for ; n > 0; n -= int64(len(zeros)) {
		if err := d.proc.Spend(1 + len(zeros)>>8); err != nil {
			return err
		}
		if err := d.write(zeros[:min(n, int64(len(zeros)))]); err != nil {
			return err
		}
	}
	return nil
}

// converted changes b in its place.
func (d *ddJob) converted(b []byte) []byte {
	switch {
	case d.lower:
		b = asciiLower(b)
	case d.upper:
		b = asciiUpper(b)
	}
	if !d.swab {
		return b
	}
	b = append(d.odd, b...)
	d.odd = nil
	if len(b)%2 == 1 {
		d.odd = bytes.Clone(b[len(b)-1:])
		b = b[:len(b)-1]
	}
	for i := 0; i+1 < len(b); i += 2 {
		b[i], b[i+1] = b[i+1], b[i]
	}
	return b
}

func asciiLower(b []byte) []byte {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

func asciiUpper(b []byte) []byte {
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - ('a' - 'A')
		}
	}
	return b
}

func (d *ddJob) write(b []byte) error {
	n, err := d.out.Write(b)
	d.copied += int64(n)
	if err != nil {
		if d.proc.Context().Err() == nil {
			d.proc.Errorf(err, "error writing %s", shell.Quote(d.outName))
		}
		d.settle()
	}
	return err
}

// last writes the rest, and counts the blocks that were written.
func (d *ddJob) last() error {
	if len(d.odd) > 0 {
		if err := d.write(d.odd); err != nil {
			return err
		}
	}
	d.settle()
	return nil
}

// settle counts the blocks of output where they do not follow those of input.
func (d *ddJob) settle() {
	if d.one && !d.swab {
		return
	}
	d.outFull, d.outPart = d.copied/d.obs, 0
	if d.copied%d.obs != 0 {
		d.outPart = 1
	}
}
