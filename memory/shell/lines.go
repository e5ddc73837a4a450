package shell

import (
	"bytes"
	"context"
	"io"
)

// lineReader reads lines from a description, taking no more than the line.
type lineReader struct {
	buf []byte
	err error
}

// next returns the bytes up to the delimiter, which is taken, and whether it was there. With limit
// it stops after as many bytes.
func (l *lineReader) next(sh *interp, d *description, delim byte, limit int) (line string, found bool) {
	ctx, done := sh.interruptible()
	defer done()
	b, found, err := d.readLine(ctx, delim, limit, l.buf[:0], sh)
	l.buf, l.err = b, err
	if !sh.spend(len(b) >> 6) {
		return "", false
	}
	return string(b), found
}

// readLine appends a line to b, without the delimiter.
func (d *description) readLine(ctx context.Context, delim byte, limit int, b []byte, sh *interp) ([]byte, bool, error) {
	if d.mode&modeRead == 0 {
		return b, false, errBadFd
	}
	if d.seek {
		return d.seekLine(delim, limit, b, sh)
	}
	for {
		d.mu.Lock()
		if i := bytes.IndexByte(d.ahead, delim); i >= 0 && (limit <= 0 || len(b)+i < limit) {
			b = append(b, d.ahead[:i]...)
			d.ahead = d.ahead[i+1:]
			d.mu.Unlock()
			return b, true, nil
		}
		if limit > 0 && len(b)+len(d.ahead) >= limit {
			n := limit - len(b)
			b = append(b, d.ahead[:n]...)
			d.ahead = d.ahead[n:]
			d.mu.Unlock()
			return b, false, nil
		}
		ahead := d.ahead
		d.ahead = nil
		d.mu.Unlock()
		var ok bool
		if b, ok = sh.lineRoom(b, len(ahead)); !ok {
			return nil, false, io.EOF
		}
		b = append(b, ahead...)
		buf := make([]byte, 4096)
		n, err := d.read(ctx, buf)
		if n > 0 {
			d.unread2(buf[:n])
		}
		if err != nil {
			return b, false, err
		}
	}
}

// lineRoom returns b with room for n more bytes; false when there is no memory for them.
func (sh *interp) lineRoom(b []byte, n int) ([]byte, bool) {
	need := len(b) + n
	if need <= cap(b) {
		return b, true
	}
	size := max(need, 2*cap(b), 256)
	if size > 1<<12 && (!sh.hold(size-cap(b)) || !sh.spend(size>>6)) {
		return nil, false
	}
	return append(make([]byte, 0, size), b...), true
}

// unread2 is unread for a buffer that the description may keep.
func (d *description) unread2(b []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ahead) == 0 {
		d.ahead = b
		return
	}
	d.ahead = append(append([]byte(nil), b...), d.ahead...)
}

// seekLine reads a line of a regular file and leaves the offset behind it.
func (d *description) seekLine(delim byte, limit int, b []byte, sh *interp) ([]byte, bool, error) {
	off, err := d.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return b, false, err
	}
	size := 128
	start := off
	for {
		at := len(b)
		var ok bool
		if b, ok = sh.lineRoom(b, size); !ok {
			return nil, false, io.EOF
		}
		n, err := d.file.ReadAt(b[at:at+size], off)
		chunk := b[at : at+n]
		if i := bytes.IndexByte(chunk, delim); i >= 0 && (limit <= 0 || at+i < limit) {
			_, err := d.file.Seek(off+int64(i)+1, io.SeekStart)
			return b[:at+i], true, err
		}
		if limit > 0 && at+n >= limit {
			_, err := d.file.Seek(start+int64(limit), io.SeekStart)
			return b[:limit], false, err
		}
		b = b[:at+n]
		off += int64(n)
		if err != nil || n == 0 {
			if _, err := d.file.Seek(off, io.SeekStart); err != nil {
				return b, false, err
			}
			return b, false, io.EOF
		}
		size = min(size*4, 64<<10)
	}
}
