package shell

import "github.com/seed434b0696/agent-sandbox/internal/memory/fd"

// lineReader reads lines from a description, taking no more than the line.
type lineReader struct {
	buf []byte
	err error
}

// next returns the bytes up to the delimiter, which is taken, and whether it was there. With limit
// it stops after as many bytes.
func (l *lineReader) next(sh *interp, d *fd.Description, delim byte, limit int) (line string, found bool) {
	ctx, done := sh.interruptible()
	defer done()
	b, found, err := d.ReadLine(ctx, delim, limit, l.buf[:0], work{sh})
	l.buf, l.err = b, err
	if !sh.spend(len(b) >> 6) {
		return "", false
	}
	return string(b), found
}
