package grep

import (
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Options of grep without a letter.
const (
	grepNoIgnoreCase = getopt.First + iota
	grepBinaryFiles
	grepLineBuffered
	grepLabel
	grepColor
	grepGroupSeparator
	grepNoGroupSeparator
	grepInclude
	grepExclude
	grepExcludeFrom
	grepExcludeDir
)

// The order is that of GNU's table, which ambiguous abbreviations are listed in.
var grepOptions = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 'G', Long: "basic-regexp"},
	{Short: 'E', Long: "extended-regexp"},
	{Short: 'F', Long: "fixed-regexp"},
	{Short: 'F', Long: "fixed-strings"},
	{Short: 'P', Long: "perl-regexp"},
	{Short: 'A', Long: "after-context", Arg: getopt.Required},
	{Short: 'B', Long: "before-context", Arg: getopt.Required},
	{Long: "binary-files", ID: grepBinaryFiles, Arg: getopt.Required},
	{Short: 'U', Long: "binary"},
	{Short: 'b', Long: "byte-offset"},
	{Short: 'C', Long: "context", Arg: getopt.Required},
	{Long: "color", ID: grepColor, Arg: getopt.Optional},
	{Long: "colour", ID: grepColor, Arg: getopt.Optional},
	{Short: 'c', Long: "count"},
	{Short: 'D', Long: "devices", Arg: getopt.Required},
	{Short: 'd', Long: "directories", Arg: getopt.Required},
	{Long: "exclude", ID: grepExclude, Arg: getopt.Required},
	{Long: "exclude-from", ID: grepExcludeFrom, Arg: getopt.Required},
	{Long: "exclude-dir", ID: grepExcludeDir, Arg: getopt.Required},
	{Short: 'f', Long: "file", Arg: getopt.Required},
	{Short: 'l', Long: "files-with-matches"},
	{Short: 'L', Long: "files-without-match"},
	{Long: "group-separator", ID: grepGroupSeparator, Arg: getopt.Required},
	{Long: "help", ID: getopt.Help},
	{Long: "include", ID: grepInclude, Arg: getopt.Required},
	{Short: 'i', Long: "ignore-case"},
	{Long: "no-ignore-case", ID: grepNoIgnoreCase},
	{Short: 'T', Long: "initial-tab"},
	{Long: "label", ID: grepLabel, Arg: getopt.Required},
	{Long: "line-buffered", ID: grepLineBuffered},
	{Short: 'n', Long: "line-number"},
	{Short: 'x', Long: "line-regexp"},
	{Short: 'm', Long: "max-count", Arg: getopt.Required},
	{Short: 'h', Long: "no-filename"},
	{Long: "no-group-separator", ID: grepNoGroupSeparator},
	{Short: 's', Long: "no-messages"},
	{Short: 'Z', Long: "null"},
	{Short: 'z', Long: "null-data"},
	{Short: 'o', Long: "only-matching"},
	{Short: 'q', Long: "quiet"},
	{Short: 'r', Long: "recursive"},
	{Short: 'R', Long: "dereference-recursive"},
	{Short: 'e', Long: "regexp", Arg: getopt.Required},
	{Short: 'v', Long: "invert-match"},
	{Short: 'q', Long: "silent"},
	{Short: 'a', Long: "text"},
	{Short: 'u', Long: "unix-byte-offsets"},
	{Short: 'V', Long: "version", ID: getopt.Version},
	{Short: 'H', Long: "with-filename"},
	{Short: 'w', Long: "word-regexp"},
	{Short: 'X', Arg: getopt.Required},
	{Short: 'y'},
	{Short: 'I'},
})

// grepBinary says how a binary file is treated.
type grepBinary uint8

const (
	binaryNoted   grepBinary = iota // a message instead of lines
	binaryText                      // lines as they are
	binarySkipped                   // no match
)

// grepDirs says how a directory is treated.
type grepDirs uint8

const (
	dirsRead grepDirs = iota
	dirsSkip
	dirsRecurse
)

// grep is a run of grep.
type grep struct {
	p   *shell.Proc
	out *program.Output
	m   *regex.Matcher

	matcher    string // the letter of -E, -F, -G, -P or ""
	fold       bool
	words      bool
	wholeLines bool
	nul        bool
	invert     bool

	count, list, listNot, quiet    bool
	only, number, offset, tab      bool
	names                          int // -1 no, 1 yes, 0 as it comes
	nulNames, buffered, noMessages bool
	max                            int64
	before, after, around          int
	separator                      string
	noSeparator                    bool
	label                          string
	color                          *grepColors
	binary                         grepBinary
	dirs                           grepDirs
	skipDevices, follow            bool
	files, foundDirs               grepFilter
	patterns                       []string
	given                          bool // the user gave patterns
	showNames                      bool
	bytes                          bool // the C locale
	operands                       []string
	dot                            bool // search "." without saying so

	// Only rg sets these.
	withHeading bool // the name is printed once above the lines of a file
	headed      string
	lineHook    *rgHook
	binaryAt    int64 // of the first NUL byte; -1 for none
	searched    int64 // bytes of the last file

	spare    []byte // a buffer of an earlier file
	outKnown bool
	outIno   uint64 // of a file that the output goes to

	used    bool // lines were shown
	failed  bool
	matched bool
	digit   int // index of the word that held the last digit
	ended   error
}

