package pr

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
)

// prCells are the lines of a page whose columns are filled one below the other.
type prCells struct {
	text []byte
	ends []int // of each line, in the text
}

// down writes a page whose columns are filled one below the other, evenly; full reports whether it has all lines.
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
		if !r.spend(1) {
			return false
		}
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
		r.endRow(row+1 < rows || r.sources[0].state == prOpen)
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
			if !r.hasLine(s, i) {
				return r.ended == nil && !r.fatal
			}
			s.line(r.keep)
			if len(c.ends) == cap(c.ends) && !r.hold(8*max(cap(c.ends), 64)) || !r.spend(1) || r.fatal {
				return false
			}
			c.ends = append(c.ends, len(c.text))
		}
	}
	return true
}

// keep stores a piece of a line.
func (r *printer) keep(piece []byte) {
	if r.fatal {
		return
	}
	text, err := program.GrowBuffer(r.p, r.cells.text, len(piece))
	if err != nil {
		r.fail("memory exhausted")
		return
	}
	r.cells.text = append(text, piece...)
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
