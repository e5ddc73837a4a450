package numbers

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fieldlist"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func numfmtCommand() program.Description {
	return program.Description{
		Name: "numfmt", Usage: "[OPTION]... [NUMBER]...",
		Summary: "write numbers with units, or without",
		Help: `With no NUMBER, read lines from standard input.

      --debug            warn of what is of no use, and of lost precision
  -d, --delimiter=X      X stands between fields, not blanks
      --field=FIELDS     the fields to convert, as cut has them; - is all, 1 by default
      --format=FORMAT    write numbers as FORMAT, %f, says: %[0]['][-][N][.][N]f
      --from=UNIT        read numbers with units
      --from-unit=N      a number counts N; 1 by default
      --grouping         groups of digits, in locales that have them
      --header[=N]       leave the first N lines as they are; 1 by default
      --invalid=MODE     after an invalid number: abort, fail, warn or ignore
      --padding=N        write to the right of N columns; to the left if N is below 0
      --round=METHOD     up, down, from-zero, towards-zero or nearest
      --suffix=SUFFIX    write SUFFIX behind numbers, and read it
      --to=UNIT          write numbers with units
      --to-unit=N        write how many times N a number is
  -z, --zero-terminated  lines end in NUL, not in a newline
      --help             show this help and exit
      --version          show the version and exit

UNIT is none; auto, for reading alone: K is 1000 and Ki is 1024; si: K is 1000; iec: K is 1024;
iec-i: Ki is 1024. The letters are K, M, G, T, P, E, Z and Y.`,
		Run: runNumfmt,
	}
}

const (
	numfmtFrom = getopt.First + iota
	numfmtFromUnit
	numfmtTo
	numfmtToUnit
	numfmtRound
	numfmtPadding
	numfmtSuffix
	numfmtGrouping
	numfmtField
	numfmtDebug
	numfmtHeader
	numfmtFormat
	numfmtInvalid
)

var numfmtOptions = []getopt.Option{
	{Long: "from", ID: numfmtFrom, Arg: getopt.Required},
	{Long: "from-unit", ID: numfmtFromUnit, Arg: getopt.Required},
	{Long: "to", ID: numfmtTo, Arg: getopt.Required},
	{Long: "to-unit", ID: numfmtToUnit, Arg: getopt.Required},
	{Long: "round", ID: numfmtRound, Arg: getopt.Required},
	{Long: "padding", ID: numfmtPadding, Arg: getopt.Required},
	{Long: "suffix", ID: numfmtSuffix, Arg: getopt.Required},
	{Long: "grouping", ID: numfmtGrouping},
	{Short: 'd', Long: "delimiter", Arg: getopt.Required},
	{Long: "field", ID: numfmtField, Arg: getopt.Required},
	{Long: "debug", ID: numfmtDebug},
	{Long: "header", ID: numfmtHeader, Arg: getopt.Optional},
	{Long: "format", ID: numfmtFormat, Arg: getopt.Required},
	{Long: "invalid", ID: numfmtInvalid, Arg: getopt.Required},
	{Short: 'z', Long: "zero-terminated"},
}

// numberScale is a way to write units.
type numberScale uint8

const (
	scaleNone numberScale = iota
	scaleAuto
	scaleSI
	scaleIEC
	scaleIECI
)

// afterInvalid is the text after an invalid number.
type afterInvalid uint8

const (
	invalidAbort afterInvalid = iota
	invalidFail
	invalidWarn
	invalidIgnore
)

// numfmt is a run of numfmt.
type numfmt struct {
	p   *shell.Proc
	out *program.Output

	from, to         numberScale
	fromUnit, toUnit uint64
	round            rounding
	suffix           string
	grouping         bool
	delim            int // -1: blanks
	eol              byte
	spans            []fieldlist.Span // none: the first
	debug            bool
	header           uint64
	invalid          afterInvalid

	format         string
	hasFormat      bool
	prefix, behind string // of format
	precision      int64  // -1: that of the number
	zeros          int64
	padding        int64
	left           bool
	autoPadding    bool

	failed bool // an operand was not a number
	ended  bool // the program should stop
	status int
}