func newGrep(p *shell.Proc) *grep {
	return &grep{
		p: p, out: program.NewOutput(p), max: math.MaxInt64, before: -1, after: -1, around: -1, separator: "--",
		label: "(standard input)", bytes: program.IsByteLocale(p),
	}
}

// configure reads the options. done reports that grep has to end with status.
func (g *grep) configure() (status int, done bool) {
	o := program.NewOptions(g.p, grepCommand, grepOptions)
	o.Wrong = 2
	for o.Next() {
		if g.option(o) {
			return 2, true
		}
	}
	if o.HasEnded() {
		return o.Status, true
	}
	operands := o.Args()
	if !g.given {
		if len(operands) == 0 {
			program.TryHelp(g.p, grepCommand())
			return 2, true
		}
		if g.addPatterns(operands[0]) {
			return 2, true
		}
		operands = operands[1:]
	}
	if g.max == 0 {
		return 1, true
	}
	g.settle(operands)
	return g.compile()
}

// settle draws conclusions from options that depend on each other.
func (g *grep) settle(operands []string) {
	if g.before < 0 {
		g.before = g.around
	}
	if g.after < 0 {
		g.after = g.around
	}
	g.operands = operands
	if len(operands) == 0 {
		g.operands = []string{"-"}
		if g.dirs == dirsRecurse {
			g.operands, g.dot = []string{"."}, true
		}
	}
	g.showNames = g.names > 0 || g.names == 0 && len(operands) > 1
	if g.list || g.listNot {
		g.count = false
	}
}

// option takes one option; fail reports that a message was written and grep has to end.
func (g *grep) option(o *program.Options) (fail bool) {
	switch o.ID {
	case 'E', 'F', 'G', 'P':
		return g.setMatcher(string(rune(o.ID)))
	case 'X':
		letter, ok := map[string]string{"grep": "G", "egrep": "E", "fgrep": "F", "perl": "P"}[o.Value]
		if !ok {
			g.p.Warn("invalid matcher %s", o.Value)
			return true
		}
		return g.setMatcher(letter)
	case 'e':
		return g.addPatterns(o.Value)
	case 'f':
		return g.addFile(o.Value)
	case 'A', 'B', 'C', 'm', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return g.numberOption(o)
	case 'd', 'D', grepBinaryFiles, grepColor:
		return g.wordOption(o)
	case grepInclude, grepExclude, grepExcludeFrom, grepExcludeDir:
		return g.filterOption(o)
	case grepLabel:
		g.label = o.Value
	case grepGroupSeparator:
		g.separator, g.noSeparator = o.Value, false
	case grepNoGroupSeparator:
		g.noSeparator = true
	case 'u':
		g.p.Warn("warning: --unix-byte-offsets (-u) is obsolete")
	default:
		g.flag(o.ID)
	}
	return false
}

// flag takes an option without an argument.
func (g *grep) flag(id int) {
	switch id {
	case 'i', 'y':
		g.fold = true
	case grepNoIgnoreCase:
		g.fold = false
	case 'w':
		g.words = true
	case 'x':
		g.wholeLines = true
	case 'z':
		g.nul = true
	case 's':
		g.noMessages = true
	case 'v':
		g.invert = true
	case 'b':
		g.offset = true
	case 'n':
		g.number = true
	case grepLineBuffered:
		g.buffered = true
	case 'H':
		g.names = 1
	case 'h':
		g.names = -1
	case 'o':
		g.only = true
	case 'q':
		g.quiet = true
	case 'a':
		g.binary = binaryText
	case 'I':
		g.binary = binarySkipped
	case 'r':
		g.dirs, g.follow = dirsRecurse, false
	case 'R':
		g.dirs, g.follow = dirsRecurse, true
	case 'L':
		g.listNot, g.list = true, false
	case 'l':
		g.list, g.listNot = true, false
	case 'c':
		g.count = true
	case 'T':
		g.tab = true
	case 'Z':
		g.nulNames = true
	}
}

func (g *grep) setMatcher(letter string) (fail bool) {
	if g.matcher != "" && g.matcher != letter {
		g.p.Warn("conflicting matchers specified")
		return true
	}
	g.matcher = letter
	return false
}

func (g *grep) addPatterns(lines string) (fail bool) {
	g.given = true
	list, err := program.GrowBuffer(g.p, g.patterns, strings.Count(lines, "\n")+1)
	if err != nil {
		g.p.Warn("memory exhausted")
		return true
	}
	g.patterns = list
	for line := range strings.SplitSeq(lines, "\n") {
		g.patterns = append(g.patterns, line) // bounded: GrowBuffer has charged the room for them
	}
	return false
}

