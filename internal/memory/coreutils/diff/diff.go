// Package diff holds the programs diff, cmp and patch.
package diff

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// diffHint is the hint that the programs of diffutils, and patch, print after a usage error.
const diffHint = "%[1]s: Try '%[1]s --help' for more information.\n"

func diffCommand() program.Description {
	return program.Description{
		Origin: "GNU diffutils 3.8", TryHelp: diffHint,
		Name: "diff", Usage: "[OPTION]... FILES",
		Summary: "compare files line by line",
		Help: `FILES are FILE1 FILE2, DIR1 DIR2, DIR FILE or FILE DIR; - is standard input.

      --normal                  write the format of old; this is the default
  -q, --brief                   say only that files differ
  -s, --report-identical-files  say when files are the same
  -c, -C NUM, --context[=NUM]   write NUM (3) lines of context
  -u, -U NUM, --unified[=NUM]   write NUM (3) lines of unified context
  -e, --ed                      write a script for ed
  -f, --forward-ed              write such a script from front to back
  -n, --rcs                     write the format of RCS
  -y, --side-by-side            write two columns
  -W, --width=NUM               write at most NUM (130) columns
      --left-column             of common lines write only the left one
      --suppress-common-lines   do not write common lines
  -p, --show-c-function         show the function of each change
  -F, --show-function-line=RE   show the last line that RE matches
      --label LABEL             write LABEL instead of the name and time; twice for both
  -t, --expand-tabs             write spaces instead of tabs
  -T, --initial-tab             begin lines with a tab, so that tabs line up
      --tabsize=NUM             tabs stop every NUM (8) columns
      --suppress-blank-empty    write no blank before empty lines
  -r, --recursive               compare directories in directories
      --no-dereference          do not follow links
  -N, --new-file                take missing files as empty
      --unidirectional-new-file take missing first files as empty
      --ignore-file-name-case   file names match in either case
  -x, --exclude=PATTERN         leave out files that match
  -X, --exclude-from=FILE       leave out files that match a line of FILE
  -S, --starting-file=FILE      begin with FILE in directories
      --from-file=FILE1         compare FILE1 with all operands
      --to-file=FILE2           compare all operands with FILE2
  -i, --ignore-case             letters match in either case
  -E, --ignore-tab-expansion    tabs match the spaces they stand for
  -Z, --ignore-trailing-space   white space at the end of lines does not count
  -b, --ignore-space-change     the amount of white space does not count
  -w, --ignore-all-space        white space does not count
  -B, --ignore-blank-lines      changes of empty lines do not count
  -I, --ignore-matching-lines=RE  changes of lines that RE matches do not count
  -a, --text                    take all files as text
      --strip-trailing-cr       take CR LF as LF
  -D, --ifdef=NAME              write both files with #ifdef NAME
      --GTYPE-group-format=GFMT write groups as GFMT says; GTYPE is old, new,
                                  unchanged or changed
      --line-format=LFMT        write lines as LFMT says
      --LTYPE-line-format=LFMT  the same for old, new or unchanged lines
  -d, --minimal                 look for the smallest set of changes
      --horizon-lines=NUM       keep NUM lines of the common beginning and end
      --speed-large-files       does nothing
      --color[=WHEN]            colours: never, always or auto
      --help                    show this help and exit
  -v, --version                 show the version and exit

The exit status is 0 when the files are the same, 1 when they differ, 2 when something is wrong.`,
		Run: runDiff,
	}
}

const (
	diffNormalID = getopt.First + iota
	diffLeftColumn
	diffSuppressCommon
	diffLabel
	diffTabsize
	diffSuppressEmpty
	diffNoDereference
	diffNewFirst
	diffFoldNames
	diffNoFoldNames
	diffFrom
	diffTo
	diffStripCR
	diffHorizon
	diffColor
	diffPalette
	diffLineFormat
	diffOldLine
	diffNewLine
	diffUnchangedLine
	diffOldGroup
	diffNewGroup
	diffUnchangedGroup
	diffChangedGroup
	diffContextLong
	diffUnifiedLong
	diffNothing
)

