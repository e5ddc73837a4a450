// Package listing holds the programs that list and measure files: ls, tree, stat, du and df.
package listing

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func lsCommand() program.Description {
	return program.Description{
		Name: "ls", Usage: "[OPTION]... [FILE]...",
		Summary: "list files and what directories hold; the current directory when none is named",
		Help:    lsHelp, Run: runLs,
	}
}

func dirCommand() program.Description {
	c := lsCommand()
	c.Name, c.Summary = "dir", "list directories as ls -C -b does"
	return c
}

func vdirCommand() program.Description {
	c := lsCommand()
	c.Name, c.Summary = "vdir", "list directories as ls -l -b does"
	return c
}

const lsHelp = `What is listed:
  -a, --all                  also names that begin with a dot
  -A, --almost-all           the same without . and ..
  -B, --ignore-backups       not names that end in ~
  -d, --directory            directories themselves, not what they hold
  -f                         -a and -U together; without -l, -s and colours
  -H, --dereference-command-line
                             follow links among the operands
      --dereference-command-line-symlink-to-dir
                             follow links among the operands that lead to directories
      --hide=PATTERN         not names that match, unless -a or -A is given
  -I, --ignore=PATTERN       not names that match
  -L, --dereference          list the targets of links
  -R, --recursive            also what is below

Order:
  -c                         by the time of the last change of status; with -l show it
  -r, --reverse              backwards
  -S                         by size, largest first
      --sort=WORD            none (-U), size (-S), time (-t), version (-v), extension (-X), width
  -t                         by time, newest first
      --time=WORD            the time to show and sort by: atime access use (-u), ctime status (-c),
                             birth creation
  -u                         by the time of access; with -l show it
  -U                         as the directory holds them
  -v                         by the numbers within names
  -X                         by what follows the last dot
      --group-directories-first
                             directories before files

Form:
  -1                         one name in a line
  -C                         in columns
  -x                         in columns, sorted across
  -m                         with commas between
  -l                         long: mode, links, owner, group, size, time
      --format=WORD          across (-x), commas (-m), horizontal (-x), long (-l), single-column (-1),
                             verbose (-l), vertical (-C)
      --author               with -l, the author too
  -D, --dired                with -l, offsets of the names at the end
      --full-time            -l with --time-style=full-iso
  -g                         -l without the owner
  -G, --no-group             with -l, no group
  -o                         -l without the group
  -n, --numeric-uid-gid      -l with numbers for owner and group
  -i, --inode                the number of the inode
  -s, --size                 the space held, in blocks
  -h, --human-readable       sizes as 1K 234M 2G
      --si                   the same in powers of 1000
      --block-size=SIZE      sizes in units of SIZE
  -k, --kibibytes            blocks of 1024 bytes for -s and totals
      --time-style=STYLE     full-iso, long-iso, iso, locale or +FORMAT as in date(1)
  -T, --tabsize=COLS         tab stops every COLS columns
  -w, --width=COLS           width of the output; 0 is without end
  -Z, --context              the security context
      --zero                 end lines with NUL

Names:
  -b, --escape               escapes as in C for what cannot be printed
  -F, --classify[=WHEN]      a mark behind the name: one of */=>@|
      --file-type            the same without *
      --indicator-style=WORD none, slash (-p), file-type, classify (-F)
  -p                         / behind directories
  -N, --literal              as they are
  -q, --hide-control-chars   ? for what cannot be printed
      --show-control-chars   what cannot be printed as it is
  -Q, --quote-name           in double quotes
      --quoting-style=WORD   literal, locale, shell, shell-always, shell-escape,
                             shell-escape-always, c, escape
      --color[=WHEN]         colours: always, auto or never; LS_COLORS says which
      --hyperlink[=WHEN]     links to the files

Exit status: 0 when all went well, 1 for small trouble (a directory below cannot be read),
2 for serious trouble (an operand cannot be accessed).`

const (
	lsAuthor = getopt.First + iota
	lsBlockSize
	lsColor
	lsDerefLinkToDir
	lsFileType
	lsFormat
	lsFullTime
	lsGroupDirs
	lsHide
	lsHyperlink
	lsIndicator
	lsQuoting
	lsShowControl
	lsSI
	lsSort
	lsTime
	lsTimeStyle
	lsZero
)

