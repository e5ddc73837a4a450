package listing

import (
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filetime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// lsConfig holds the parsed options of ls.
type lsConfig struct {
	proc     *shell.Proc
	accounts *accounts.Database
	zone     *time.Location
	now      time.Time
	colors   *lsColors

	hidden      lsHidden
	hide        []string // patterns of --hide
	ignore      []string // patterns of -I
	itself      bool
	follow      lsFollow
	recursive   bool
	sort        sortOrder
	reverse     bool
	dirsFirst   bool
	time        filetime.Kind
	timeGiven   bool
	timeStyle   string
	timeFormats [2]string // of old files, and of recent ones

	format      lsFormatKind
	noOwner     bool
	noGroup     bool
	numeric     bool
	author      bool
	dired       bool
	inode       bool
	blocks      bool
	context     bool
	kibibytes   bool
	blockUnit   sizes.Format // of blocks and totals
	sizeUnit    sizes.Format // of sizes
	tab         int          // -1: not given
	width       int          // -1: not given; 0: without end
	eol         byte
	quoting     quoting.Style
	special     string // bytes that get quoted besides
	hideControl bool
	indicator   indicator
	color       bool
	hyperlink   bool

	quotingGiven, controlGiven bool
}

type lsHidden uint8

const (
	lsPlain lsHidden = iota
	lsAlmostAll
	lsAll
)

type lsFollow uint8

const (
	followUnset lsFollow = iota
	followNever
	followDirOperands
	followOperands
	followAll
)

type sortOrder uint8

const (
	sortUnset sortOrder = iota
	sortName
	sortNone
	sortSize
	sortTime
	sortVersion
	sortExtension
	sortWidth
)

var sortWords = []choice.Choice[sortOrder]{
	{Name: "none", Value: sortNone},
	{Name: "time", Value: sortTime},
	{Name: "size", Value: sortSize},
	{Name: "extension", Value: sortExtension},
	{Name: "version", Value: sortVersion},
	{Name: "width", Value: sortWidth},
}

var fileTimeWords = []choice.Choice[filetime.Kind]{
	{Name: "atime", Value: filetime.Access},
	{Name: "access", Value: filetime.Access},
	{Name: "use", Value: filetime.Access},
	{Name: "ctime", Value: filetime.Change},
	{Name: "status", Value: filetime.Change},
	{Name: "birth", Value: filetime.Birth},
	{Name: "creation", Value: filetime.Birth},
}

type lsFormatKind uint8

const (
	formatUnset lsFormatKind = iota
	formatLines
	formatLong
	formatColumns
	formatAcross
	formatCommas
)

var formatWords = []choice.Choice[lsFormatKind]{
	{Name: "verbose", Value: formatLong},
	{Name: "long", Value: formatLong},
	{Name: "commas", Value: formatCommas},
	{Name: "horizontal", Value: formatAcross},
	{Name: "across", Value: formatAcross},
	{Name: "vertical", Value: formatColumns},
	{Name: "single-column", Value: formatLines},
}

// indicator says which files get a mark behind their names.
type indicator uint8

const (
	indicateNone indicator = iota
	indicateDirs
	indicateTypes
	indicateAll
)

var indicatorWords = []choice.Choice[indicator]{
	{Name: "none", Value: indicateNone},
	{Name: "slash", Value: indicateDirs},
	{Name: "file-type", Value: indicateTypes},
	{Name: "classify", Value: indicateAll},
}

var whenWords = []choice.Choice[byte]{
	{Name: "always", Value: 'a'},
	{Name: "yes", Value: 'a'},
	{Name: "force", Value: 'a'},
	{Name: "never", Value: 'n'},
	{Name: "no", Value: 'n'},
	{Name: "none", Value: 'n'},
	{Name: "auto", Value: 't'},
	{Name: "tty", Value: 't'},
	{Name: "if-tty", Value: 't'},
}

func newLsConfig(p *shell.Proc) *lsConfig {
	l := &lsConfig{
		proc: p, accounts: accounts.New(p), now: p.Now(), zone: program.Zone(p),
		blockUnit: envBlockSize(p, "LS_BLOCK_SIZE"), sizeUnit: sizes.Format{Unit: 1, Base: 1024},
		tab: -1, width: -1, eol: '\n', timeStyle: p.Getenv("TIME_STYLE"),
	}
	if f, ok := givenBlockSize(p, "LS_BLOCK_SIZE"); ok {
		l.sizeUnit = f
	}
	return l
}

// givenBlockSize returns the unit that the environment asks for.
func givenBlockSize(p *shell.Proc, own string) (sizes.Format, bool) {
	for _, name := range []string{own, "BLOCK_SIZE"} {
		if v, ok := p.LookupEnv(name); ok {
			if f, err := sizes.ParseBlock(v); err == nil {
				return f, true
			}
		}
	}
	return sizes.Format{}, false
}

// envBlockSize returns the unit of blocks without options.
func envBlockSize(p *shell.Proc, own string) sizes.Format {
	if f, ok := givenBlockSize(p, own); ok {
		return f
	}
	if f, err := sizes.ParseBlock(p.Getenv("BLOCKSIZE")); err == nil {
		return f
	}
	if _, ok := p.LookupEnv("POSIXLY_CORRECT"); ok {
		return sizes.Format{Unit: 512, Base: 1024}
	}
	return sizes.Format{Unit: 1024, Base: 1024}
}

func (l *lsConfig) zero() {
	l.eol, l.color, l.hideControl, l.controlGiven = 0, false, false, true
	l.quoting, l.quotingGiven = quoting.Literal, true
	if l.format != formatLong {
		l.format = formatLines
	}
}

// finish fills in the settings that depend on several options. It returns false after a message.
func (l *lsConfig) finish(o *program.Options) bool {
	terminal := program.IsTerminal(l.proc.Stdout)
	if l.format == formatUnset {
		switch {
		case l.proc.Name() == "vdir":
			l.format = formatLong
		case l.proc.Name() == "dir" || terminal:
			l.format = formatColumns
		default:
			l.format = formatLines
		}
	}
	if l.kibibytes {
		l.blockUnit = sizes.Format{Unit: 1024, Base: 1024}
	}
	if l.width < 0 {
		l.width = program.TerminalWidth(l.proc)
	}
	if l.tab < 0 {
		l.tab = 8
	}
	if l.sort == sortUnset {
		l.sort = sortName
		if l.timeGiven && l.format != formatLong {
			l.sort = sortTime
		}
	}
	if l.follow == followUnset {
		l.follow = followDirOperands
		if l.itself || l.indicator == indicateAll || l.format == formatLong {
			l.follow = followNever
		}
	}
	if l.color && canHaveColors(l.proc) {
		l.colors = newLsColors(l.proc)
		l.tab = 0
	}
	l.dired = l.dired && l.format == formatLong && !l.hyperlink
	l.finishNames(terminal)
	return l.finishTimes(o)
}

func (l *lsConfig) finishNames(terminal bool) {
	if !l.quotingGiven {
		style, ok, _ := choice.Find(quoting.Styles, l.proc.Getenv("QUOTING_STYLE"))
		switch {
		case ok && l.proc.Getenv("QUOTING_STYLE") != "":
			l.quoting = style
		case l.proc.Name() != "ls":
			l.quoting = quoting.Escape
		case terminal:
			l.quoting = quoting.ShellEscape
		}
	}
	if !l.controlGiven {
		l.hideControl = terminal && l.proc.Name() == "ls"
	}
	if l.quoting == quoting.Escape {
		l.special = " "
	}
	if l.indicator >= indicateTypes {
		l.special += strings.TrimPrefix("*=>@|", map[indicator]string{indicateAll: "*"}[l.indicator])
	}
}

// finishTimes sets the formats of times.
func (l *lsConfig) finishTimes(o *program.Options) bool {
	l.timeFormats = [2]string{"%b %e  %Y", "%b %e %H:%M"}
	style := l.timeStyle
	if style == "" || l.format != formatLong || strings.HasPrefix(style, "posix-") {
		return true
	}
	if format, ok := strings.CutPrefix(style, "+"); ok {
		old, recent, two := strings.Cut(format, "\n")
		if !two {
			recent = old
		}
		if strings.Contains(recent, "\n") {
			o.RejectQuietly("invalid time style format %s", quoting.Name(old+"\n"+recent))
			return false
		}
		l.timeFormats = [2]string{old, recent}
		return true
	}
	kind, ok, ambiguous := choice.Find([]choice.Choice[string]{
		{Name: "full-iso", Value: "%Y-%m-%d %H:%M:%S.%N %z"},
		{Name: "long-iso", Value: "%Y-%m-%d %H:%M"},
		{Name: "iso", Value: "%Y-%m-%d "},
		{Name: "locale", Value: ""},
	}, style)
	if !ok {
		l.rejectTimeStyle(o, style, ambiguous)
		return false
	}
	switch kind {
	case "":
	case "%Y-%m-%d ":
		l.timeFormats = [2]string{kind, "%m-%d %H:%M"}
	default:
		l.timeFormats = [2]string{kind, kind}
	}
	return true
}

func (l *lsConfig) rejectTimeStyle(o *program.Options, style string, ambiguous bool) {
	kind := "invalid"
	if ambiguous {
		kind = "ambiguous"
	}
	l.proc.Warn("%s argument %s for 'time style'", kind, quoting.Name(style))
	_, _ = l.proc.Stderr.Write([]byte("Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n" +
		"  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n"))
	o.Fail()
}
