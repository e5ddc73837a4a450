package find

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func xargsCommand() program.Description {
	return program.Description{
		Origin: "GNU findutils 4.9.0",
		Name:   "xargs", Usage: "[OPTION]... COMMAND [INITIAL-ARGS]...",
		Summary: "run COMMAND with arguments read from standard input",
		Help: `  -0, --null                   items end with NUL; quotes mean nothing
  -a, --arg-file=FILE          read from FILE
  -d, --delimiter=CHARACTER    items end with CHARACTER; quotes mean nothing
  -E END, -e[END], --eof[=END] a line END ends the input
  -I R, -i[R], --replace[=R]   put each line in the place of R ({} if it is not given)
  -L, --max-lines=N, -l[N]     at most N lines for a command
  -n, --max-args=N             at most N items for a command
  -P, --max-procs=N            up to N commands at once; 0 is as many as there may be
  -o, --open-tty               a terminal as the commands' standard input
  -p, --interactive            ask before each command
  -r, --no-run-if-empty        run nothing without items
      --process-slot-var=VAR   set VAR to the number of the place that a command has
  -s, --max-chars=N            at most N bytes for a command
  -t, --verbose                say what is run
  -x, --exit                   end when -s is passed
      --show-limits            say what the limits are

Exit status: 123 when a command failed, 124 when one ended with 255, 125 when one was killed,
126 when it cannot be run, 127 when there is none.`,
		Run: runXargs,
	}
}

const (
	xargsEOF = getopt.First + iota
	xargsReplace
	xargsLines
	xargsSlot
	xargsLimits
)

var xargsOptions = []getopt.Option{
	{Short: '0', Long: "null"},
	{Short: 'a', Long: "arg-file", Arg: getopt.Required},
	{Short: 'd', Long: "delimiter", Arg: getopt.Required},
	{Short: 'E', Arg: getopt.Required, ID: xargsEOF},
	{Short: 'e', Long: "eof", Arg: getopt.Optional, ID: xargsEOF},
	{Short: 'I', Arg: getopt.Required, ID: xargsReplace},
	{Short: 'i', Long: "replace", Arg: getopt.Optional, ID: xargsReplace},
	{Short: 'L', Arg: getopt.Required},
	{Short: 'l', Long: "max-lines", Arg: getopt.Optional, ID: xargsLines},
	{Short: 'n', Long: "max-args", Arg: getopt.Required},
	{Short: 'o', Long: "open-tty"},
	{Short: 'p', Long: "interactive"},
	{Short: 'r', Long: "no-run-if-empty"},
	{Short: 's', Long: "max-chars", Arg: getopt.Required},
	{Short: 't', Long: "verbose"},
	{Short: 'x', Long: "exit"},
	{Short: 'P', Long: "max-procs", Arg: getopt.Required},
	{Long: "process-slot-var", Arg: getopt.Required, ID: xargsSlot},
	{Long: "show-limits", ID: xargsLimits},
}

// xargs is a run of xargs.
type xargs struct {
	proc    *shell.Proc
	command []string

	delimiter byte
	delimited bool
	eof       string
	replace   string // "": none
	lines     int    // 0: no limit
	items     int
	procs     int
	maxChars  int
	ask, say  bool
	noEmpty   bool
	exit      bool
	slotVar   string
	file      string
	limits    bool

	batch   []string // items for the next command
	chars   int      // bytes of the command with them
	initial int      // bytes of the command alone
	filled  int      // lines in batch
	ran     bool
	status  int
	fatal   bool
	pool    xargsPool
}

// charsDefault and charsMost bound the words of a command together, in bytes.
const (
	charsDefault = 128 << 10
	charsMost    = 2<<20 - 2048 - 4096
)