var lsOptions = []getopt.Option{
	{Short: 'a', Long: "all"},
	{Short: 'b', Long: "escape"},
	{Short: 'd', Long: "directory"},
	{Short: 'D', Long: "dired"},
	{Long: "full-time", ID: lsFullTime},
	{Long: "group-directories-first", ID: lsGroupDirs},
	{Short: 'h', Long: "human-readable"},
	{Short: 'i', Long: "inode"},
	{Short: 'k', Long: "kibibytes"},
	{Short: 'n', Long: "numeric-uid-gid"},
	{Short: 'G', Long: "no-group"},
	{Short: 'q', Long: "hide-control-chars"},
	{Short: 'r', Long: "reverse"},
	{Short: 's', Long: "size"},
	{Short: 'w', Long: "width", Arg: getopt.Required},
	{Short: 'A', Long: "almost-all"},
	{Short: 'B', Long: "ignore-backups"},
	{Short: 'F', Long: "classify", Arg: getopt.Optional},
	{Long: "file-type", ID: lsFileType},
	{Long: "si", ID: lsSI},
	{Long: "dereference-command-line-symlink-to-dir", ID: lsDerefLinkToDir},
	{Short: 'H', Long: "dereference-command-line"},
	{Long: "hide", Arg: getopt.Required, ID: lsHide},
	{Short: 'I', Long: "ignore", Arg: getopt.Required},
	{Long: "indicator-style", Arg: getopt.Required, ID: lsIndicator},
	{Short: 'L', Long: "dereference"},
	{Short: 'N', Long: "literal"},
	{Short: 'Q', Long: "quote-name"},
	{Long: "quoting-style", Arg: getopt.Required, ID: lsQuoting},
	{Short: 'R', Long: "recursive"},
	{Long: "format", Arg: getopt.Required, ID: lsFormat},
	{Long: "show-control-chars", ID: lsShowControl},
	{Long: "sort", Arg: getopt.Required, ID: lsSort},
	{Short: 'T', Long: "tabsize", Arg: getopt.Required},
	{Long: "time", Arg: getopt.Required, ID: lsTime},
	{Long: "time-style", Arg: getopt.Required, ID: lsTimeStyle},
	{Long: "zero", ID: lsZero},
	{Long: "color", Arg: getopt.Optional, ID: lsColor},
	{Long: "hyperlink", Arg: getopt.Optional, ID: lsHyperlink},
	{Long: "block-size", Arg: getopt.Required, ID: lsBlockSize},
	{Short: 'Z', Long: "context"},
	{Long: "author", ID: lsAuthor},
	{Short: '1'},
	{Short: 'c'},
	{Short: 'f'},
	{Short: 'g'},
	{Short: 'l'},
	{Short: 'm'},
	{Short: 'o'},
	{Short: 'p'},
	{Short: 't'},
	{Short: 'u'},
	{Short: 'v'},
	{Short: 'x'},
	{Short: 'C'},
	{Short: 'S'},
	{Short: 'U'},
	{Short: 'X'},
}