func runNumfmt(p *shell.Proc) int {
	f := &numfmt{p: p, out: program.NewOutput(p), fromUnit: 1, toUnit: 1, delim: -1, eol: '\n', precision: -1}
	o := program.NewOptions(p, numfmtCommand, numfmtOptions)
	for o.Next() {
		f.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if !f.settle() {
		return 1
	}
	if args := o.Args(); len(args) > 0 {
		if f.debug && f.header > 0 {
			p.Warn("--header ignored with command-line input")
		}
		for _, arg := range args {
			if f.ended {
				break
			}
			f.line([]byte(arg), true)
		}
	} else if !f.lines() {
		return f.status
	}
	if f.ended {
		return f.out.Close(f.status)
	}
	if f.debug && f.failed {
		p.Warn("failed to convert some of the input numbers")
	}
	if f.failed && f.invalid == invalidFail {
		f.status = 2
	}
	return f.out.Close(f.status)
}

func (f *numfmt) option(o *program.Options) {
	switch o.ID {
	case numfmtFrom:
		f.from = program.Choose(o, "--from", o.Value, []choice.Choice[numberScale]{{Name: "none", Value: scaleNone}, {Name: "auto", Value: scaleAuto}, {Name: "si", Value: scaleSI}, {Name: "iec", Value: scaleIEC}, {Name: "iec-i", Value: scaleIECI}})
	case numfmtTo:
		f.to = program.Choose(o, "--to", o.Value, []choice.Choice[numberScale]{{Name: "none", Value: scaleNone}, {Name: "si", Value: scaleSI}, {Name: "iec", Value: scaleIEC}, {Name: "iec-i", Value: scaleIECI}})
	case numfmtRound:
		f.round = program.Choose(o, "--round", o.Value, []choice.Choice[rounding]{{Name: "up", Value: roundUp}, {Name: "down", Value: roundDown}, {Name: "from-zero", Value: roundFromZero}, {Name: "towards-zero", Value: roundToZero}, {Name: "nearest", Value: roundNearest}})
	case numfmtInvalid:
		f.invalid = program.Choose(o, "--invalid", o.Value, []choice.Choice[afterInvalid]{{Name: "abort", Value: invalidAbort}, {Name: "fail", Value: invalidFail}, {Name: "warn", Value: invalidWarn}, {Name: "ignore", Value: invalidIgnore}})
	case numfmtFromUnit:
		f.fromUnit = numfmtUnit(o)
	case numfmtToUnit:
		f.toUnit = numfmtUnit(o)
	case numfmtSuffix:
		f.suffix = o.Value
	case numfmtGrouping:
		f.grouping = true
	case numfmtDebug:
		f.debug = true
	case numfmtFormat:
		f.format, f.hasFormat = o.Value, true
	case 'z':
		f.eol = 0
	default:
		f.placeOption(o)
	}
}

// placeOption reads options that say where numbers are, and where they go.
func (f *numfmt) placeOption(o *program.Options) {
	switch o.ID {
	case numfmtPadding:
		n, err := strconv.ParseInt(strings.TrimLeft(o.Value, " \t\n\v\f\r"), 10, 64)
		if err != nil || n == 0 || n == math.MinInt64 {
			o.RejectQuietly("invalid padding value %s", quoting.Name(o.Value))
			return
		}
		f.pad(n)
	case 'd':
		switch {
		case len(o.Value) > 1:
			o.RejectQuietly("the delimiter must be a single character")
		case o.Value == "":
			f.delim = 0
		default:
			f.delim = int(o.Value[0])
		}
	case numfmtField:
		if f.spans != nil {
			o.RejectQuietly("multiple field specifications")
			return
		}
		if o.Value == "-" {
			f.spans = []fieldlist.Span{{Lo: 1, Hi: math.MaxInt}}
			return
		}
		var fault string
		if f.p.Reserve(fieldlist.Memory(o.Value)) != nil {
			fault = "memory exhausted"
		} else {
			f.spans, fault = fieldlist.Parse(o.Value, true)
		}
		if fault != "" {
			o.Reject("%s", fault)
		}
	case numfmtHeader:
		f.header = 1
		if !o.HasValue {
			return
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimLeft(o.Value, " \t\n\v\f\r"), "+"), 10, 64)
		if f.header = n; err != nil || n == 0 {
			o.RejectQuietly("invalid header value %s", quoting.Name(o.Value))
		}
	}
}

