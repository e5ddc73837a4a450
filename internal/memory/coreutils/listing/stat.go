package listing

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filesystem"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func statCommand() program.Description {
	return program.Description{
		Name: "stat", Usage: "[OPTION]... FILE...",
		Summary: "describe files or their file system",
		Help: `  -L, --dereference       follow links
  -f, --file-system       of the file system
      --cached=MODE       accepted: always, never, default
  -c, --format=FORMAT     in this format, with a newline behind each file
      --printf=FORMAT     the same without the newline, with backslash escapes
  -t, --terse             in one line

Of files: %a %A mode, %b %B blocks, %C context, %d %D %Hd %Ld device, %f raw mode, %F type, %g %G group,
  %h links, %i inode, %m mount point, %n %N name, %o block of input and output, %s size,
  %r %R %t %T %Hr %Lr device type, %u %U owner, %w %W birth, %x %X access, %y %Y modification,
  %z %Z change (%X and its like with a precision have a fraction: %.3X)
Of file systems: %a %b %f blocks free for all, in all, free, %c %d nodes in all, free, %i id,
  %l longest name, %n name, %s %S sizes of blocks, %t %T type`,
		Run: runStat,
	}
}

const (
	statCached = getopt.First + iota
	statPrintf
)

var statOptions = []getopt.Option{
	{Short: 'L', Long: "dereference"},
	{Short: 'f', Long: "file-system"},
	{Short: 'c', Long: "format", Arg: getopt.Required},
	{Long: "printf", Arg: getopt.Required, ID: statPrintf},
	{Short: 't', Long: "terse"},
	{Long: "cached", Arg: getopt.Required, ID: statCached},
}

// statJob holds the parsed options of stat.
type statJob struct {
	proc     *shell.Proc
	out      *program.Output
	accounts *accounts.Database
	follow   bool
	system   bool
	terse    bool
	format   string
	given    bool
	escapes  bool
	end      string
	broken   bool // the format is wrong
}

const (
	statTerse  = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
	statHead   = "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n"
	statPlain  = "Device: %Hd,%Ld\tInode: %-10i  Links: %h\n"
	statDevice = "Device: %Hd,%Ld\tInode: %-10i  Links: %-5h Device type: %Hr,%Lr\n"
	statTail   = "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z\n Birth: %w\n"

	statSystemTerse = "%n %i %l %t %s %S %b %f %a %c %d\n"
	statSystem      = "  File: \"%n\"\n    ID: %-8i Namelen: %-7l Type: %T\nBlock size: %-10s Fundamental block size: %S\n" +
		"Blocks: Total: %-10b Free: %-10f Available: %a\nInodes: Total: %-10c Free: %d\n"
)