func runLs(p *shell.Proc) int {
	describe := map[string]func() program.Description{"dir": dirCommand, "vdir": vdirCommand}[p.Name()]
	if describe == nil {
		describe = lsCommand
	}
	o := program.NewOptions(p, describe, lsOptions)
	o.Wrong = 2
	l := newLsConfig(p)
	for o.Next() {
		if !l.setOrder(o) && !l.setForm(o) {
			l.setNames(o)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !l.finish(o) {
		return o.Status
	}
	list := &lsLister{lsConfig: l, out: program.NewOutput(p), first: true}
	return list.out.Close(list.run(o.Args()))
}

// setOrder takes the options that select the files and their order.
func (l *lsConfig) setOrder(o *program.Options) bool {
	switch o.ID {
	case 'a':
		l.hidden = lsAll
	case 'A':
		l.hidden = lsAlmostAll
	case 'B':
		l.ignore = append(l.ignore, "*~", ".*~")
	case 'd':
		l.itself = true
	case 'f':
		l.hidden, l.sort, l.blocks, l.color, l.hyperlink = lsAll, sortNone, false, false, false
		if l.format == formatLong {
			l.format = formatUnset
		}
	case 'H':
		l.follow = followOperands
	case lsDerefLinkToDir:
		l.follow = followDirOperands
	case 'L':
		l.follow = followAll
	case lsHide:
		l.hide = append(l.hide, o.Value)
	case 'I':
		l.ignore = append(l.ignore, o.Value)
	case 'R':
		l.recursive = true
	case 'r':
		l.reverse = true
	case 'c':
		l.time, l.timeGiven = filetime.Change, true
	case 'u':
		l.time, l.timeGiven = filetime.Access, true
	case lsTime:
		l.time, l.timeGiven = program.Choose(o, "--time", o.Value, fileTimeWords), true
	case 'S', 't', 'U', 'v', 'X':
		l.sort = map[int]sortOrder{'S': sortSize, 't': sortTime, 'U': sortNone, 'v': sortVersion, 'X': sortExtension}[o.ID]
	case lsSort:
		l.sort = program.Choose(o, "--sort", o.Value, sortWords)
	case lsGroupDirs:
		l.dirsFirst = true
	default:
		return false
	}
	return true
}

// setForm takes the options that select what is printed of a file.
func (l *lsConfig) setForm(o *program.Options) bool {
	switch o.ID {
	case '1':
		if l.format != formatLong {
			l.format = formatLines
		}
	case 'C', 'x', 'm', 'l':
		l.format = map[int]lsFormatKind{'C': formatColumns, 'x': formatAcross, 'm': formatCommas, 'l': formatLong}[o.ID]
	case lsFormat:
		l.format = program.Choose(o, "--format", o.Value, formatWords)
	case 'g':
		l.format, l.noOwner = formatLong, true
	case 'o':
		l.format, l.noGroup = formatLong, true
	case 'G':
		l.noGroup = true
	case 'n':
		l.format, l.numeric = formatLong, true
	case lsAuthor:
		l.author = true
	case 'D':
		l.dired = true
	case lsFullTime:
		l.format, l.timeStyle = formatLong, "full-iso"
	case lsTimeStyle:
		l.timeStyle = o.Value
	case 'i':
		l.inode = true
	case 's':
		l.blocks = true
	case 'h', lsSI, 'k', lsBlockSize:
		l.setSizes(o)
	case 'T':
		l.tab = lsCount(o, "invalid tab size")
	case 'w':
		l.width = lsCount(o, "invalid line width")
	case 'Z':
		l.context = true
	case lsZero:
		l.zero()
	default:
		return false
	}
	return true
}

func (l *lsConfig) setSizes(o *program.Options) {
	switch o.ID {
	case 'h':
		l.blockUnit = sizes.Format{Base: 1024, Suffix: true}
		l.sizeUnit = l.blockUnit
	case lsSI:
		l.blockUnit = sizes.Format{Base: 1000, Suffix: true}
		l.sizeUnit = l.blockUnit
	case 'k':
		l.kibibytes = true
	case lsBlockSize:
		if f, ok := blockSizeOption(o); ok {
			l.blockUnit, l.sizeUnit = f, f
		}
	}
}

// blockSizeOption reads --block-size.
func blockSizeOption(o *program.Options) (sizes.Format, bool) {
	f, err := sizes.ParseBlock(o.Value)
	if err != nil {
		rejectSize(o, "--block-size", err)
	}
	return f, err == nil
}

// rejectSize prints the error of an option's size, with the option's letter if that was given.
func rejectSize(o *program.Options, name string, err error) {
	if o.Long == "" {
		name = "-" + string(rune(o.ID))
	}
	switch {
	case errors.Is(err, sizes.ErrSizeSuffix):
		o.RejectQuietly("invalid suffix in %s argument '%s'", name, o.Value)
	case errors.Is(err, sizes.ErrSizeTooLarge):
		o.RejectQuietly("%s argument '%s' too large", name, o.Value)
	default:
		o.RejectQuietly("invalid %s argument '%s'", name, o.Value)
	}
}

func lsCount(o *program.Options, fault string) int {
	n, err := strconv.ParseUint(strings.TrimPrefix(o.Value, "+"), 0, 63)
	if err != nil {
		if n == math.MaxInt64 || n == 1<<63-1 {
			return 0
		}
		o.RejectQuietly("%s: %s", fault, quoting.Name(o.Value))
		return 0
	}
	return int(min(n, 1<<20))
}

// setNames takes the options that say how names are written.
func (l *lsConfig) setNames(o *program.Options) {
	switch o.ID {
	case 'b':
		l.quoting, l.quotingGiven = quoting.Escape, true
	case 'N':
		l.quoting, l.quotingGiven = quoting.Literal, true
	case 'Q':
		l.quoting, l.quotingGiven = quoting.C, true
	case lsQuoting:
		l.quoting, l.quotingGiven = program.Choose(o, "--quoting-style", o.Value, quoting.Styles), true
	case 'q':
		l.hideControl, l.controlGiven = true, true
	case lsShowControl:
		l.hideControl, l.controlGiven = false, true
	case 'F':
		if l.when(o, "--classify") {
			l.indicator = indicateAll
		}
	case lsFileType:
		l.indicator = indicateTypes
	case 'p':
		l.indicator = indicateDirs
	case lsIndicator:
		l.indicator = program.Choose(o, "--indicator-style", o.Value, indicatorWords)
	case lsColor:
		l.color = l.when(o, "--color")
	case lsHyperlink:
		l.hyperlink = l.when(o, "--hyperlink")
	}
}

// when reads an optional always, auto or never.
func (l *lsConfig) when(o *program.Options, option string) bool {
	if !o.HasValue {
		return true
	}
	switch program.Choose(o, option, o.Value, whenWords) {
	case 'a':
		return true
	case 't':
		return program.IsTerminal(l.proc.Stdout)
	}
	return false
}
