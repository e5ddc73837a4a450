package pr

import (
	"strconv"
)

// acrossRows writes a page line by line, as the files come; full reports whether it has all its lines.
func (r *printer) acrossRows() (full bool) {
	for range r.layout.rows {
		if !r.spend(1 + len(r.sources)) {
			return false
		}
		columns := r.acrossRow()
		if columns == 0 {
			return false
		}
		full = columns == r.across || r.style.merge
	}
	return full
}

// acrossRow writes a line of the page and returns how many columns it has.
func (r *printer) acrossRow() (columns int) {
	r.column, r.again = -1, false
	last, open := -1, r.openSources()
	for i := range r.across {
		s := r.sources[0]
		if r.style.merge {
			s = r.sources[i]
		}
		if i == 1 && r.again && open > 0 {
			r.numberLine()
		}
		was := s.state
		has := r.hasLine(s, i)
		if was == prOpen && s.state != prOpen {
			open--
		}
		if r.ended != nil || r.fatal || !has && !r.style.merge {
			break
		}
		if has {
			r.cell(i)
			s.line(r.text.write)
			if last = i; s.state != prOpen {
				open--
			}
		}
		if i == 0 {
			r.first(s, has, was)
		}
		if open > 0 {
			last = i
		}
	}
	if r.column < 0 || r.ended != nil || r.fatal {
		return 0
	}
	if last > r.column {
		r.reach(last)
	}
	r.endRow(open > 0)
	return last + 1
}

// first handles the line numbers of merged files. When the first file ends in its column, the number of the line comes again
// behind that column. On skipped pages GNU pr counts its reads of the first file, including the one that fails.
func (r *printer) first(s *prSource, has bool, was prState) {
	if !r.style.merge {
		return
	}
	r.again = has && s.state == prDone
	if r.line.mute && was == prOpen && (has || s.state == prDone) {
		r.count++
	}
}

// openSources counts the files that may have more lines on this page.
func (r *printer) openSources() (n int) {
	for _, s := range r.sources {
		if s.state == prOpen {
			n++
		}
	}
	return n
}

// cell begins the text of a column.
func (r *printer) cell(i int) {
	r.begin()
	if r.column < 0 {
		r.line.blanks(r.style.indent)
		if r.layout.columns > 1 || r.style.newSep || (r.style.columnsSet || r.style.merge) && r.style.sep != "" {
			r.line.flush()
		}
		r.column, r.filled = 0, false
		if r.style.merge {
			r.numberLine()
		}
	}
	r.reach(i)
	r.filled = true
	r.text.column, r.text.before, r.text.cut, r.text.limit = 0, 0, false, -1
	if r.layout.width > 0 {
		r.text.limit = r.layout.width
	}
	if !r.style.merge {
		r.numberLine()
		if r.style.numbered && r.layout.width > 0 {
			r.text.before = r.layout.number
		}
	}
}

// reach goes on to the beginning of column i.
func (r *printer) reach(i int) {
	l := &r.layout
	start := r.style.indent
	if r.style.merge {
		start += l.number
	}
	for r.column < i {
		if l.aligned {
			to := start + r.column*(l.width+len(l.sep)) + l.width
			r.line.pending = to - r.line.column
		} else if !r.filled && i == 1 {
			r.line.pending = 0
		}
		for j := range len(l.sep) {
			if l.sep[j] == ' ' || l.sep[j] == '\t' && l.aligned {
				r.line.blanks(1)
			} else {
				r.line.put([]byte{l.sep[j]}, 1)
			}
		}
		r.line.flush()
		r.column++
		r.filled = false
	}
}

// numberLine writes the number of a line.
func (r *printer) numberLine() {
	if !r.style.numbered {
		return
	}
	n := r.style.number
	digits := strconv.FormatInt(r.count, 10)
	if !r.line.mute || !r.style.merge {
		r.count++
	}
	r.line.blanks(max(n.n-len(digits), 0))
	digits = digits[max(0, len(digits)-n.n):]
	r.line.put([]byte(digits), len(digits))
	switch {
	case n.char != '\t':
		r.line.put([]byte{n.char}, 1)
	case r.across > 1:
		r.line.blanks(r.layout.number - n.n)
	default:
		r.line.put([]byte{'\t'}, 8-r.line.column%8)
	}
}

// endRow ends a line of the page.
func (r *printer) endRow(gap bool) {
	r.line.end()
	r.used++
	if r.spaced = r.style.double && gap; r.spaced {
		r.line.end()
		r.used++
	}
}
