package system

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func timeCommand() program.Description {
	return program.Description{
		Name: "time", Usage: "[OPTIONS] COMMAND [ARG]...", Summary: "run a command, then print how long it took",
		Help: `  -a, --append         add to the file of -o
  -f, --format=FORMAT  print this; see below
  -o, --output=FILE    write to FILE, not to standard error
  -p, --portability    print real, user and sys on three lines
  -q, --quiet          say nothing of a status that is not 0
  -v, --verbose        print all there is
  -V, --version        show the version and exit

In FORMAT: %e seconds, %E hours, minutes and seconds, %U %S seconds of user and system, %P of the
processor, %C the command, %x its status; %M %t %K %D %p %X %F %R %W %c %w %I %O %r %s %k %Z sizes and
counts, which are 0 in memory. There is one clock here: what a command takes counts as the user's time.`,
		Run: runTime,
	}
}

var timeOptions = []getopt.Option{
	{Short: 'a', Long: "append"},
	{Short: 'f', Long: "format", Arg: getopt.Required},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'o', Long: "output", Arg: getopt.Required},
	{Short: 'p', Long: "portability"},
	{Short: 'q', Long: "quiet"},
	{Short: 'v', Long: "verbose"},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// timing is a command that is measured.
type timing struct {
	proc          *shell.Proc
	format, file  string
	append, quiet bool
	command       []string
	took          time.Duration
	status        int
}

const (
	timeDefault  = "%Uuser %Ssystem %Eelapsed %PCPU (%Xavgtext+%Davgdata %Mmaxresident)k\n%Iinputs+%Ooutputs (%Fmajor+%Rminor)pagefaults %Wswaps"
	timePortable = "real %e\nuser %U\nsys %S"
	timeVerbose  = `	Command being timed: "%C"
	User time (seconds): %U
	System time (seconds): %S
	Percent of CPU this job got: %P
	Elapsed (wall clock) time (h:mm:ss or m:ss): %E
	Average shared text size (kbytes): %X
	Average unshared data size (kbytes): %D
	Average stack size (kbytes): %p
	Average total size (kbytes): %K
	Maximum resident set size (kbytes): %M
	Average resident set size (kbytes): %t
	Major (requiring I/O) page faults: %F
	Minor (reclaiming a frame) page faults: %R
	Voluntary context switches: %w
	Involuntary context switches: %c
	Swaps: %W
	File system inputs: %I
	File system outputs: %O
	Socket messages sent: %s
	Socket messages received: %r
	Signals delivered: %k
	Page size (bytes): %Z
	Exit status: %x`
)

func runTime(p *shell.Proc) int {
	o := program.NewOptions(p, timeCommand, timeOptions)
	o.Order, o.Wrong = getopt.RequireOrder, program.StatusFailed
	t := timing{proc: p, format: timeDefault}
	if f, ok := p.LookupEnv("TIME"); ok {
		t.format = f
	}
	for o.Next() {
		switch o.ID {
		case 'a':
			t.append = true
		case 'f':
			t.format = o.Value
		case 'o':
			t.file = o.Value
		case 'p':
			t.format, t.quiet = timePortable, true
		case 'q':
			t.quiet = true
		case 'v':
			t.format = timeVerbose
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if t.command = o.Args(); len(t.command) == 0 {
		return program.UsageError(p, timeCommand, program.StatusFailed, "missing program to run")
	}
	return t.run()
}

func (t *timing) run() int {
	p := t.proc
	out := p.Stderr
	if t.file != "" {
		flag := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if t.append {
			flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
		}
		f, err := p.OpenFile(t.file, flag, 0o666)
		if err != nil {
			p.Warn("%s: %s", t.file, shell.Strerror(err))
			return program.StatusFailed
		}
		defer f.Close()
		out = f
	}
	begin := p.Now()
	if _, err := program.Find(p, nil, t.command[0], ""); err != nil {
		p.Warn("cannot run %s: %s", t.command[0], shell.Strerror(err))
		t.status = program.LaunchStatus(err)
	} else {
		t.status = p.Run(shell.Spawn{Args: t.command})
	}
	t.took = p.Now().Sub(begin)
	if err := p.Context().Err(); err != nil {
		return p.Status(err)
	}
	text := t.report()
	if !strings.HasSuffix(t.format, "%") || strings.HasSuffix(t.format, "%%") {
		text += "\n"
	}
	switch {
	case t.quiet || t.status == 0:
	case t.status > 128 && t.status < 128+65:
		text = fmt.Sprintf("Command terminated by signal %d\n", t.status-128) + text
	default:
		text = fmt.Sprintf("Command exited with non-zero status %d\n", t.status) + text
	}
	if _, err := out.Write([]byte(text)); err != nil {
		return p.WriteFailed(err)
	}
	return t.status
}

// report expands the format.
func (t *timing) report() string {
	var b strings.Builder
	for i := 0; i < len(t.format); i++ {
		c := t.format[i]
		switch {
		case c == '%' && i+1 < len(t.format):
			i++
			b.WriteString(t.field(t.format[i]))
		case c == '%':
			return b.String() + "?"
		case c == '\\' && i+1 < len(t.format):
			i++
			switch t.format[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case '\\':
				b.WriteByte('\\')
			default:
				b.WriteString(`?\` + t.format[i:i+1])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// field returns the value of a letter of the format.
func (t *timing) field(c byte) string {
	hundredths := int64(t.took / (10 * time.Millisecond))
	seconds := fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
	switch c {
	case '%':
		return "%"
	case 'C':
		return strings.Join(t.command, " ")
	case 'e', 'U':
		return seconds
	case 'S':
		return "0.00"
	case 'E':
		if hours := hundredths / 360000; hours > 0 {
			return fmt.Sprintf("%d:%02d:%02d", hours, hundredths/6000%60, hundredths/100%60)
		}
		return fmt.Sprintf("%d:%02d.%02d", hundredths/6000, hundredths/100%60, hundredths%100)
	case 'P':
		return "100%"
	case 'x':
		return fmt.Sprint(t.status)
	case 'Z':
		return "4096"
	case 'M', 't', 'K', 'D', 'p', 'X', 'F', 'R', 'W', 'c', 'w', 'I', 'O', 'r', 's', 'k':
		return "0"
	}
	return "?" + string(rune(c))
}