var diffTable = getopt.WithDigits(getopt.None, []getopt.Option{
	{Short: 'q', Long: "brief"},
	{Short: 's', Long: "report-identical-files"},
	{Short: 'c'},
	{Short: 'u'},
	{Short: 'C', Arg: getopt.Required},
	{Long: "context", Arg: getopt.Optional, ID: diffContextLong},
	{Short: 'U', Arg: getopt.Required},
	{Long: "unified", Arg: getopt.Optional, ID: diffUnifiedLong},
	{Short: 'e', Long: "ed"},
	{Short: 'f', Long: "forward-ed"},
	{Short: 'n', Long: "rcs"},
	{Short: 'y', Long: "side-by-side"},
	{Short: 'W', Long: "width", Arg: getopt.Required},
	{Short: 'p', Long: "show-c-function"},
	{Short: 'F', Long: "show-function-line", Arg: getopt.Required},
	{Short: 't', Long: "expand-tabs"},
	{Short: 'T', Long: "initial-tab"},
	{Short: 'r', Long: "recursive"},
	{Short: 'N', Long: "new-file"},
	{Short: 'x', Long: "exclude", Arg: getopt.Required},
	{Short: 'X', Long: "exclude-from", Arg: getopt.Required},
	{Short: 'S', Long: "starting-file", Arg: getopt.Required},
	{Short: 'i', Long: "ignore-case"},
	{Short: 'E', Long: "ignore-tab-expansion"},
	{Short: 'Z', Long: "ignore-trailing-space"},
	{Short: 'b', Long: "ignore-space-change"},
	{Short: 'w', Long: "ignore-all-space"},
	{Short: 'B', Long: "ignore-blank-lines"},
	{Short: 'I', Long: "ignore-matching-lines", Arg: getopt.Required},
	{Short: 'a', Long: "text"},
	{Short: 'D', Long: "ifdef", Arg: getopt.Required},
	{Short: 'd', Long: "minimal"},
	{Short: 'H', ID: diffNothing},
	{Short: 'l', Long: "paginate"},
	{Short: 'L', Arg: getopt.Required, ID: diffLabel},
	{Short: 'v', ID: getopt.Version},
	{Short: 'P', ID: diffNewFirst},
	{Short: 'h', ID: diffNothing},
	{Long: "normal", ID: diffNormalID},
	{Long: "left-column", ID: diffLeftColumn},
	{Long: "suppress-common-lines", ID: diffSuppressCommon},
	{Long: "label", Arg: getopt.Required, ID: diffLabel},
	{Long: "tabsize", Arg: getopt.Required, ID: diffTabsize},
	{Long: "suppress-blank-empty", ID: diffSuppressEmpty},
	{Long: "no-dereference", ID: diffNoDereference},
	{Long: "unidirectional-new-file", ID: diffNewFirst},
	{Long: "ignore-file-name-case", ID: diffFoldNames},
	{Long: "no-ignore-file-name-case", ID: diffNoFoldNames},
	{Long: "from-file", Arg: getopt.Required, ID: diffFrom},
	{Long: "to-file", Arg: getopt.Required, ID: diffTo},
	{Long: "strip-trailing-cr", ID: diffStripCR},
	{Long: "horizon-lines", Arg: getopt.Required, ID: diffHorizon},
	{Long: "speed-large-files", ID: diffNothing},
	{Long: "color", Arg: getopt.Optional, ID: diffColor},
	{Long: "palette", Arg: getopt.Required, ID: diffPalette},
	{Long: "line-format", Arg: getopt.Required, ID: diffLineFormat},
	{Long: "old-line-format", Arg: getopt.Required, ID: diffOldLine},
	{Long: "new-line-format", Arg: getopt.Required, ID: diffNewLine},
	{Long: "unchanged-line-format", Arg: getopt.Required, ID: diffUnchangedLine},
	{Long: "old-group-format", Arg: getopt.Required, ID: diffOldGroup},
	{Long: "new-group-format", Arg: getopt.Required, ID: diffNewGroup},
	{Long: "unchanged-group-format", Arg: getopt.Required, ID: diffUnchangedGroup},
	{Long: "changed-group-format", Arg: getopt.Required, ID: diffChangedGroup},
})

