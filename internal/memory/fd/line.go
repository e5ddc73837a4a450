package fd

import (
	"bytes"
	"context"
	"io"
	"syscall"
)

// Meter counts the memory and work of a long line.
type Meter interface {
	// Hold counts n bytes. False: give up.
	Hold(n int) bool
	// Spend takes n units of work. False: give up.
	Spend(n int) bool
}

// ReadLine appends a line to b, without the delimiter, which it takes, and reports whether it was there. It takes
// nothing behind the line. With a limit above 0 it stops after as many bytes.
func (d *Description) ReadLine(ctx context.Context, delim byte, limit int, b []byte, m Meter) ([]byte, bool, error) {
	if d.Mode&ModeRead == 0 {
		return b, false, syscall.EBADF
	}
	if d.Seek {
		return d.seekLine(delim, limit, b, m)
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
		if b, ok = lineRoom(m, b, len(ahead)); !ok {
			return nil, false, io.EOF
		}
		b = append(b, ahead...)
		buf := make([]byte, 4096)
		n, err := d.Read(ctx, buf)
		if n > 0 {
			d.unreadOwned(buf[:n])
		}
		if err != nil {
			return b, false, err
		}
	}
}

// unreadOwned is Unread for a buffer that the description may keep.
func (d *Description) unreadOwned(b []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ahead) == 0 {
		d.ahead = b
		return
	}
	d.ahead = append(append([]byte(nil), b...), d.ahead...)
}

// seekLine reads a line of a regular file and leaves the offset behind it.
func (d *Description) seekLine(delim byte, limit int, b []byte, m Meter) ([]byte, bool, error) {
	off, err := d.File.Seek(0, io.SeekCurrent)
	if err != nil {
		return b, false, err
	}
	size := 128
	start := off
	for {
		at := len(b)
		var ok bool
		if b, ok = lineRoom(m, b, size); !ok {
			return nil, false, io.EOF
		}
		n, err := d.File.ReadAt(b[at:at+size], off)
		chunk := b[at : at+n]
		if i := bytes.IndexByte(chunk, delim); i >= 0 && (limit <= 0 || at+i < limit) {
			_, err := d.File.Seek(off+int64(i)+1, io.SeekStart)
			return b[:at+i], true, err
		}
		if limit > 0 && at+n >= limit {
			_, err := d.File.Seek(start+int64(limit), io.SeekStart)
			return b[:limit], false, err
		}
		b = b[:at+n]
		off += int64(n)
		if err != nil || n == 0 {
			if _, err := d.File.Seek(off, io.SeekStart); err != nil {
				return b, false, err
			}
			return b, false, io.EOF
		}
		size = min(size*4, 64<<10)
	}
}

// lineRoom returns b with room for n more bytes; false when the memory does not suffice.
func lineRoom(m Meter, b []byte, n int) ([]byte, bool) {
	need := len(b) + n
	if need <= cap(b) {
		return b, true
	}
	size := max(need, 2*cap(b), 256)
	if size > 1<<12 && (!m.Hold(size-cap(b)) || !m.Spend(size>>6)) {
		return nil, false
	}
	return append(make([]byte, 0, size), b...), true
}