func (g *grep) addFile(name string) (fail bool) {
	lines, err := program.ReadListFile(g.p, name, '\n')
	if err != nil {
		g.p.Warn("%s: %s", name, shell.Strerror(err))
		return true
	}
	g.given = true
	if g.patterns == nil {
		g.patterns = lines
		return false
	}
	if g.patterns, err = program.Append(g.p, g.patterns, lines...); err != nil {
		g.p.Warn("memory exhausted")
		return true
	}
	return false
}

func (g *grep) numberOption(o *program.Options) (fail bool) {
	if o.ID >= '0' && o.ID <= '9' {
		n := o.ID - '0'
		if g.digit == o.Index && g.around >= 0 {
			n += 10 * min(g.around, math.MaxInt32)
		}
		g.around, g.digit = n, o.Index
		return false
	}
	n, err := strconv.ParseInt(strings.TrimLeft(o.Value, " \t\n\v\f\r"), 10, 64)
	big := err != nil && strings.Contains(err.Error(), strconv.ErrRange.Error())
	if o.ID == 'm' {
		if err != nil && !big {
			g.p.Warn("invalid max count")
			return true
		}
		if g.max = n; n < 0 || big {
			g.max = math.MaxInt64
		}
		return false
	}
	if err != nil && !big || n < 0 {
		g.p.Warn("%s: invalid context length argument", o.Value)
		return true
	}
	lines := int(min(n, math.MaxInt32))
	switch o.ID {
	case 'A':
		g.after = lines
	case 'B':
		g.before = lines
	default:
		g.around, g.digit = lines, 0
	}
	return false
}

func (g *grep) wordOption(o *program.Options) (fail bool) {
	switch o.ID {
	case 'd':
		g.dirs = program.Choose(o, "--directories", o.Value, []choice.Choice[grepDirs]{{Name: "read", Value: dirsRead}, {Name: "recurse", Value: dirsRecurse}, {Name: "skip", Value: dirsSkip}})
		if g.dirs == dirsRecurse {
			g.follow = false
		}
	case 'D':
		if o.Value != "read" && o.Value != "skip" {
			g.p.Warn("unknown devices method")
			return true
		}
		g.skipDevices = o.Value == "skip"
	case grepBinaryFiles:
		kind, ok := map[string]grepBinary{"binary": binaryNoted, "text": binaryText, "without-match": binarySkipped}[o.Value]
		if !ok {
			g.p.Warn("unknown binary-files type")
			return true
		}
		g.binary = kind
	case grepColor:
		return g.colorOption(o)
	}
	return false
}

func (g *grep) colorOption(o *program.Options) (fail bool) {
	switch o.Value {
	case "always", "yes", "force":
		g.color = newGrepColors(g.p)
	case "never", "no", "none":
		g.color = nil
	case "auto", "tty", "if-tty", "":
		if g.color = nil; program.IsTerminal(g.p.Stdout) && g.p.Getenv("TERM") != "" && g.p.Getenv("TERM") != "dumb" {
			g.color = newGrepColors(g.p)
		}
	default:
		// As GNU's does.
		o.Answer(grepCommand().HelpText(g.p.Name()))
	}
	return false
}

// chargePatterns charges the machine for the compilation of patterns. Package regex bounds the size of what it makes of their
// text.
func chargePatterns(p *shell.Proc, patterns []string) error {
	return p.Reserve(patternWeight * len(patterns))
}

// patternWeight is what package regex takes for a pattern without text, in bytes.
const patternWeight = 128

// compile compiles the patterns.
func (g *grep) compile() (status int, done bool) {
	flags := regex.Grep | regex.Multiline | regex.NoNewline
	flags |= map[string]regex.Flags{"E": regex.Extended, "F": regex.Literal, "P": regex.Perl}[g.matcher]
	for flag, on := range map[regex.Flags]bool{
		regex.IgnoreCase: g.fold, regex.Bytes: g.bytes, regex.NulLines: g.nul, regex.WholeLine: g.wholeLines, regex.WholeWord: g.words,
	} {
		if on {
			flags |= flag
		}
	}
	if g.matcher == "P" && len(g.patterns) > 1 {
		g.p.Warn("the -P option only supports a single pattern")
		return 2, true
	}
	if err := chargePatterns(g.p, g.patterns); err != nil {
		g.p.Warn("memory exhausted")
		return 2, true
	}
	r, err := regex.CompileAll(g.patterns, flags)
	if err != nil {
		g.p.Warn("%v", err)
		return 2, true
	}
	for _, w := range r.Warnings() {
		g.p.Warn("warning: %s", w)
	}
	g.m = r.Matcher(g.p.Spend)
	return 0, false
}