func runDiff(p *shell.Proc) int {
	d := newDiffJob(p)
	o := program.NewOptions(p, diffCommand, diffTable)
	o.Wrong = 2
	for o.Next() {
		switch {
		case o.ID >= '0' && o.ID <= '9':
			d.digit(o.ID)
		case o.ID < getopt.First:
			d.letter(o)
		default:
			d.longOption(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	d.switches = diffSwitches(p.Args[1:], args)
	if msg := d.settle(); msg != "" {
		p.Warn("%s", msg)
		return 2
	}
	return d.operands(args)
}

// diffSwitches returns the options as a shell would read them, each with a blank
// before it, for the line over a file of a directory. Operands are taken out from the end.
func diffSwitches(args, operands []string) string {
	var b strings.Builder
	k := 0
	for i, a := range args {
		// The operands have the same order in args; the other words are options and their values.
		if k < len(operands) && a == operands[k] && len(args)-i >= len(operands)-k && (a == "-" || !strings.HasPrefix(a, "-")) && !isOptionValue(args, i) {
			k++
			continue
		}
		if a == "--" {
			continue
		}
		b.WriteString(" " + diffShellWord(a))
	}
	return b.String()
}

// isOptionValue reports whether args[i] is the value of the option before it.
func isOptionValue(args []string, i int) bool {
	if i == 0 {
		return false
	}
	before := args[i-1]
	if name, ok := strings.CutPrefix(before, "--"); ok && !strings.Contains(name, "=") && name != "" {
		for _, o := range diffTable {
			if o.Long == name {
				return o.Arg == getopt.Required
			}
		}
		return false
	}
	if len(before) < 2 || before[0] != '-' {
		return false
	}
	for k := 1; k < len(before); k++ {
		for _, o := range diffTable {
			if o.Short == before[k] && o.Arg == getopt.Required {
				return k == len(before)-1
			}
		}
	}
	return false
}

// diffShellWord quotes a word for a shell only when it has to be.
func diffShellWord(s string) string {
	plain := s != ""
	for _, c := range []byte(s) {
		if ascii.DigitValue(c) == 99 && strings.IndexByte("%+,-./:@_]", c) < 0 {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// digit is one of the digits of an old-style -NUM.
func (d *diffJob) digit(id int) {
	d.oldContext = max(d.oldContext, 0)*10 + id - '0'
}

func (d *diffJob) letter(o *program.Options) {
	switch o.ID {
	case 'q':
		d.brief = true
	case 's':
		d.sayIdentical = true
	case 'c':
		d.setStyle(o, diffContext)
		d.context = max(d.context, 3)
	case 'u':
		d.setStyle(o, diffUnified)
		d.context = max(d.context, 3)
	case 'C', 'U':
		d.contextLength(o, o.ID == 'U')
	case 'e':
		d.setStyle(o, diffEd)
	case 'f':
		d.setStyle(o, diffForward)
	case 'n':
		d.setStyle(o, diffRCS)
	case 'y':
		d.setStyle(o, diffSide)
	case 'W':
		d.number(o, "width", 1, &d.width)
	case 'p':
		d.functions = append(d.functions, isCFunction)
	case 'F':
		d.addPattern(o, &d.functions)
	case 't':
		d.expandTabs = true
	case 'T':
		d.initialTab = true
	case 'r':
		d.recursive = true
	case 'N':
		d.newFile, d.newFirst = true, true
	case 'x':
		d.exclude = append(d.exclude, o.Value)
	case 'X':
		d.excludeFrom(o)
	case 'S':
		d.startAt = o.Value
	case 'l':
		o.RejectQuietly("pages with pr are not supported")
	case 'D':
		d.setStyle(o, diffGroups)
		d.ifdef(o.Value)
	default:
		d.ignoreOption(o)
	}
}

func (d *diffJob) ignoreOption(o *program.Options) {
	switch o.ID {
	case 'i':
		d.foldCase = true
	case 'E':
		if d.space < spaceChange {
			d.space |= spaceTabs
		}
	case 'Z':
		if d.space < spaceChange {
			d.space |= spaceTrailing
		}
	case 'b':
		d.space = max(d.space, spaceChange)
	case 'w':
		d.space = spaceAll
	case 'B':
		d.ignoreBlank = true
	case 'I':
		d.addPattern(o, &d.ignoreLines)
	case 'a':
		d.text = true
	case 'd':
		d.minimal = true
	}
}

func (d *diffJob) longOption(o *program.Options) {
	switch o.ID {
	case diffNormalID:
		d.setStyle(o, diffNormal)
	case diffContextLong, diffUnifiedLong:
		d.contextLength(o, o.ID == diffUnifiedLong)
	case diffLeftColumn:
		d.leftColumn = true
	case diffSuppressCommon:
		d.suppressCommon = true
	case diffLabel:
		if d.labels[0] == nil {
			v := o.Value
			d.labels[0] = &v
		} else if d.labels[1] == nil {
			v := o.Value
			d.labels[1] = &v
		} else {
			o.RejectQuietly("too many file label options")
		}
	case diffTabsize:
		d.number(o, "tabsize", 1, &d.tab)
	case diffSuppressEmpty:
		d.suppressEmpty = true
	case diffNoDereference:
		d.noFollow = true
	case diffNewFirst:
		d.newFirst = true
	case diffFoldNames:
		d.foldNames = true
	case diffNoFoldNames:
		d.foldNames = false
	case diffFrom, diffTo:
		v := o.Value
		if at := &d.fixed[o.ID-diffFrom]; *at == nil || **at == v {
			*at = &v
		} else {
			o.RejectQuietly("conflicting %s option value '%s'", map[int]string{diffFrom: "--from-file", diffTo: "--to-file"}[o.ID], v)
		}
	case diffStripCR:
		d.stripCR = true
	case diffHorizon:
		d.number(o, "horizon length", 0, &d.horizon)
	case diffColor:
		d.setColor(o)
	case diffPalette, diffNothing:
	default:
		d.setFormat(o)
	}
}

func (d *diffJob) setColor(o *program.Options) {
	switch {
	case !o.HasValue || o.Value == "auto" || o.Value == "never":
		d.color = false
	case o.Value == "always":
		d.color = true
	default:
		o.Reject("invalid color '%s'", o.Value)
	}
}

// setStyle chooses the style of the output; two different ones are an error.
func (d *diffJob) setStyle(o *program.Options, s diffStyle) {
	if d.style != diffUnset && d.style != s {
		o.Reject("conflicting output style options")
		return
	}
	d.style = s
}

func (d *diffJob) contextLength(o *program.Options, unified bool) {
	n := 3
	if o.HasValue {
		v, err := strconv.Atoi(o.Value)
		if err != nil && !sizes.IsRangeError(err) || v < 0 {
			o.Reject("invalid context length '%s'", o.Value)
			return
		}
		n = v
	}
	if unified {
		d.setStyle(o, diffUnified)
	} else {
		d.setStyle(o, diffContext)
	}
	d.context, d.explicit = max(d.context, n), true
}

func (d *diffJob) number(o *program.Options, what string, least int, into *int) {
	n, err := strconv.Atoi(o.Value)
	if err != nil && !sizes.IsRangeError(err) || n < least {
		o.Reject("invalid %s '%s'", what, o.Value)
		return
	}
	*into = n
}
