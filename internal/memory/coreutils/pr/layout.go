package pr

import (
	"strings"
)

// prLayout is the layout of a page.
type prLayout struct {
	columns int // a file that cannot be opened has one too
	rows    int // of text; with -d each takes two lines
	sep     string
	width   int // of a column; 0: as long as its text is
	number  int // columns that the number of a line takes
	aligned bool
	tabs    bool // blanks become tabs
	expand  bool // and tabs of the input blanks, before that
}

// layout divides the page; ok is false when the page is too small.
func (s *prStyle) layout() (l prLayout, ok bool) {
	l = prLayout{columns: s.columns, rows: s.length, sep: s.separator()}
	if !s.bare {
		l.rows -= 10
	}
	if s.double {
		// The real program loops for ever when a line does not fit.
		l.rows = max(l.rows/2, 1)
	}
	if s.numbered {
		l.number = s.number.n + 1
		if s.number.char == '\t' {
			l.number = s.number.n + 8 - s.number.n%8
		}
	}
	several := l.columns > 1
	l.tabs = s.tabs || several
	room := s.width - (l.columns-1)*len(l.sep)
	if s.merge {
		room -= l.number
	}
	cut := s.isCutting()
	if (cut || several) && room < l.columns {
		return l, false
	}
	if cut {
		l.width, l.aligned = room/l.columns, several
	}
	l.expand = s.expand || several && (cut || !strings.HasPrefix(l.sep, "\t"))
	return l, true
}

// separator returns the separator of columns.
func (s *prStyle) separator() string {
	switch {
	case s.columns == 1:
		return ""
	case s.newSep || s.sep != "" || s.oldSep && s.widthSet:
		return s.sep
	case s.join || s.oldSep:
		return "\t"
	}
	return " "
}

// isCutting reports whether lines that are too long are cut.
func (s *prStyle) isCutting() bool {
	switch {
	case s.join:
		return false
	case s.columns > 1:
		return s.newSep || !s.oldSep || s.widthSet
	}
	return s.cut || s.widthSet && (s.merge || s.columnsSet)
}