func runStat(p *shell.Proc) int {
	o := program.NewOptions(p, statCommand, statOptions)
	j := &statJob{proc: p, out: program.NewOutput(p), accounts: accounts.New(p)}
	for o.Next() {
		switch o.ID {
		case 'L':
			j.follow = true
		case 'f':
			j.system = true
		case 't':
			j.terse = true
		case 'c':
			j.format, j.given, j.escapes, j.end = o.Value, true, false, "\n"
		case statPrintf:
			j.format, j.given, j.escapes, j.end = o.Value, true, true, ""
		case statCached:
			program.Choose(o, "--cached", o.Value, []choice.Choice[byte]{{Name: "default", Value: 'd'}, {Name: "never", Value: 'n'}, {Name: "always", Value: 'a'}})
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, statCommand, o.Args(), 1, -1) {
		return 1
	}
	status := 0
	for _, name := range o.Args() {
		if !j.tell(name) {
			status = 1
		}
		if j.broken {
			return j.out.Close(1)
		}
	}
	return j.out.Close(status)
}

func (j *statJob) tell(name string) bool {
	if j.system {
		return j.tellSystem(name)
	}
	info, err := j.look(name)
	if err != nil {
		if name == "-" {
			j.proc.Errorf(err, "cannot stat standard input")
		} else {
			j.proc.Errorf(err, "cannot statx %s", shell.Quote(name))
		}
		return false
	}
	format := j.format
	if !j.given {
		format = statHead + statPlain + statTail
		switch {
		case j.terse:
			format = statTerse
		case info.Mode&fs.ModeDevice != 0:
			format = statHead + statDevice + statTail
		}
	}
	j.print(format, func(c statDirective) (string, bool) { return j.file(c, name, info) })
	return true
}

func (j *statJob) look(name string) (vfs.Info, error) {
	switch {
	case name == "-":
		return j.proc.Stat("/dev/stdin")
	case j.follow:
		return j.proc.Stat(name)
	}
	return j.proc.Lstat(name)
}

func (j *statJob) tellSystem(name string) bool {
	format := j.format
	if !j.given {
		format = statSystem
		if j.terse {
			format = statSystemTerse
		}
	}
	usage, err := j.proc.FS().UsageOf(j.proc.Cred(), j.proc.Abs(name))
	if err != nil {
		j.proc.Errorf(err, "cannot read file system information for %s", shell.Quote(name))
		return false
	}
	space := filesystem.NewSpace(usage)
	j.print(format, func(c statDirective) (string, bool) { return c.system(name, space) })
	return true
}

// statDirective is one directive of a format.
type statDirective struct {
	flags     string
	width     string
	precision string // with its dot
	which     byte   // H or L before d and r
	verb      byte
}

// print writes a format, with value for the directives.
func (j *statJob) print(format string, value func(c statDirective) (string, bool)) {
	var b strings.Builder
	for i := 0; i < len(format); {
		switch {
		case format[i] == '\\' && j.escapes:
			s, n := j.escape(format[i:])
			b.WriteString(s)
			i += n
		case format[i] == '%':
			c, n := parseStatDirective(format[i:])
			spec := format[i : i+n]
			i += n
			if c.verb == 0 || c.verb == '%' {
				if len(spec) > 2 || c.verb == 0 && len(spec) > 1 {
					j.out.Flush() //nolint:errcheck // The error stays in out.
					j.proc.Warn("%s: invalid directive", quoting.Name(spec))
					j.broken = true
					return
				}
				b.WriteByte('%')
				continue
			}
			s, ok := value(c)
			if !ok {
				s = "?"
			}
			b.WriteString(s)
		default:
			b.WriteByte(format[i])
			i++
		}
	}
	end := j.end
	if !j.given {
		end = ""
	}
	_, _ = j.out.WriteString(b.String() + end) // The error stays in out.
}

func parseStatDirective(s string) (c statDirective, n int) {
	i := 1
	for i < len(s) && strings.IndexByte("'-+ #0I", s[i]) >= 0 {
		i++
	}
	c.flags = s[1:i]
	from := i
	for i < len(s) && ascii.IsDigit(s[i]) {
		i++
	}
	c.width = s[from:i]
	if i < len(s) && s[i] == '.' {
		from = i
		for i++; i < len(s) && ascii.IsDigit(s[i]); i++ {
			continue
		}
		c.precision = s[from:i]
	}
	if i < len(s) && (s[i] == 'H' || s[i] == 'L') && i+1 < len(s) && (s[i+1] == 'd' || s[i+1] == 'r') {
		c.which = s[i]
		i++
	}
	if i < len(s) {
		c.verb = s[i]
		i++
	}
	if len(c.width) > 4 || len(c.precision) > 5 { // Bounds the output.
		c.width, c.precision = "", ""
	}
	return c, i
}

// text writes s in the directive's width.
func (c statDirective) text(s string) string {
	flags := ""
	if strings.Contains(c.flags, "-") {
		flags = "-"
	}
	return fmt.Sprintf("%"+flags+c.width+c.precision+"s", s)
}

// number writes n by verb: d, o or x.
func (c statDirective) number(n uint64, verb string) string {
	keep := "-0"
	switch {
	case verb != "d":
		keep = "-0#"
	case c.verb == 's':
		keep = "-0+ "
	}
	flags := strings.Map(func(r rune) rune {
		if strings.ContainsRune(keep, r) {
			return r
		}
		return -1
	}, c.flags)
	return fmt.Sprintf("%"+flags+c.width+c.precision+verb, n)
}

// escape reads the backslash at the start of s.
func (j *statJob) escape(s string) (text string, n int) {
	if len(s) == 1 {
		j.proc.Warn("warning: backslash at end of format")
		return `\`, 1
	}
	c := s[1]
	if i := strings.IndexByte("abefnrtv", c); i >= 0 {
		return "\a\b\x1b\f\n\r\t\v"[i : i+1], 2
	}
	switch {
	case c == '\\' || c == '"':
		return string(c), 2
	case c >= '0' && c <= '7':
		value := 0
		for n = 1; n < len(s) && n < 4 && s[n] >= '0' && s[n] <= '7'; n++ {
			value = value*8 + int(s[n]-'0')
		}
		return string([]byte{byte(value)}), n
	case c == 'x' && len(s) > 2 && ascii.DigitValue(s[2]) < 16:
		value := 0
		for n = 2; n < len(s) && n < 4 && ascii.DigitValue(s[n]) < 16; n++ {
			value = value*16 + ascii.DigitValue(s[n])
		}
		return string([]byte{byte(value)}), n
	}
	j.proc.Warn("warning: unrecognized escape '\\%c'", c)
	return string(c), 2
}
