package coreutils

import (
	"math"

	"github.com/seed434b0696/agent-sandbox/shell"
)

// pr is a run of pr.
type pr struct {
	p     *shell.Proc
	out   *output
	names []string

	first, last  uint64 // pages
	columns      int
	hasColumns   bool
	across       bool
	parallel     bool // a column for each file
	storing      bool // columns are filled downward, from a store
	carets       bool
	octal        bool
	double       bool
	formFeed     bool
	join         bool
	quiet        bool
	extremities  bool // headers and trailers
	keepFF       bool
	cut          bool // lines that are too long
	dateFormat   *string
	header       *string
	expand       bool
	tabify       bool
	tabIn        byte
	tabOut       byte
	tabInWidth   int
	tabOutWidth  int
	numbers      bool
	numberEnd    byte
	digits       int
	startNumber  int
	countSkipped bool
	pageLines    int
	width        int
	margin       int
	separator    string
	hasSeparator bool
	old          bool
	oldS, oldW   bool

	body        int // lines of text on a page
	columnWidth int
	numberWidth int
	page        uint64
	line        int32 // the next number
	lineCount   int32

	list      []prColumn
	stdin     *byteSource
	ready     int // files that are neither closed nor held
	date      string
	title     string
	titleRoom int

	store      []byte
	stored     []prLine
	prPosition // of the output

	clump       [4]byte
	needHeader  bool
	needFF      bool
	pad         bool // something was printed on the page
	alignEmpty  bool
	emptyLine   bool
	onlyFF      bool
	skipsLast   bool
	storingLine bool // characters go to the store

	status int
	fatal  bool
	ended  error
}

// prPosition is where the output and the input are.
type prPosition struct {
	at         int
	from       int
	spaces     int // not written yet
	separators int // not written yet
	padding    int // not written yet
}

// prLine is a line in the store.
type prLine struct{ start, end, width int }

// prStatus is that of a column's file.
type prStatus uint8

const (
	prOpen   prStatus = iota
	prFF              // the page of a store ends with a form feed
	prHold            // the page ends with a form feed
	prClosed          // there is no more
)

// prColumn is a column of the page.
type prColumn struct {
	in       *byteSource
	name     string
	status   prStatus
	current  int // line of the store
	lines    int // in the store
	left     int // lines to print
	start    int // where it begins; 0 for anywhere
	numbered bool
	full     bool // a page was filled without a form feed
}

func newPr(p *shell.Proc) *pr {
	return &pr{
		p: p, out: newOutput(p), last: math.MaxUint64, columns: 1, storing: true, extremities: true,
		tabIn: '\t', tabOut: '\t', tabInWidth: 8, tabOutWidth: 8, numberEnd: '\t', digits: 5,
		startNumber: 1, countSkipped: true, pageLines: 66, width: 72,
	}
}

// settle makes of -s and -w what they mean together.
func (r *pr) settle() {
	if r.dateFormat == nil {
		format := "%Y-%m-%d %H:%M"
		if _, ok := r.p.LookupEnv("POSIXLY_CORRECT"); ok {
			format = "%b %e %H:%M %Y"
		}
		r.dateFormat = &format
	}
	r.first = max(r.first, 1)
	many := r.parallel || r.hasColumns
	switch {
	case !r.old:
	case r.oldW && many:
		r.cut = true
		r.hasSeparator = r.hasSeparator || r.oldS
	case r.oldW:
		r.join = true
	case r.hasSeparator || !r.oldS || !many:
	case r.cut:
		r.hasSeparator = true
	default:
		r.join = true
		r.hasSeparator = r.separator != ""
	}
}

// fail ends the run.
func (r *pr) fail(text string) {
	if !r.fatal {
		_ = r.out.Flush()
		r.p.Warn("%s", text)
	}
	r.fatal, r.status = true, 1
}

// layOut decides about the page.
func (r *pr) layOut(files int) bool {
	r.body = r.pageLines - 10
	if r.body <= 0 {
		r.extremities, r.keepFF = false, true
	}
	if !r.extremities {
		r.body = r.pageLines
	}
	if r.double {
		r.body = max(r.body/2, 1)
	}
	if files == 0 {
		r.parallel = false
	}
	if r.parallel {
		r.columns = files
	}
	if r.columns > 1 {
		if !r.hasSeparator {
			r.separator, r.hasSeparator = " ", true
			if r.join {
				r.separator = "\t"
			}
		} else if !r.join && r.separator == "\t" {
			r.separator = " "
		}
		r.cut = true
		r.expand = r.expand || r.separator != "\t"
		r.tabify = true
	} else {
		r.storing = false
	}
	if r.join {
		r.cut = false
	}
	room := r.width
	if r.numbers {
		r.lineCount = int32(r.startNumber)
		r.numberWidth = r.digits + 1
		if r.numberEnd == '\t' {
			r.numberWidth = r.digits + 8 - r.digits%8
		}
		if r.parallel {
			room -= r.numberWidth
		}
	}
	room -= min((r.columns-1)*len(r.separator), math.MaxInt32)
	if r.columnWidth = room / r.columns; r.columnWidth < 1 {
		r.fail("page width too narrow")
		return false
	}
	if total := r.body * r.columns; r.storing && (total >= math.MaxInt32 || total*(r.columnWidth+1) > math.MaxInt32) {
		r.fail("integer overflow")
		return false
	}
	return true
}

// files prints a file, or files side by side.
func (r *pr) files(names []string) {
	if !r.layOut(len(names)) || !r.openAll(names) {
		r.closeAll()
		return
	}
	defer r.closeAll()
	r.page = 1
	if r.first > 1 {
		if !r.skipPages() {
			return
		}
		r.page = r.first
	}
	r.place()
	r.line = r.lineCount
	for !r.fatal && !r.out.failed() && r.printPage() {
		r.spend(1)
	}
}

// spend takes fuel; the end of the process ends the run.
func (r *pr) spend(n int) {
	if err := r.p.Spend(n); err != nil && r.ended == nil {
		r.ended, r.fatal = err, true
	}
}

// place decides where columns begin.
func (r *pr) place() {
	at, next := r.margin, 0
	if r.cut {
		next = at + r.columnWidth
		if r.parallel && r.numbers {
			next += r.numberWidth
		}
	}
	at += len(r.separator)
	for i := range r.list {
		c := &r.list[i]
		c.numbered = r.numbers && (!r.parallel || i == 0)
		c.start = at
		if at = 0; r.cut {
			at = next + len(r.separator)
			next = at + r.columnWidth
		}
	}
}
