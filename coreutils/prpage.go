package coreutils

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/shell"
)

// printer is a run of pr.
type printer struct {
	p      *shell.Proc
	style  *prStyle
	silent bool
	out    *output
	status int
	ended  error // of the process
	fatal  bool
	stdin  *byteFeed

	layout prLayout
	line   prLine
	text   prText

	sources []*prSource
	across  int // columns that are filled line by line
	title   string
	date    string
	page    uint64
	count   int64 // the number of the next line
	begun   bool  // the header of this page is written
	used    int   // lines of this page
	spaced  bool  // the last of them is empty, for -d
	broken  bool  // a form feed ends this page
	full    bool  // all columns had all lines they may have, on the last page
	seen    int   // columns that have been read from since a page was full
	again   bool  // the number of this line comes once more
	column  int   // of the page, in this line; -1: none yet
	filled  bool  // there is a line in that column
	cells   prCells
}

// prLayout is how a page is divided.
type prLayout struct {
	columns int
	rows    int
	body    int // lines for rows
	width   int // of a column; 0: as it comes
	sep     string
	number  int // columns that a line number takes
	aligned bool
}

func newPrinter(p *shell.Proc, style *prStyle) *printer {
	r := &printer{p: p, style: style, silent: style.silent, out: newOutput(p), count: style.start, seen: math.MaxInt}
	return r
}

func (r *printer) columnsOf(text string) int {
	if bytesLocale(r.p) {
		return len(text)
	}
	n := 0
	for _, c := range text {
		n += max(runeWidth(c), 0)
	}
	return n
}

// measure divides the page; false when there is no room.
func (r *printer) measure() bool {
	s := r.style
	l := prLayout{columns: s.columns, body: s.length, sep: s.sep}
	if !s.bare {
		l.body -= 10
	}
	l.rows = l.body
	if s.double {
		// The real one goes round for ever where there is no room for a line.
		l.rows = max(l.rows/2, 1)
	}
	several := s.columns > 1
	switch {
	case !several:
		l.sep = ""
	case s.newSep || s.sep != "" || s.oldSep && s.widthSet:
	case s.join || s.oldSep:
		l.sep = "\t"
	default:
		l.sep = " "
	}
	cut := several && !s.join && (s.newSep || !s.oldSep || s.widthSet) || !several && !s.join && (s.cut || s.widthSet && (s.merge || s.columnsSet))
	l.aligned = several && cut
	if s.numbered {
		l.number = s.number.n + 1
		if s.number.char == '\t' {
			l.number = s.number.n + 8 - s.number.n%8
		}
	}
	if cut {
		room := s.width - (l.columns-1)*len(l.sep)
		if s.merge {
			room -= l.number
		}
		l.width = room / l.columns
		if l.width < 1 {
			r.p.Warn("page width too narrow")
			r.status, r.fatal = 1, true
			return false
		}
	}
	r.layout = l
	r.line = prLine{out: r.out, tabs: s.tabs || several, tab: s.tab}
	r.text = prText{line: &r.line, in: s.in, expand: s.expand || several && (l.aligned || !strings.HasPrefix(l.sep, "\t")), hats: s.hats, octal: s.octal}
	return true
}

// pages writes the pages of files, the first of which is the only one unless they are merged.
func (r *printer) pages(sources []*prSource, title string, modified time.Time) {
	if !r.style.merge && !r.measure() {
		return
	}
	if r.style.title != nil {
		title = *r.style.title
	}
	r.sources, r.title, r.across = sources, title, r.layout.columns
	if r.style.merge {
		r.across = len(sources)
	}
	r.date = strftime(r.style.date, modified.In(localZone(r.p)))
	if !r.style.started {
		r.count = 1
	}
	brokenBefore := false
	for r.page = 1; r.style.last == 0 || r.page <= r.style.last; r.page++ {
		more := r.nextPage()
		if r.ended != nil || r.fatal || r.out.failed() {
			return
		}
		if r.page < r.style.first && r.allDone() && !brokenBefore {
			_ = r.out.Flush()
			r.p.Warn("starting page number %d exceeds page count %d", r.style.first, r.page)
			return
		}
		if !more {
			return
		}
		brokenBefore = brokenBefore || r.broken && r.layout.columns > 1 && r.style.across
	}
}

func (r *printer) allDone() bool {
	for _, s := range r.sources {
		if s.state != prDone {
			return false
		}
	}
	return true
}

