package coreutils

import "fmt"

// readyColumns tells whether a column has something to print.
func (r *pr) readyColumns() bool {
	for i := range r.list {
		c := &r.list[i]
		if c.status == prOpen || c.status == prFF || r.storing && c.lines > 0 && c.left > 0 {
			return true
		}
	}
	return false
}

// printPage prints a page; false when it was the last one.
func (r *pr) printPage() bool {
	if r.storing {
		r.fillStore()
	}
	for i := range r.list {
		c := &r.list[i]
		switch {
		case r.storing:
			c.left = c.lines
		case c.status == prOpen:
			c.left = r.body
		default:
			c.left = 0
		}
	}
	if !r.readyColumns() {
		return false
	}
	r.needHeader = r.needHeader || r.extremities
	left, some := r.printBody()
	if left == 0 {
		for i := range r.list {
			r.list[i].full = r.list[i].full || r.list[i].status == prOpen
		}
	}
	r.pad = some
	trailer := r.pad && r.extremities
	switch {
	case trailer && r.formFeed:
		r.put('\f')
	case trailer:
		r.repeat('\n', left+5)
	case r.keepFF && r.needFF:
		r.put('\f')
		r.needFF = false
	}
	if r.page++; r.last < r.page {
		return false
	}
	r.release()
	return true
}

// printBody prints the lines of a page. It returns how many are left, and whether there was any.
func (r *pr) printBody() (left int, some bool) {
	r.pad = false
	if left = r.body; r.double {
		left *= 2
	}
	for left > 0 && r.readyColumns() && !r.fatal && !r.out.failed() {
		r.at, r.spaces, r.separators = 0, 0, 0
		r.pad, r.alignEmpty, r.emptyLine = false, false, true
		some = r.printRow(some)
		if r.pad {
			r.put('\n')
			left--
		}
		if !r.extremities && !r.readyColumns() {
			break
		}
		if r.double && some {
			r.put('\n')
			left--
		}
		r.spend(1 + len(r.list)>>4)
	}
	return left, some
}

// printRow prints a line of all columns.
func (r *pr) printRow(some bool) bool {
	for i := range r.list {
		c := &r.list[i]
		r.from = 0
		if c.left > 0 || c.status == prFF {
			r.onlyFF = false
			r.padding = c.start
			if r.storing {
				r.printStored(c)
			} else {
				r.copyLine(c)
			}
			some = some || r.pad
			if c.left--; c.left <= 0 && !r.readyColumns() {
				break
			}
			if r.parallel && c.status != prOpen {
				r.alignOrWait(c, c.status == prClosed || r.onlyFF)
			}
		} else if r.parallel {
			r.alignOrWait(c, true)
		}
		if r.hasSeparator {
			r.separators++
		}
	}
	return some
}

// alignOrWait takes care of a column without text.
func (r *pr) alignOrWait(c *prColumn, align bool) {
	if r.emptyLine {
		r.alignEmpty = true
	} else if align {
		r.alignColumn(c)
	}
}

func (r *pr) alignColumn(c *prColumn) {
	r.padding = c.start
	r.beginColumn()
	if c.numbered {
		r.number()
	}
}

// beginColumn goes to where a column begins.
func (r *pr) beginColumn() {
	if len(r.separator) < r.padding {
		r.padTo(r.padding - len(r.separator))
		r.padding = 0
	}
	if r.hasSeparator {
		r.putSeparators()
	}
}

// copyLine prints or stores a line of a column's file, with what is behind its width left out.
func (r *pr) copyLine(c *prColumn) {
	if r.lineFits(c) {
		return
	}
	for {
		switch c.in.read() {
		case '\n':
			return
		case '\f':
			r.endWithFF(c)
			return
		case -1:
			r.closeFile(c)
			return
		}
	}
}

// endWithFF ends a line and the page.
func (r *pr) endWithFF(c *prColumn) {
	c.in.skip('\n')
	r.needFF = r.needFF || r.keepFF
	r.hold(c)
}

