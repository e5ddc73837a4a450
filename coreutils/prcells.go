package coreutils

import "slices"

// prCells are the lines of a page whose columns are filled one below the other.
type prCells struct {
	text []byte
	ends []int // of each line, in the text
}

// down writes a page whose columns are filled one below the other, evenly; full tells that it has
// all lines.
func (r *printer) down() (full bool) {
	if !r.store() {
		return false
	}
	n := len(r.cells.ends)
	long, extra := n/r.layout.columns, n%r.layout.columns
	rows := long
	if extra > 0 {
		rows++
	}
	first := r.count
	for row := range rows {
		r.column = -1
		at := row
		for i := range r.layout.columns {
			height := long
			if i < extra {
				height++
			}
			if row >= height {
				break
			}
			r.count = first + int64(at)
			r.stored(i, at)
			at += height
		}
		r.endRow(row+1 < rows || r.anyOpen())
	}
	r.count = first + int64(n)
	return n == r.layout.rows*r.layout.columns
}

// store reads the lines of a page.
func (r *printer) store() bool {
	c, s := &r.cells, r.sources[0]
	c.text, c.ends = c.text[:0], c.ends[:0]
	for i := range r.layout.columns {
		for range r.layout.rows {
			if !r.reads(s, i) {
				return r.ended == nil && !r.fatal
			}
			s.line(r.keep)
			if r.ended == nil {
				r.ended = r.p.Spend(1)
			}
			if n := cap(c.ends); r.ended == nil && len(c.ends) == n {
				r.ended = r.p.Reserve(8 * (n + 64))
				c.ends = slices.Grow(c.ends, n+64)
			}
			if r.ended != nil {
				return false
			}
			c.ends = append(c.ends, len(c.text))
		}
	}
	return true
}

// keep stores a piece of a line.
func (r *printer) keep(piece []byte) {
	if r.ended == nil {
		r.cells.text, r.ended = grow(r.p, r.cells.text, len(piece))
		r.cells.text = append(r.cells.text, piece...)
	}
}

// stored writes line at of those stored into column i.
func (r *printer) stored(i, at int) {
	c := &r.cells
	start := 0
	if at > 0 {
		start = c.ends[at-1]
	}
	r.cell(i)
	r.text.write(c.text[start:c.ends[at]])
	if !r.layout.aligned && r.line.pending == 0 {
		// Where lines are joined the real one loses count of the columns before.
		if r.line.column = r.text.column; i == 0 {
			r.line.column += r.style.indent
		}
	}
}
