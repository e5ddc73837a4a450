package pr

import (
	"math"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// prStyle holds the parsed options of pr.
type prStyle struct {
	names []string // operands

	first, last   uint64 // pages; a last of 0 is none
	columns       int
	digits        string // of -COLUMNS, as far as it has been read
	columnsSet    bool
	across, merge bool

	hats, octal    bool
	double         bool
	date           string
	title          *string
	expand, tabs   bool
	in, tab        prTab
	feed           bool
	length         int
	numbered       bool
	number         prTab // the character behind the number, and how many digits it has
	start          int64
	started        bool // -N sets the first number
	indent         int
	silent         bool
	join           bool
	oldSep         bool // -s
	newSep         bool // -S
	sep            string
	bare, flat     bool // -t, -T
	width          int
	widthSet, wide bool // -w or -W; -W
	cut            bool // the last of them was -W
}

// prTab is a character and a number, which three options take together.
type prTab struct {
	char byte
	n    int
}

func newPrStyle(p *shell.Proc) *prStyle {
	s := &prStyle{
		columns: 1, length: 66, width: 72, start: 1, date: "%Y-%m-%d %H:%M",
		in: prTab{'\t', 8}, tab: prTab{'\t', 8}, number: prTab{'\t', 5},
	}
	if _, posix := p.LookupEnv("POSIXLY_CORRECT"); posix && program.IsByteLocale(p) {
		s.date = "%b %e %H:%M %Y"
	}
	return s
}

// set takes an option.
func (s *prStyle) set(o *program.Options) {
	if ascii.IsDigit(o.ID) {
		s.digits += string(rune(o.ID))
		return
	}
	s.settleColumns(o)
	switch o.ID {
	case getopt.Operand:
		if s.first != 0 || !strings.HasPrefix(o.Value, "+") || !s.pages(o, "+", o.Value[1:]) {
			s.names = append(s.names, o.Value)
		}
	case prPages:
		if !s.pages(o, "--pages", o.Value) && !o.HasEnded() {
			o.RejectQuietly("invalid page range %s", quoting.Name(o.Value))
		}
	case prColumns:
		s.setColumns(o, o.Value)
	case 'D':
		s.date = o.Value
	case 'h':
		title := o.Value
		s.title = &title
	case 'e', 'i', 'n':
		s.setTab(o)
	case 'l', 'N', 'o', 'w', 'W':
		s.setNumber(o)
	case 's', 'S':
		s.setSeparator(o)
	default:
		s.setFlag(o.ID)
	}
}

func (s *prStyle) setFlag(id int) {
	switch id {
	case 'a':
		s.across = true
	case 'c':
		s.hats = true
	case 'd':
		s.double = true
	case 'f', 'F':
		s.feed = true
	case 'J':
		s.join = true
	case 'm':
		s.merge = true
	case 'r':
		s.silent = true
	case 't':
		s.bare, s.flat = true, false
	case 'T':
		s.bare, s.flat = true, true
	case 'v':
		s.octal = true
	}
}

// settleColumns takes the digits of -COLUMNS, which may be spread over several adjacent options.
func (s *prStyle) settleColumns(o *program.Options) {
	if s.digits != "" {
		text := s.digits
		s.digits = ""
		s.setColumns(o, text)
	}
}

func (s *prStyle) setColumns(o *program.Options, text string) {
	if n, ok := program.LimitedNumber(o, text, "invalid number of columns", program.NoUnits, 1, math.MaxInt32); ok {
		s.columns = int(n)
		s.columnsSet = true
	}
}

// setNumber takes an option whose argument is a number.
func (s *prStyle) setNumber(o *program.Options) {
	what, least := "'-l PAGE_LENGTH' invalid number of lines", int64(1)
	switch o.ID {
	case 'N':
		what, least = "'-N NUMBER' invalid starting line number", math.MinInt32
	case 'o':
		what, least = "'-o MARGIN' invalid line offset", 0
	case 'w':
		what = "'-w PAGE_WIDTH' invalid number of characters"
	case 'W':
		what = "'-W PAGE_WIDTH' invalid number of characters"
	}
	n, ok := program.LimitedNumber(o, o.Value, what, program.NoUnits, least, math.MaxInt32)
	if !ok {
		return
	}
	switch o.ID {
	case 'l':
		s.length = int(n)
	case 'N':
		s.start, s.started = n, true
	case 'o':
		s.indent = int(n)
	default:
		if !s.wide || o.ID == 'W' {
			s.width = int(n)
		}
		s.widthSet, s.wide, s.cut = true, s.wide || o.ID == 'W', o.ID == 'W'
	}
}

// setSeparator takes -s and -S; -S is the stronger one.
func (s *prStyle) setSeparator(o *program.Options) {
	if o.ID == 'S' {
		s.newSep, s.sep = true, o.Value
		return
	}
	s.oldSep = true
	if !s.newSep && o.Value != "" {
		s.sep = o.Value
	}
}

// setTab takes a character and a number, neither of which need be there.
func (s *prStyle) setTab(o *program.Options) {
	var to *prTab
	switch o.ID {
	case 'e':
		to, s.expand = &s.in, true
	case 'i':
		to, s.tabs = &s.tab, true
	default:
		to, s.numbered = &s.number, true
	}
	text := o.Value
	if text != "" && !ascii.IsDigit(text[0]) {
		to.char = text[0]
		text = text[1:]
	}
	if text == "" {
		return
	}
	n, err := strconv.ParseInt(strings.TrimLeft(text, " \t\n\v\f\r"), 10, 64)
	switch {
	case err == nil && n > 0 && n <= math.MaxInt32:
		to.n = int(n)
	case n > math.MaxInt32:
		o.Reject("'-%c' extra characters or invalid number in the argument: %s: %s", o.ID, quoting.Name(text), shell.Strerror(syscall.EOVERFLOW))
	default:
		o.Reject("'-%c' extra characters or invalid number in the argument: %s", o.ID, quoting.Name(text))
	}
}

// pages takes a range of pages. It returns false when that is none, though it begins as one does;
// what is not a number at all is an error.
func (s *prStyle) pages(o *program.Options, option, text string) bool {
	first, rest, ok := pageNumber(o, option, text, text, true)
	if !ok {
		return false
	}
	last := uint64(0)
	if more, colon := strings.CutPrefix(rest, ":"); colon {
		if last, rest, ok = pageNumber(o, option, text, more, false); !ok {
			return false
		}
		if last < first || last == 0 {
			return false
		}
	}
	if rest != "" || first == 0 {
		return false
	}
	s.first, s.last = first, last
	return true
}

// pageNumber reads the number at the beginning of text, and returns what is behind it. Only before
// more may there be something.
func pageNumber(o *program.Options, option, whole, text string, more bool) (n uint64, rest string, ok bool) {
	digits := strings.TrimPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "+")
	end := 0
	for end < len(digits) && ascii.IsDigit(digits[end]) {
		end++
	}
	n, err := strconv.ParseUint(digits[:end], 10, 64)
	rest = digits[end:]
	switch {
	case end == 0:
		o.RejectQuietly("invalid %s argument %s", option, quoting.Name(whole))
	case rest != "" && (err != nil || !more):
		o.RejectQuietly("invalid suffix in %s argument %s", option, quoting.Name(whole))
	case err != nil:
		o.RejectQuietly("%s argument %s too large", option, quoting.Name(whole))
	default:
		return n, rest, true
	}
	return 0, "", false
}

// settle reports conflicting options, after all options are read.
func (s *prStyle) settle(o *program.Options) {
	s.settleColumns(o)
	switch {
	case o.HasEnded():
	case s.merge && s.columnsSet:
		o.RejectQuietly("cannot specify number of columns when printing in parallel")
	case s.merge && s.across:
		o.RejectQuietly("cannot specify both printing across and printing in parallel")
	}
	if s.length <= 10 {
		s.bare, s.flat = true, false
	}
	if s.first == 0 {
		s.first = 1
	}
}
