package coreutils

import (
	"math"
	"strings"

	"github.com/seed434b0696/agent-sandbox/shell"
	"github.com/seed434b0696/agent-sandbox/shell/getopt"
)

func prCommand() shell.Command {
	return shell.Command{
		Name: "pr", Usage: "[OPTION]... [FILE]...",
		Summary: "divide each FILE into pages, or into columns",
		Help: `With no FILE, or when FILE is -, read standard input.

  +FIRST[:LAST], --pages=FIRST[:LAST]  only these pages
  -N, --columns=N             N columns, filled downward
  -a, --across                fill them across
  -c, --show-control-chars    show control characters as ^G, others as \200
  -d, --double-space          an empty line behind each line
  -D, --date-format=FORMAT    how the header shows the time
  -e, --expand-tabs[=CHAR[WIDTH]]   turn CHARs (TAB) of the input into spaces
  -F, -f, --form-feed         pages end with a form feed, not with empty lines
  -h, --header=HEADER         show HEADER, not the name of the file
  -i, --output-tabs[=CHAR[WIDTH]]   turn spaces into CHARs (TAB)
  -J, --join-lines            columns are neither cut nor aligned
  -l, --length=LINES          lines of a page, 66 by default; up to 10 there is no header
  -m, --merge                 a column for each FILE
  -n, --number-lines[=CHAR[DIGITS]] numbers of DIGITS (5), and CHAR (TAB) behind them
  -N, --first-line-number=N   the number of the first line that is written
  -o, --indent=MARGIN         spaces in front of each line
  -r, --no-file-warnings      do not tell of a FILE that cannot be opened
  -s, --separator[=CHAR]      CHAR (TAB, or nothing with -w) is between columns, which are not cut
  -S, --sep-string[=STRING]   STRING is between columns
  -t, --omit-header           neither headers nor trailers
  -T, --omit-pagination       the same, and no form feeds of the input
  -v, --show-nonprinting      show what cannot be printed as \007
  -w, --width=COLUMNS         width of a page that has columns, 72 by default
  -W, --page-width=COLUMNS    width of each page; what is longer is cut
      --help                  show this help and exit
      --version               show the version and exit`,
		Run: runPr,
	}
}

const (
	prColumns = getopt.First + iota
	prPages
)

var prOptions = []getopt.Option{
	{Long: "pages", ID: prPages, Arg: getopt.Required},
	{Long: "columns", ID: prColumns, Arg: getopt.Required},
	{Short: 'a', Long: "across"},
	{Short: 'b'},
	{Short: 'c', Long: "show-control-chars"},
	{Short: 'd', Long: "double-space"},
	{Short: 'D', Long: "date-format", Arg: getopt.Required},
	{Short: 'e', Long: "expand-tabs", Arg: getopt.Optional},
	{Short: 'f', Long: "form-feed"},
	{Short: 'F'},
	{Short: 'h', Long: "header", Arg: getopt.Required},
	{Short: 'i', Long: "output-tabs", Arg: getopt.Optional},
	{Short: 'J', Long: "join-lines"},
	{Short: 'l', Long: "length", Arg: getopt.Required},
	{Short: 'm', Long: "merge"},
	{Short: 'n', Long: "number-lines", Arg: getopt.Optional},
	{Short: 'N', Long: "first-line-number", Arg: getopt.Required},
	{Short: 'o', Long: "indent", Arg: getopt.Required},
	{Short: 'r', Long: "no-file-warnings"},
	{Short: 's', Long: "separator", Arg: getopt.Optional},
	{Short: 'S', Long: "sep-string", Arg: getopt.Optional},
	{Short: 't', Long: "omit-header"},
	{Short: 'T', Long: "omit-pagination"},
	{Short: 'v', Long: "show-nonprinting"},
	{Short: 'w', Long: "width", Arg: getopt.Required},
	{Short: 'W', Long: "page-width", Arg: getopt.Required},
	{Short: '0'},
	{Short: '1'},
	{Short: '2'},
	{Short: '3'},
	{Short: '4'},
	{Short: '5'},
	{Short: '6'},
	{Short: '7'},
	{Short: '8'},
	{Short: '9'},
}

func runPr(p *shell.Proc) int {
	r := newPr(p)
	o := newOptions(p, prCommand, prOptions)
	o.Order = getopt.InOrder
	digits, fresh := "", true
	for o.Next() {
		if isDigitByte(o.ID) {
			if fresh {
				digits = ""
			}
			digits, fresh = digits+string(rune(o.ID)), false
			continue
		}
		if fresh = true; o.ID == prColumns {
			digits = ""
			r.setColumns(o, o.Value)
			continue
		}
		r.option(o)
	}
	if !o.Ended() && digits != "" {
		r.setColumns(o, digits)
	}
	if o.Ended() {
		return o.Status
	}
	if r.parallel && (r.hasColumns || r.across) {
		what := "both printing across and printing in parallel"
		if r.hasColumns {
			what = "number of columns when printing in parallel"
		}
		p.Warn("cannot specify %s", what)
		return 1
	}
	r.settle()
	r.names = append(r.names, o.Args()...)
	switch {
	case len(r.names) == 0 || r.parallel:
		r.files(r.names)
	default:
		for _, name := range r.names {
			if r.files([]string{name}); r.fatal {
				break
			}
		}
	}
	if r.ended != nil {
		return p.Status(r.ended)
	}
	return r.out.Close(r.status)
}

