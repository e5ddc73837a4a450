package coreutils

import (
	"io"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/shell"
)

// openAll makes the columns; false when there is no file to print.
func (r *pr) openAll(names []string) bool {
	r.list, r.ready = nil, 0
	if r.parallel {
		for _, name := range names {
			var c prColumn
			if r.open(name, &c) {
				r.list = append(r.list, c)
			}
		}
		r.columns = len(r.list)
		r.setTitle("")
		return len(r.list) > 0
	}
	name := "-"
	if len(names) > 0 {
		name = names[0]
	}
	var c prColumn
	if !r.open(name, &c) {
		return false
	}
	if err := r.p.Reserve(r.columns * 64); err != nil {
		r.fail("memory exhausted")
		return false
	}
	for range r.columns {
		r.list = append(r.list, c)
	}
	r.setTitle(name)
	return true
}

func (r *pr) open(name string, c *prColumn) bool {
	c.name = name
	if name == "-" {
		c.name = "standard input"
		if r.stdin == nil {
			r.stdin = newByteSource(r.p, io.NopCloser(r.p.Stdin))
		}
		c.in = r.stdin
	} else {
		in, err := openInput(r.p, name)
		if err != nil {
			if r.status = 1; !r.quiet {
				r.p.Error(name, err)
			}
			return false
		}
		c.in = newByteSource(r.p, in)
	}
	r.ready++
	return true
}

func (r *pr) closeAll() {
	for i := range r.list {
		_ = r.list[i].in.in.Close()
	}
	if !r.parallel {
		r.p.Release(len(r.list) * 64)
	}
}

// setTitle makes the header of a file; "" and "-" stand for none.
func (r *pr) setTitle(name string) {
	at := r.p.Now()
	if name == "-" {
		name = ""
	}
	if name != "" {
		if info, err := r.p.Stat(name); err == nil {
			at = info.Mtime
		}
	}
	r.date, r.title = strftime(*r.dateFormat, at.In(localZone(r.p))), name
	if r.header != nil {
		r.title = *r.header
	}
	r.titleRoom = r.width - r.textWidth(r.date) - r.textWidth(r.title)
}

// textWidth returns how many columns a text takes; control characters take none.
func (r *pr) textWidth(s string) int {
	width := 0
	if bytesLocale(r.p) {
		for i := range len(s) {
			if s[i] >= ' ' && s[i] != 0x7f {
				width++
			}
		}
		return width
	}
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if i += n; c == utf8.RuneError && n == 1 {
			width++
		} else if w := runeWidth(c); w > 0 {
			width += w
		} else if w < 0 && c >= 0xA0 {
			width++
		}
	}
	return width
}

// closeFile notes that a column's file is at its end.
func (r *pr) closeFile(c *prColumn) {
	if c.status == prClosed {
		return
	}
	if c.in.lines.spent {
		r.ended, r.fatal = c.in.lines.ended, true
	} else if err := c.in.lines.err(); err != nil {
		r.fail(shell.QuoteIfNeeded(c.name) + ": " + shell.Strerror(err))
	}
	if r.parallel {
		c.status, c.left = prClosed, 0
	} else {
		for i := range r.list {
			q := &r.list[i]
			if q.status = prClosed; q.lines == 0 {
				q.left = 0
			}
		}
	}
	r.ready--
}

// hold stops a column up to the next page, for a form feed.
func (r *pr) hold(c *prColumn) {
	if r.parallel {
		c.status = prHold
	} else {
		for i := range r.list {
			if r.list[i].status = prHold; r.storing {
				r.list[i].status = prFF
			}
		}
	}
	c.left = 0
	r.ready--
}

// release opens what was held.
func (r *pr) release() {
	for i := range r.list {
		if r.list[i].status == prHold {
			r.list[i].status = prOpen
			r.ready++
		}
	}
	if r.storing {
		if r.ready = 1; r.list[0].status == prClosed {
			r.ready = 0
		}
	}
}

// skipPages reads the pages that are not wanted; false when there are no others.
func (r *pr) skipPages() bool {
	for n := uint64(1); n < r.first && !r.fatal; n++ {
		for i := 1; i <= r.body && !r.fatal; i++ {
			r.skipsLast = i == r.body
			if !r.skipLine() && i < r.body-1 {
				i = r.body - 1 // The last line is another matter.
			}
		}
		r.skipsLast = false
		for i := range r.list {
			if r.storing && r.list[i].status != prClosed {
				r.list[i].status = prHold
			}
		}
		if r.release(); r.ready < 1 && !r.fatal {
			r.p.Warn("starting page number %d exceeds page count %d", r.first, n)
			return false
		}
		r.spend(1)
	}
	return r.ready > 0 && !r.fatal
}

// skipLine passes over a line of each column; false when none is open.
func (r *pr) skipLine() bool {
	some := false
	for i := range r.list {
		if r.list[i].status == prOpen {
			some = true
			r.skipColumn(&r.list[i], i == 0)
		}
	}
	return some
}

func (r *pr) skipColumn(c *prColumn, leftmost bool) {
	b := c.in.read()
	if b == '\f' && c.full {
		if b = c.in.read(); b == '\n' {
			b = c.in.read()
		}
	}
	alone := b == '\f'
	c.full = r.skipsLast
	for ; b != '\n'; b = c.in.read() {
		if b < 0 {
			r.closeFile(c)
			break
		}
		if b == '\f' {
			if r.skipsLast {
				c.full = false
				for i := range r.list {
					r.list[i].full = r.list[i].full && r.parallel
				}
			}
			c.in.skip('\n')
			r.hold(c)
			break
		}
	}
	if r.countSkipped && (!r.parallel || leftmost) && !alone {
		r.lineCount++
	}
}