// pad sets the columns of a number, below 0 for left-aligned numbers.
func (f *numfmt) pad(n int64) {
	if f.padding = n; n < 0 {
		f.padding, f.left = -n, true
	}
}

// settle checks the options with each other; false after a message.
func (f *numfmt) settle() bool {
	if f.hasFormat && f.grouping {
		f.p.Warn("--grouping cannot be combined with --format")
		return false
	}
	if f.debug && f.from == scaleNone && f.to == scaleNone && !f.grouping && f.padding == 0 && !f.hasFormat {
		f.p.Warn("no conversion option specified")
	}
	if f.hasFormat {
		if fault := f.parseFormat(f.format); fault != "" {
			f.p.Warn("%s", fault)
			return false
		}
	}
	if f.grouping {
		if f.to != scaleNone {
			f.p.Warn("grouping cannot be combined with --to")
			return false
		}
		if f.debug {
			f.p.Warn("grouping has no effect in this locale")
		}
	}
	if f.padding > 0 && (f.padding > math.MaxInt32 || f.p.Reserve(int(f.padding)) != nil) {
		f.p.Warn("memory exhausted")
		return false
	}
	f.autoPadding = f.padding == 0 && f.delim < 0
	return true
}

// lines converts standard input; false when the process has to end.
func (f *numfmt) lines() bool {
	l := program.NewLineReader(f.p, f.p.Stdin, f.eol)
	for !f.ended && !f.out.HasFailed() {
		line, ok := l.Next()
		if !ok {
			break
		}
		text := program.WithoutEnd(line, f.eol)
		whole := len(text) < len(line)
		// GNU numfmt ignores the text behind a NUL.
		if at := bytes.IndexByte(text, 0); at >= 0 {
			text = text[:at]
			line = text
		}
		if f.header > 0 {
			f.header--
			_, _ = f.out.Write(bytes.TrimSuffix(line, []byte{0}))
			continue
		}
		f.line(text, whole)
	}
	if l.Spent {
		f.status = f.p.Status(l.Ended)
		return false
	}
	if err := l.Err(); err != nil {
		f.p.Errorf(err, "error reading input")
	}
	return true
}

// line converts the fields of a line.
func (f *numfmt) line(line []byte, whole bool) {
	for field := 1; !f.ended; field++ {
		if err := f.p.Spend(1 + len(f.spans)>>4); err != nil {
			f.ended, f.status = true, f.p.Status(err)
			return
		}
		end := f.fieldEnd(line)
		f.field(string(line[:end]), field)
		if f.ended {
			return
		}
		if end == len(line) {
			break
		}
		line = line[end+1:]
		if f.delim < 0 {
			_ = f.out.WriteByte(' ')
		} else {
			_ = f.out.WriteByte(byte(f.delim))
		}
	}
	if whole {
		_ = f.out.WriteByte(f.eol)
	}
}

// fieldEnd returns where the first field ends. Blanks in front belong to it.
func (f *numfmt) fieldEnd(line []byte) int {
	if f.delim >= 0 {
		if n := bytes.IndexByte(line, byte(f.delim)); n >= 0 {
			return n
		}
		return len(line)
	}
	n := 0
	for n < len(line) && isNumfmtBlank(line[n]) {
		n++
	}
	for n < len(line) && !isNumfmtBlank(line[n]) {
		n++
	}
	return n
}

func isNumfmtBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// isChosen reports whether a field is to be converted.
func (f *numfmt) isChosen(field int) bool {
	for _, s := range f.spans {
		if s.Lo <= field && field <= s.Hi {
			return true
		}
	}
	return f.spans == nil && field == 1
}

// complain reports an invalid number, and ends the run if that is wanted.
func (f *numfmt) complain(format string, args ...any) {
	f.failed = true
	if f.invalid != invalidIgnore {
		f.p.Warn(format, args...)
	}
	if f.invalid == invalidAbort {
		f.ended, f.status = true, 2
	}
}
