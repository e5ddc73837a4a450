package coreutils

import (
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// lsConfig is what the options of ls ask for.
type lsConfig struct {
	proc     *shell.Proc
	accounts *accounts
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
	time        fileTime
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
	blockUnit   sizeFormat // of blocks and totals
	sizeUnit    sizeFormat // of sizes
	tab         int        // -1: not given
	width       int        // -1: not given; 0: without end
	eol         byte
	quoting     quoting
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

var sortWords = []word[sortOrder]{
	{"none", sortNone},
	{"time", sortTime},
	{"size", sortSize},
	{"extension", sortExtension},
	{"version", sortVersion},
	{"width", sortWidth},
}

// fileTime is one of the times of a file.
type fileTime uint8

const (
	timeModify fileTime = iota
	timeAccess
	timeChange
	timeBirth
)

var fileTimeWords = []word[fileTime]{
	{"atime", timeAccess},
	{"access", timeAccess},
	{"use", timeAccess},
	{"ctime", timeChange},
	{"status", timeChange},
	{"birth", timeBirth},
	{"creation", timeBirth},
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

var formatWords = []word[lsFormatKind]{
	{"verbose", formatLong},
	{"long", formatLong},
	{"commas", formatCommas},
	{"horizontal", formatAcross},
	{"across", formatAcross},
	{"vertical", formatColumns},
	{"single-column", formatLines},
}

// indicator says which files get a mark behind their names.
type indicator uint8

const (
	indicateNone indicator = iota
	indicateDirs
	indicateTypes
	indicateAll
)

var indicatorWords = []word[indicator]{
	{"none", indicateNone},
	{"slash", indicateDirs},
	{"file-type", indicateTypes},
	{"classify", indicateAll},
}

var whenWords = []word[byte]{
	{"always", 'a'},
	{"yes", 'a'},
	{"force", 'a'},
	{"never", 'n'},
	{"no", 'n'},
	{"none", 'n'},
	{"auto", 't'},
	{"tty", 't'},
	{"if-tty", 't'},
}

func newLsConfig(p *shell.Proc) *lsConfig {
	l := &lsConfig{
		proc: p, accounts: newAccounts(p), now: p.Now(), zone: localZone(p),
		blockUnit: envBlockSize(p, "LS_BLOCK_SIZE"), sizeUnit: sizeFormat{unit: 1, base: 1024},
		tab: -1, width: -1, eol: '\n', timeStyle: p.Getenv("TIME_STYLE"),
	}
	if f, ok := givenBlockSize(p, "LS_BLOCK_SIZE"); ok {
		l.sizeUnit = f
	}
	return l
}

// givenBlockSize returns the unit that the environment asks for.
func givenBlockSize(p *shell.Proc, own string) (sizeFormat, bool) {
	for _, name := range []string{own, "BLOCK_SIZE"} {
		if v, ok := p.LookupEnv(name); ok {
			if f, err := parseBlockSize(v); err == nil {
				return f, true
			}
		}
	}
	return sizeFormat{}, false
}

// envBlockSize returns the unit of blocks without options.
func envBlockSize(p *shell.Proc, own string) sizeFormat {
	if f, ok := givenBlockSize(p, own); ok {
		return f
	}
	if f, err := parseBlockSize(p.Getenv("BLOCKSIZE")); err == nil {
		return f
	}
	if _, ok := p.LookupEnv("POSIXLY_CORRECT"); ok {
		return sizeFormat{unit: 512, base: 1024}
	}
	return sizeFormat{unit: 1024, base: 1024}
}

func (l *lsConfig) zero() {
	l.eol, l.color, l.hideControl, l.controlGiven = 0, false, false, true
	l.quoting, l.quotingGiven = quoteLiteral, true
	if l.format != formatLong {
		l.format = formatLines
	}
}

// finish fills in what depends on several options. It returns false after a message.
func (l *lsConfig) finish(o *options) bool {
	terminal := isTerminal(l.proc.Stdout)
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
		l.blockUnit = sizeFormat{unit: 1024, base: 1024}
	}
	if l.width < 0 {
		l.width = columns(l.proc)
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
	if l.color && knowsColors(l.proc) {
		l.colors = newLsColors(l.proc)
		l.tab = 0
	}
	l.dired = l.dired && l.format == formatLong && !l.hyperlink
	l.finishNames(terminal)
	return l.finishTimes(o)
}

func (l *lsConfig) finishNames(terminal bool) {
	if !l.quotingGiven {
		style, ok, _ := wordOf(quotings, l.proc.Getenv("QUOTING_STYLE"))
		switch {
		case ok && l.proc.Getenv("QUOTING_STYLE") != "":
			l.quoting = style
		case l.proc.Name() != "ls":
			l.quoting = quoteEscape
		case terminal:
			l.quoting = quoteShellEscape
		}
	}
	if !l.controlGiven {
		l.hideControl = terminal && l.proc.Name() == "ls"
	}
	if l.quoting == quoteEscape {
		l.special = " "
	}
	if l.indicator >= indicateTypes {
		l.special += strings.TrimPrefix("*=>@|", map[indicator]string{indicateAll: "*"}[l.indicator])
	}
}

// finishTimes sets the formats of times.
func (l *lsConfig) finishTimes(o *options) bool {
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
			o.RejectQuietly("invalid time style format %s", quoteLocaleName(old+"\n"+recent))
			return false
		}
		l.timeFormats = [2]string{old, recent}
		return true
	}
	kind, ok, ambiguous := wordOf([]word[string]{
		{"full-iso", "%Y-%m-%d %H:%M:%S.%N %z"},
		{"long-iso", "%Y-%m-%d %H:%M"},
		{"iso", "%Y-%m-%d "},
		{"locale", ""},
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

func (l *lsConfig) rejectTimeStyle(o *options, style string, ambiguous bool) {
	kind := "invalid"
	if ambiguous {
		kind = "ambiguous"
	}
	l.proc.Warn("%s argument %s for 'time style'", kind, quoteLocaleName(style))
	_, _ = l.proc.Stderr.Write([]byte("Valid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n" +
		"  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format\n"))
	o.fail()
}