func runXargs(p *shell.Proc) int {
	o := program.NewOptions(p, xargsCommand, xargsOptions)
	o.Order = getopt.RequireOrder
	x := &xargs{proc: p, procs: 1, maxChars: charsDefault}
	for o.Next() {
		x.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	x.command = o.Args()
	if len(x.command) == 0 {
		x.command = []string{"echo"}
	}
	if x.limits {
		x.showLimits()
	}
	in, ok := x.input()
	if !ok {
		return 1
	}
	defer in.Close()
	return x.run(in)
}

func (x *xargs) option(o *program.Options) {
	switch o.ID {
	case '0':
		x.delimited, x.delimiter = true, 0
	case 'd':
		c, fault := xargsDelimiter(o.Value)
		if fault != "" {
			o.RejectQuietly("%s", fault)
			return
		}
		x.delimited, x.delimiter = true, c
	case 'a':
		x.file = o.Value
	case xargsEOF:
		x.eof = o.Value
	case xargsReplace:
		x.drop(&x.lines, "--max-lines", "--replace/-I/-i")
		x.drop(&x.items, "--max-args", "--replace/-I/-i")
		if x.replace = o.Value; !o.HasValue {
			x.replace = "{}"
		}
	case 'L', xargsLines:
		x.lines = 1
		if o.HasValue {
			x.lines = x.number(o, xargsLineLetter(o), 1)
		}
		this := "--max-lines/-l"
		if o.ID == 'L' {
			this = "-L"
		}
		x.drop(&x.items, "--max-args", this)
		x.dropReplace(this)
	case 'n':
		x.items = x.number(o, 'n', 1)
		if x.items == 1 && x.replace != "" { // -I implies it.
			x.items = 0
			break
		}
		x.drop(&x.lines, "--max-lines", "--max-args/-n")
		x.dropReplace("--max-args/-n")
	case 's':
		x.setChars(o)
	case 'P':
		x.procs = x.number(o, 'P', 0)
	default:
		x.flag(o)
	}
}

func (x *xargs) flag(o *program.Options) {
	switch o.ID {
	case 'p':
		x.ask, x.say = true, true
	case 't':
		x.say = true
	case 'r':
		x.noEmpty = true
	case 'x':
		x.exit = true
	case xargsSlot:
		if strings.Contains(o.Value, "=") {
			o.RejectQuietly("option --%s may not be set to a value which includes `='", "process-slot-var")
		}
		x.slotVar = o.Value
	case xargsLimits:
		x.limits = true
	}
}

// number reads the argument of an option.
func (x *xargs) number(o *program.Options, letter byte, least int) int {
	n, err := strconv.ParseInt(o.Value, 10, 32)
	switch {
	case err != nil:
		o.Reject("invalid number \"%s\" for -%c option", o.Value, letter)
	case int(n) < least:
		o.Reject("value %s for -%c option should be >= %d", o.Value, letter, least)
	}
	return int(n)
}

// xargsLineLetter returns the option's name in messages: -L, or -l for its other forms.
func xargsLineLetter(o *program.Options) byte {
	if o.ID == 'L' {
		return 'L'
	}
	return 'l'
}

// setChars reads -s. A value out of bounds is not an error: it only gets a warning.
func (x *xargs) setChars(o *program.Options) {
	n, err := strconv.ParseInt(o.Value, 10, 32)
	switch {
	case err != nil:
		o.Reject("invalid number \"%s\" for -s option", o.Value)
	case n < 1:
		x.proc.Warn("value %s for -s option should be >= 1", o.Value)
	case n > charsMost:
		x.proc.Warn("value %s for -s option should be <= %d", o.Value, charsMost)
		n = charsMost
	}
	x.maxChars = int(n)
}

// drop forgets an earlier option that this one excludes.
func (x *xargs) drop(n *int, name, this string) {
	if *n != 0 {
		x.proc.Warn("warning: options %[1]s and %[2]s are mutually exclusive, ignoring previous %[1]s value", name, this)
		*n = 0
	}
}

func (x *xargs) dropReplace(this string) {
	if x.replace != "" {
		n := 1
		x.drop(&n, "--replace", this)
		x.replace = ""
	}
}

// xargsDelimiter reads the argument of -d.
func xargsDelimiter(s string) (c byte, fault string) {
	if len(s) == 1 {
		return s[0], ""
	}
	if !strings.HasPrefix(s, `\`) {
		return 0, fmt.Sprintf("Invalid input delimiter specification %s: the delimiter must be either a single character or an escape sequence starting with \\.", s)
	}
	if i := strings.Index("abfnrtv", s[1:]); i >= 0 && len(s) == 2 {
		return "\a\b\f\n\r\t\v"[i], ""
	}
	if s == `\\` {
		return '\\', ""
	}
	base, digits := 8, s[1:]
	if strings.HasPrefix(digits, "x") {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	switch {
	case err != nil && base == 8 && s[1] >= '0' && s[1] <= '7', err != nil && base == 16:
		return 0, fmt.Sprintf("Invalid escape sequence %s in input delimiter specification; trailing characters %s not recognised.", s, strings.TrimLeft(digits, "01234567"))
	case err != nil:
		return 0, fmt.Sprintf("Invalid escape sequence %s in input delimiter specification.", s)
	case n > 255 && base == 8:
		return 0, fmt.Sprintf("Invalid escape sequence %s in input delimiter specification; character values must not exceed %o.", s, 255)
	case n > 255:
		return 0, fmt.Sprintf("Invalid escape sequence %s in input delimiter specification; character values must not exceed %x.", s, 255)
	}
	return byte(n), ""
}

func (x *xargs) showLimits() {
	env := 0
	for _, v := range x.proc.Environ() {
		env += len(v) + 1
	}
	fmt.Fprintf(x.proc.Stderr, "Your environment variables take up %d bytes\nPOSIX upper limit on argument length (this system): %d\n"+
		"POSIX smallest allowable upper limit on argument length (all systems): 4096\nMaximum length of command we could actually use: %d\n"+
		"Size of command buffer we are actually using: %d\nMaximum parallelism (--max-procs must be no greater): 2147483647\n",
		env, charsMost-env, charsMost-2*env, x.maxChars)
}

func (x *xargs) input() (io.ReadCloser, bool) {
	if x.file == "" || x.file == "-" {
		return io.NopCloser(x.proc.Stdin), true
	}
	f, err := x.proc.OpenFile(x.file, os.O_RDONLY, 0)
	if err != nil {
		x.proc.Warn("Cannot open input file %s: %s", quoting.Name(x.file), shell.Strerror(err))
		return nil, false
	}
	return f, true
}