func (r *pr) option(o *options) {
	switch o.ID {
	case getopt.Operand:
		if r.first == 0 && strings.HasPrefix(o.Value, "+") {
			if ok := r.setPages(o, "+", o.Value[1:]); ok || o.Ended() {
				return
			}
		}
		r.names = append(r.names, o.Value)
	case prPages:
		if ok := r.setPages(o, "--pages", o.Value); !ok && !o.Ended() {
			o.RejectQuietly("invalid page range %s", quoteLocaleName(o.Value))
		}
	case 'a':
		r.across, r.storing = true, false
	case 'c':
		r.carets = true
	case 'd':
		r.double = true
	case 'f', 'F':
		r.formFeed = true
	case 'J':
		r.join = true
	case 'm':
		r.parallel, r.storing = true, false
	case 'r':
		r.quiet = true
	case 't', 'T':
		r.extremities, r.keepFF = false, o.ID == 't'
	case 'v':
		r.octal = true
	default:
		r.valueOption(o)
	}
}

// valueOption takes an option that has an argument.
func (r *pr) valueOption(o *options) {
	value := o.Value
	switch o.ID {
	case 'D':
		r.dateFormat = &value
	case 'h':
		r.header = &value
	case 'e':
		r.setChar(o, &r.tabIn, &r.tabInWidth)
		r.expand = true
	case 'i':
		r.setChar(o, &r.tabOut, &r.tabOutWidth)
		r.tabify = true
	case 'n':
		r.setChar(o, &r.numberEnd, &r.digits)
		r.numbers = true
	case 'l':
		r.setNumber(o, &r.pageLines, "'-l PAGE_LENGTH' invalid number of lines", 1)
	case 'N':
		r.countSkipped = false
		r.setNumber(o, &r.startNumber, "'-N NUMBER' invalid starting line number", math.MinInt32)
	case 'o':
		r.setNumber(o, &r.margin, "'-o MARGIN' invalid line offset", 0)
	case 's':
		if r.oldS = true; !r.hasSeparator && o.HasValue {
			r.separator = value
		}
	case 'S':
		r.oldS, r.hasSeparator, r.separator = false, true, value
	case 'w':
		width := r.width
		r.oldW = true
		if r.setNumber(o, &width, "'-w PAGE_WIDTH' invalid number of characters", 1); !r.cut {
			r.width = width
		}
	case 'W':
		r.oldW, r.cut = false, true
		r.setNumber(o, &r.width, "'-W PAGE_WIDTH' invalid number of characters", 1)
	}
	r.old = r.old || o.ID == 's' || o.ID == 'w'
}

func (r *pr) setNumber(o *options, to *int, what string, least int64) {
	if n, ok := limitedNumber(o, o.Value, what, noUnits, least, math.MaxInt32); ok {
		*to = int(n)
	}
}

func (r *pr) setColumns(o *options, text string) {
	if n, ok := limitedNumber(o, text, "invalid number of columns", noUnits, 1, math.MaxInt32); ok {
		r.columns, r.hasColumns = int(n), true
	}
}

// setChar reads a character and a number behind it; either may be missing.
func (r *pr) setChar(o *options, c *byte, n *int) {
	if !o.HasValue {
		return
	}
	text := o.Value
	if text != "" && !isDigitByte(int(text[0])) {
		*c, text = text[0], text[1:]
		if text == "" {
			return
		}
	}
	v, plain, err := parseUnits(strings.TrimPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "+"), "")
	digits := strings.Trim(text, "0123456789") == ""
	switch {
	case digits && text != "" && (err != nil || v > math.MaxInt32):
		o.Reject("'-%c' extra characters or invalid number in the argument: %s: Value too large for defined data type", o.ID, quoteLocaleName(text))
	case err != nil || plain || v <= 0 || !isDigitByte(int(text[len(text)-1])):
		o.Reject("'-%c' extra characters or invalid number in the argument: %s", o.ID, quoteLocaleName(text))
	default:
		*n = int(min(v, math.MaxInt32))
	}
}

// setPages reads a range of pages; false when it is none.
func (r *pr) setPages(o *options, option, text string) bool {
	first, rest, ok := pageNumber(o, option, text, text)
	if !ok || first == 0 {
		return false
	}
	last := uint64(math.MaxUint64)
	if strings.HasPrefix(rest, ":") {
		if last, rest, ok = pageNumber(o, option, text, rest[1:]); !ok {
			return false
		}
		if rest != "" {
			o.RejectQuietly("invalid suffix in %s argument %s", option, quoteLocaleName(text))
			return false
		}
	}
	if rest != "" || last < first {
		return false
	}
	r.first, r.last = first, last
	return true
}

// pageNumber reads the number that part begins with.
func pageNumber(o *options, option, text, part string) (n uint64, rest string, ok bool) {
	digits := strings.TrimPrefix(strings.TrimLeft(part, " \t\n\v\f\r"), "+")
	i := 0
	large := false
	for i < len(digits) && isDigitByte(int(digits[i])) {
		d := uint64(digits[i] - '0')
		large = large || n > (math.MaxUint64-d)/10
		n = n*10 + d
		i++
	}
	rest = digits[i:]
	switch {
	case i == 0:
		o.RejectQuietly("invalid %s argument %s", option, quoteLocaleName(text))
	case large && rest != "":
		o.RejectQuietly("invalid suffix in %s argument %s", option, quoteLocaleName(text))
	case large:
		o.RejectQuietly("%s argument %s too large", option, quoteLocaleName(text))
	default:
		return n, rest, true
	}
	return 0, "", false
}
