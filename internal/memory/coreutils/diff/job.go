package diff

import (
	"slices"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// diffStyle is an output format.
type diffStyle uint8

const (
	diffUnset diffStyle = iota
	diffNormal
	diffContext
	diffUnified
	diffEd
	diffForward
	diffRCS
	diffSide
	diffGroups
)

// diffSpace says which white space is compared, from all to none.
type diffSpace uint8

const (
	spaceCounts   diffSpace = iota
	spaceTabs               // tabs match the spaces they stand for
	spaceTrailing           // none at the end of lines
	spaceTabsTrailing
	spaceChange
	spaceAll
)

// diffJob holds the parsed command line of diff.
type diffJob struct {
	p   *shell.Proc
	out *program.Output

	style                         diffStyle
	context                       int // -1: not given
	oldContext                    int // of -NUM; -1: not given
	explicit                      bool
	brief, sayIdentical           bool
	width, tab, horizon           int
	functions, ignoreLines        []linePattern
	expandTabs, initialTab        bool
	suppressEmpty                 bool
	leftColumn, suppressCommon    bool
	labels                        [2]*string
	recursive, newFile, newFirst  bool
	noFollow, foldNames           bool
	exclude                       []string
	startAt                       string
	fixed                         [2]*string // --from-file, --to-file
	foldCase                      bool
	space                         diffSpace
	ignoreBlank                   bool
	text, stripCR, minimal, color bool
	switches                      string
	groupFormat                   [4]*string // by diffGroup
	lineFormat                    [3]*string

	zone  *time.Location
	ended error // of the process
	depth int
	stdin []byte // what was read of it
	hasIn bool
}

func newDiffJob(p *shell.Proc) *diffJob {
	return &diffJob{p: p, context: -1, oldContext: -1, width: 130, tab: 8, zone: zone.Load(p.Getenv("TZ"))}
}

// linePattern reports whether a line is one of those that an option names.
type linePattern func(line string) bool

// isCFunction is -p: a line that begins like the head of a function.
func isCFunction(line string) bool {
	return line != "" && (line[0] == '_' || line[0] == '$' || ascii.DigitValue(line[0]) != 99 && !ascii.IsDigit(line[0]))
}

func (d *diffJob) addPattern(o *program.Options, to *[]linePattern) {
	re, err := regex.Compile(o.Value, 0)
	if err != nil {
		o.RejectQuietly("%s: %v", o.Value, err)
		return
	}
	m := re.Matcher(d.p.Spend)
	*to = append(*to, func(line string) bool { return m.Match([]byte(line)) })
}

func (d *diffJob) excludeFrom(o *program.Options) {
	in, err := program.OpenInput(d.p, o.Value)
	if err != nil {
		o.RejectQuietly("%s: %s", o.Value, shell.Strerror(err))
		return
	}
	defer in.Close()
	lines, err := program.ReadList(d.p, in, '\n')
	if err != nil {
		o.RejectQuietly("%s: %s", o.Value, shell.Strerror(err))
		return
	}
	d.exclude = append(d.exclude, slices.DeleteFunc(lines, func(line string) bool { return line == "" })...)
}

func (d *diffJob) excluded(name string) bool {
	flags := fnmatch.Flags(0)
	if d.foldNames {
		flags = fnmatch.Fold
	}
	return slices.ContainsFunc(d.exclude, func(pattern string) bool { return fnmatch.Match(pattern, name, flags) })
}

// settle fills in the settings that depend on several options.
func (d *diffJob) settle() string {
	if d.style == diffUnset {
		d.style = diffNormal
		if len(d.functions) > 0 {
			d.style, d.context = diffContext, max(d.context, 3)
		}
	}
	if d.style == diffContext || d.style == diffUnified {
		if d.oldContext >= 0 && (d.context < d.oldContext || d.oldContext < d.context && !d.explicit) {
			d.context = d.oldContext
		}
	}
	if d.style != diffContext && d.style != diffUnified {
		d.context = max(d.context, 0)
	}
	d.horizon = max(d.horizon, d.context)
	if d.style == diffGroups {
		d.defaultFormats()
	}
	return ""
}

// showsAll reports whether files that do not differ have an output too.
func (d *diffJob) showsAll() bool {
	switch d.style { //nolint:exhaustive // The others show differences only.
	case diffSide:
		return !d.suppressCommon
	case diffGroups:
		u := *d.groupFormat[groupUnchanged]
		return u != "" && (u != "%=" || *d.lineFormat[groupUnchanged] != "")
	}
	return false
}

// exact reports whether an incomplete last line differs from a complete one.
func (d *diffJob) exact() bool { return d.style != diffEd && d.style != diffForward }

func (d *diffJob) operands(args []string) int {
	var pairs [][2]string
	switch {
	case d.fixed[0] != nil && d.fixed[1] != nil:
		d.p.Warn("--from-file and --to-file both specified")
		return 2
	case d.fixed[0] != nil:
		for _, a := range args {
			pairs = append(pairs, [2]string{*d.fixed[0], a})
		}
	case d.fixed[1] != nil:
		for _, a := range args {
			pairs = append(pairs, [2]string{a, *d.fixed[1]})
		}
	case len(args) < 2:
		return program.UsageError(d.p, diffCommand, 2, "missing operand after '%s'", d.p.Args[len(d.p.Args)-1])
	case len(args) > 2:
		return program.UsageError(d.p, diffCommand, 2, "extra operand '%s'", args[2])
	default:
		pairs = append(pairs, [2]string{args[0], args[1]})
	}
	d.out = program.NewOutput(d.p)
	status := 0
	for _, pair := range pairs {
		status = max(status, d.compare(pair[0], pair[1], false))
		if d.ended != nil {
			_ = d.out.Flush()
			return d.p.Status(d.ended)
		}
	}
	return d.out.Close(status)
}
