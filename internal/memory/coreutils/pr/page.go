package pr

import (
	"math"
	"strconv"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/runewidth"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// printer is a run of pr.
type printer struct {
	p      *shell.Proc
	style  *prStyle
	out    *program.Output
	status int
	ended  error // of the process
	fatal  bool  // nothing more can be written
	stdin  *program.ByteFeed

	layout  prLayout
	sources []*prSource
	across  int // columns that are filled line by line
	title   string
	date    string

	page   uint64
	count  int64 // the number of the next line
	begun  bool  // the header of this page is written
	used   int   // lines of this page
	spaced bool  // the last of them is the empty one of -d
	broken bool  // a form feed ends this page
	full   bool  // all columns had all lines that they may have, on the last page
	seen   int   // columns that have been read from since a page was full

	line   prLine
	text   prText
	column int  // of the page, in this line; -1: none yet
	filled bool // there is a line in that column
	again  bool // the number of this line comes once more
	cells  prCells
}

func newPrinter(p *shell.Proc, style *prStyle) *printer {
	r := &printer{p: p, style: style, out: program.NewOutput(p), count: style.start, seen: math.MaxInt}
	r.line = prLine{pr: r, tab: style.tab}
	r.text = prText{line: &r.line, in: style.in, hats: style.hats, octal: style.octal}
	return r
}

// isStopped reports that the program should stop.
func (r *printer) isStopped() bool { return r.ended != nil || r.fatal || r.out.HasFailed() }

// spend takes fuel; false when the process has to end.
func (r *printer) spend(n int) bool {
	if r.ended == nil {
		r.ended = r.p.Spend(n)
	}
	return r.ended == nil
}

// hold counts memory that is about to be held; false when there is none.
func (r *printer) hold(n int) bool {
	if err := r.p.Reserve(n); err != nil {
		r.fail("memory exhausted")
	}
	return !r.fatal
}

// fail ends the run with a message.
func (r *printer) fail(message string) {
	if !r.fatal {
		_ = r.out.Flush()
		r.p.Warn("%s", message)
		r.status, r.fatal = 1, true
	}
}

func (r *printer) columnsOf(text string) int {
	if program.IsByteLocale(r.p) {
		return len(text)
	}
	n := 0
	for _, c := range text {
		n += max(runewidth.Of(c), 0)
	}
	return n
}

// pages writes the pages of files, the first of which is the only one unless they are merged.
func (r *printer) pages(sources []*prSource, title string, modified time.Time) {
	var ok bool
	if r.layout, ok = r.style.layout(); !ok {
		r.fail("page width too narrow")
		return
	}
	r.line.tabs, r.text.expand = r.layout.tabs, r.layout.expand
	r.sources, r.title, r.across = sources, title, r.layout.columns
	if r.style.merge {
		r.across = len(sources)
	}
	if r.style.title != nil {
		r.title = *r.style.title
	}
	r.date = strftime.Format(r.style.date, modified.In(program.Zone(r.p)))
	if !r.style.started {
		r.count = 1
	}
	quiet := false
	for r.page = 1; r.style.last == 0 || r.page <= r.style.last; r.page++ {
		more := r.nextPage()
		switch {
		case r.isStopped():
			return
		case r.page < r.style.first && r.allDone() && !quiet:
			_ = r.out.Flush()
			r.p.Warn("starting page number %d exceeds page count %d", r.style.first, r.page)
			return
		case !more:
			return
		}
		quiet = quiet || r.broken && r.across > 1 && r.style.across
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
	if !r.spend(1) {
		return false
	}
	if r.layout.columns > 1 && !r.style.merge && !r.style.across {
		r.full = r.down()
	} else {
		r.full = r.acrossRows()
	}
	if r.isStopped() {
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

// hasLine reports whether a source has a line on this page, for a column.
func (r *printer) hasLine(s *prSource, column int) bool {
	full, open := column >= r.seen, s.state == prOpen
	if open {
		r.seen = max(r.seen, column+1)
	}
	if r.style.merge {
		full, s.full = s.full, false
	}
	if s.hasLine(full) {
		return true
	}
	switch err := s.Lines.Err(); {
	case s.Lines.Spent:
		r.ended = s.Lines.Ended
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
	if r.style.bare || r.line.mute {
		return
	}
	r.line.blanks(r.style.indent)
	r.line.flush()
	r.line.end()
	r.line.end()
	page := "Page " + strconv.FormatUint(r.page, 10)
	spare := r.style.width - r.columnsOf(r.date) - r.columnsOf(r.title) - len(page)
	r.line.repeat(' ', r.style.indent)
	_, _ = r.out.WriteString(r.date)
	r.line.repeat(' ', max(spare/2, 1))
	_, _ = r.out.WriteString(r.title)
	r.line.repeat(' ', max(spare-spare/2, 1))
	_, _ = r.out.WriteString(page + "\n\n\n")
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