// nextPage writes a page, or passes over it; false when there is none.
func (r *printer) nextPage() bool {
	r.line.mute = r.page < r.style.first
	if r.page == r.style.first && r.style.started {
		r.count = r.style.start
	}
	r.begun, r.used, r.broken = false, 0, false
	if r.layout.columns > 1 && !r.style.merge && !r.style.across {
		r.full = r.down()
	} else {
		r.full = r.acrossRows()
	}
	if r.ended != nil || r.fatal || r.out.failed() {
		return false
	}
	r.endPage()
	for _, s := range r.sources {
		if s.state == prHeld {
			s.state, s.full = prOpen, false
			if !r.style.merge {
				r.full = false
			}
		} else {
			s.full = s.full || r.full
		}
	}
	if r.full {
		r.seen = 0
	}
	return r.begun || r.broken
}

// reads tells whether a source has a line on this page, for a column.
func (r *printer) reads(s *prSource, column int) bool {
	full := column >= r.seen
	if s.state == prOpen {
		r.seen = max(r.seen, column+1)
	}
	if r.style.merge {
		full, s.full = s.full, false
	}
	if s.begins(full) {
		return true
	}
	switch err := s.lines.err(); {
	case s.lines.spent:
		r.ended = s.lines.ended
	case err != nil && !r.fatal:
		_ = r.out.Flush()
		r.p.Error(s.name, err)
		r.status, r.fatal = 1, true
	}
	return false
}

// begin writes the header of a page, once.
func (r *printer) begin() {
	if r.begun {
		return
	}
	r.begun = true
	if !r.style.bare && !r.line.mute {
		r.line.blanks(r.style.indent)
		r.line.flush()
		r.line.end()
		_, _ = r.out.WriteString(r.header(r.title, r.date))
	}
}

// endPage writes what comes behind the lines of a page.
func (r *printer) endPage() {
	for _, s := range r.sources {
		r.broken = r.broken || s.state == prHeld
	}
	switch {
	case r.style.bare:
		if r.broken && !r.style.flat {
			r.line.repeat('\f', 1)
		}
	case r.begun || r.broken:
		r.begin()
		if r.style.feed {
			if r.used == 0 {
				r.line.repeat('\n', 1)
			}
			if r.style.double && (!r.full || !r.spaced) {
				r.line.repeat('\n', 1)
			}
			r.line.repeat('\f', 1)
		} else {
			r.line.repeat('\n', max(r.layout.rows*r.lineHeight()-r.used, 0)+5)
		}
	}
}

func (r *printer) lineHeight() int {
	if r.style.double {
		return 2
	}
	return 1
}

// acrossRows writes a page line by line, as the files come; full tells that it has all its lines.
func (r *printer) acrossRows() (full bool) {
	for range r.layout.rows {
		if r.ended = r.p.Spend(1); r.ended != nil {
			return false
		}
		columns := r.acrossRow()
		if columns == 0 {
			return false
		}
		full = columns == r.layout.columns || r.style.merge
	}
	return full
}

// acrossRow writes a line of the page and returns how many columns it has.
func (r *printer) acrossRow() (columns int) {
	r.column, r.again = -1, false
	last := -1
	for i := range r.across {
		s := r.sources[0]
		if r.style.merge {
			s = r.sources[i]
		}
		if i == 1 && r.again && r.anyOpen() {
			r.numberLine()
		}
		if !r.reads(s, i) {
			if r.ended != nil || r.fatal {
				return 0
			}
			if !r.style.merge {
				break
			}
			if r.anyOpen() {
				last = i
			}
			continue
		}
		r.cell(i)
		s.line(r.text.write)
		s.read++
		last = i
		if r.style.merge && s.state == prDone {
			if r.again = i == 0; r.anyOpen() {
				r.line.flush()
			}
		}
	}
	if r.column < 0 {
		return 0
	}
	if last > r.column {
		r.reach(last)
	}
	r.endRow(r.anyOpen())
	return last + 1
}

func (r *printer) anyOpen() bool {
	for _, s := range r.sources {
		if s.state == prOpen {
			return true
		}
	}
	return false
}

// cell begins the text of a column.
func (r *printer) cell(i int) {
	r.begin()
	if r.column < 0 {
		r.line.blanks(r.style.indent)
		if r.layout.columns > 1 || r.style.newSep || r.style.sep != "" {
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
	r.count++
	r.line.blanks(max(n.n-len(digits), 0))
	digits = digits[max(0, len(digits)-n.n):]
	r.line.put([]byte(digits), len(digits))
	switch {
	case n.char != '\t':
		r.line.put([]byte{n.char}, 1)
	case r.layout.columns > 1:
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