// lineFits prints or stores a line; false when it does not fit, and the rest is not read yet.
func (r *pr) lineFits(c *prColumn) bool {
	b := c.in.read()
	if b == '\f' && c.full {
		if b = c.in.read(); b == '\n' {
			b = c.in.read()
		}
	}
	c.full = false
	n := 0
	switch b {
	case '\f':
		r.lonelyFF(c)
		return true
	case -1:
		r.closeFile(c)
		return true
	case '\n':
	default:
		before := r.from
		if n = r.convert(byte(b)); r.cut && r.from > r.columnWidth {
			r.from = before
			return false
		}
	}
	if !r.storingLine {
		r.beginLine(c)
	}
	if c.numbered {
		r.number()
	}
	r.emptyLine = false
	if b == '\n' {
		return true
	}
	r.putClump(n)
	for !r.fatal && !r.out.failed() {
		switch b = c.in.read(); b {
		case '\n':
			return true
		case '\f':
			r.endWithFF(c)
			return true
		case -1:
			r.closeFile(c)
			return true
		}
		before := r.from
		if n = r.convert(byte(b)); r.cut && r.from > r.columnWidth {
			r.from = before
			return false
		}
		r.putClump(n)
	}
	return true
}

// lonelyFF takes a form feed at the beginning of a line.
func (r *pr) lonelyFF(c *prColumn) {
	c.in.skip('\n')
	r.onlyFF = true
	if r.needHeader && !r.storing {
		r.pad = true
		r.printHeader()
	} else if r.keepFF {
		r.needFF = true
	}
	r.hold(c)
}

// beginLine prints what is in front of a column's text.
func (r *pr) beginLine(c *prColumn) {
	r.pad = true
	if r.needHeader && !r.storing {
		r.printHeader()
	}
	if r.parallel && r.alignEmpty {
		n := r.separators
		r.separators = 0
		for i := range n {
			r.alignColumn(&r.list[i])
			r.separators++
		}
		r.padding, r.spaces = c.start, 0
		if r.cut {
			r.spaces = r.columnWidth
		}
		r.alignEmpty = false
	}
	r.beginColumn()
}

func (r *pr) printHeader() {
	r.at = 0
	r.padTo(r.margin)
	r.putSpaces()
	page := fmt.Sprintf("Page %d", r.page)
	room := max(0, r.titleRoom-len(page))
	r.putText("\n\n")
	r.repeat(' ', r.margin)
	r.putText(r.date)
	r.repeat(' ', max(1, room/2))
	r.putText(r.title)
	r.repeat(' ', max(1, room-room/2))
	r.putText(page + "\n\n\n")
	r.needHeader = false
	r.at = 0
}

// fillStore reads the lines of a page whose columns are filled downward, and shares them out.
func (r *pr) fillStore() {
	r.p.Release(cap(r.store) + cap(r.stored)*24)
	r.store, r.stored = nil, nil
	r.storingLine = true
	for i := range r.list {
		r.list[i].lines = 0
	}
	start := 0
	for i := 0; i < len(r.list) && r.ready > 0 && !r.fatal; i++ {
		c := &r.list[i]
		for j := r.body; j > 0 && r.ready > 0 && !r.fatal; j-- {
			r.from = 0
			if r.copyLine(c); c.status == prOpen || start != len(r.store) {
				r.keep(prLine{start, len(r.store), r.from})
				start = len(r.store)
			}
		}
	}
	r.storingLine = false
	first := 0
	for i := range r.list {
		c := &r.list[i]
		if c.lines = len(r.stored) / len(r.list); i < len(r.stored)%len(r.list) {
			c.lines++
		}
		c.current = first
		first += c.lines
	}
}

// keep stores the place of a line.
func (r *pr) keep(line prLine) {
	if len(r.stored) == cap(r.stored) && r.p.Reserve(24*max(64, 2*cap(r.stored))) != nil {
		r.fail("memory exhausted")
		return
	}
	r.stored = append(r.stored, line)
}

// printStored prints a line of the store.
func (r *pr) printStored(c *prColumn) {
	at := c.current
	c.current++
	r.pad = true
	if r.needHeader {
		r.printHeader()
	}
	if c.status == prFF {
		for i := range r.list {
			r.list[i].status = prHold
		}
		if r.list[0].left <= 0 {
			r.pad = r.extremities
			return
		}
	}
	r.beginColumn()
	if at >= len(r.stored) {
		return
	}
	line := r.stored[at]
	for _, b := range r.store[line.start:line.end] {
		r.putChar(b)
	}
	if r.spaces == 0 {
		if r.at = c.start + line.width; c.start-len(r.separator) == r.margin {
			r.at -= len(r.separator)
		}
	}
}
