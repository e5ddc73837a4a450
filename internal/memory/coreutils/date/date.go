// Package date holds the programs date and cal.
package date

import (
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/choice"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/dates"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func dateCommand() program.Description {
	return program.Description{
		Name: "date", Usage: "[OPTION]... [+FORMAT]\n[-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]",
		Summary: "print the time",
		Help: `  -d, --date=STRING          the time that STRING describes, not now
      --debug                accepted; says nothing more
  -f, --file=DATEFILE        -d for each line of DATEFILE
  -I[FMT], --iso-8601[=FMT]  as 2024-01-05T10:11:12+00:00; FMT: date, hours, minutes, seconds, ns
  -R, --rfc-email            as Fri, 05 Jan 2024 10:11:12 +0000
      --rfc-3339=FMT         as 2024-01-05 10:11:12+00:00; FMT: date, seconds, ns
      --resolution           the precision of the clock
  -r, --reference=FILE       the time of FILE's last change
  -s, --set=STRING           refused: the clock is not the machine's
  -u, --utc, --universal     in UTC

STRING is a date, a time, a zone, a day of the week, what is relative ("3 days ago", "next month"),
@SECONDS, or several of them. FORMAT has the conversions
  %% %a %A %b %B %c %C %d %D %e %F %g %G %h %H %I %j %k %l %m %M %n %N %p %P %q %r %R %s %S %t
  %T %u %U %V %w %W %x %X %y %Y %z %:z %::z %:::z %Z
with - (no padding), _ (spaces), 0 (zeros), + (sign), ^ (upper case), # (other case) and a width behind the %.`,
		Run: runDate,
	}
}

const (
	dateDebug = getopt.First + iota
	dateRFC3339
	dateResolution
)

var dateOptions = []getopt.Option{
	{Short: 'd', Long: "date", Arg: getopt.Required},
	{Long: "debug", ID: dateDebug},
	{Short: 'f', Long: "file", Arg: getopt.Required},
	{Short: 'I', Long: "iso-8601", Arg: getopt.Optional},
	{Short: 'r', Long: "reference", Arg: getopt.Required},
	{Long: "resolution", ID: dateResolution},
	{Short: 'R', Long: "rfc-822"},
	{Short: 'R', Long: "rfc-2822"},
	{Short: 'R', Long: "rfc-email"},
	{Long: "rfc-3339", Arg: getopt.Required, ID: dateRFC3339},
	{Short: 's', Long: "set", Arg: getopt.Required},
	{Short: 'u', Long: "uct"},
	{Short: 'u', Long: "utc"},
	{Short: 'u', Long: "universal"},
}

var isoWords = []choice.Choice[string]{
	{Name: "hours", Value: "%Y-%m-%dT%H%:z"},
	{Name: "minutes", Value: "%Y-%m-%dT%H:%M%:z"},
	{Name: "date", Value: "%Y-%m-%d"},
	{Name: "seconds", Value: "%Y-%m-%dT%H:%M:%S%:z"},
	{Name: "ns", Value: "%Y-%m-%dT%H:%M:%S,%N%:z"},
}

var rfc3339Words = []choice.Choice[string]{
	{Name: "date", Value: "%Y-%m-%d"},
	{Name: "seconds", Value: "%Y-%m-%d %H:%M:%S%:z"},
	{Name: "ns", Value: "%Y-%m-%d %H:%M:%S.%N%:z"},
}

// dateJob holds the parsed options of date.
type dateJob struct {
	proc      *shell.Proc
	out       *program.Output
	zone      *time.Location
	format    string
	formatted bool
	from      []string // of -d, -f, -r: the option's letter and its argument
	set       string
	setting   bool
}

func runDate(p *shell.Proc) int {
	o := program.NewOptions(p, dateCommand, dateOptions)
	j := &dateJob{proc: p, zone: program.Zone(p)}
	sources := 0
	for o.Next() {
		switch o.ID {
		case 'd', 'f', 'r', dateResolution:
			if len(j.from) == 0 || j.from[0] != string(rune(o.ID)) {
				sources++
			}
			j.from = []string{string(rune(o.ID)), o.Value}
		case 'I':
			j.format, j.formatted = "%Y-%m-%d", j.again(o)
			if o.HasValue {
				j.format = program.Choose(o, "--iso-8601", o.Value, isoWords)
			}
		case 'R':
			j.format, j.formatted = "%a, %d %b %Y %H:%M:%S %z", j.again(o)
		case dateRFC3339:
			j.formatted = j.again(o)
			j.format = program.Choose(o, "--rfc-3339", o.Value, rfc3339Words)
		case 's':
			j.set, j.setting = o.Value, true
		case 'u':
			j.zone = time.UTC
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	if sources > 1 {
		return program.UsageError(p, dateCommand, 1, "the options to specify dates for printing are mutually exclusive")
	}
	if j.setting && sources > 0 {
		return program.UsageError(p, dateCommand, 1, "the options to print and set the time may not be used together")
	}
	if status, done := j.operand(o.Args(), sources > 0); done {
		return status
	}
	j.out = program.NewOutput(p)
	return j.out.Close(j.run())
}

// again rejects a second format.
func (j *dateJob) again(o *program.Options) bool {
	if j.formatted {
		o.RejectQuietly("multiple output formats specified")
	}
	return true
}

// operand takes the format, or a time to set.
func (j *dateJob) operand(args []string, dated bool) (status int, done bool) {
	if len(args) == 0 {
		return 0, false
	}
	if len(args) > 1 {
		return program.UsageError(j.proc, dateCommand, 1, "extra operand %s", quoting.Name(args[1])), true
	}
	if format, ok := strings.CutPrefix(args[0], "+"); ok {
		if j.formatted {
			j.proc.Warn("multiple output formats specified")
			return 1, true
		}
		j.format, j.formatted = format, true
		return 0, false
	}
	if j.setting || dated {
		return program.UsageError(j.proc, dateCommand, 1, "the argument %s lacks a leading '+';\n"+
			"when using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'",
			quoting.Name(args[0])), true
	}
	t, ok := dates.ParsePOSIX(args[0], j.proc.Now().In(j.zone))
	if !ok {
		j.proc.Warn("invalid date %s", quoting.Name(args[0]))
		return 1, true
	}
	j.out = program.NewOutput(j.proc)
	return j.out.Close(j.refuse(t)), true
}

// refuse says that the clock cannot be set, and shows the time that it would have.
func (j *dateJob) refuse(t time.Time) int {
	j.proc.Warn("cannot set date: Operation not permitted")
	_ = j.print(t) // The job has failed anyway.
	return 1
}

// print writes a date; false after a message.
func (j *dateJob) print(t time.Time) bool {
	format := j.format
	if !j.formatted {
		format = "%a %b %e %H:%M:%S %Z %Y"
	}
	held := 0
	text, ok := strftime.FormatWithin(format, t.In(j.zone), func(n int) bool {
		if j.proc.Reserve(2*n) != nil || j.proc.Spend(n>>6) != nil {
			return false
		}
		held += 2 * n
		return true
	})
	defer j.proc.Release(held)
	if !ok {
		j.proc.Warn("memory exhausted")
		return false
	}
	_, _ = j.out.WriteString(text + "\n") // The error stays in out.
	return true
}

func (j *dateJob) run() int {
	now := j.proc.Now().In(j.zone)
	if j.setting {
		t, ok := dates.Parse(j.set, now)
		if !ok {
			j.proc.Warn("invalid date %s", quoting.Name(j.set))
			return 1
		}
		return j.refuse(t)
	}
	if len(j.from) == 0 {
		return statusOf(j.print(now))
	}
	switch j.from[0] {
	case "f":
		return j.file(j.from[1], now)
	case "r":
		info, err := j.proc.Stat(j.from[1])
		if err != nil {
			j.proc.Error(j.from[1], err)
			return 1
		}
		return statusOf(j.print(info.Mtime))
	case "d":
		if j.describe(j.from[1], now) {
			return 0
		}
		return 1
	}
	if !j.formatted {
		j.format, j.formatted = "%s.%N", true
	}
	return statusOf(j.print(time.Unix(0, 1)))
}

// statusOf returns the exit status of a job.
func statusOf(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

func (j *dateJob) describe(s string, now time.Time) bool {
	t, ok := dates.Parse(s, now)
	if !ok {
		j.proc.Warn("invalid date %s", quoting.Name(s))
		return false
	}
	return j.print(t)
}

// file prints the date of each line.
func (j *dateJob) file(name string, now time.Time) int {
	in, err := program.OpenInput(j.proc, name)
	if err != nil {
		j.proc.Error(name, err)
		return 1
	}
	defer in.Close()
	status := 0
	lines := program.NewLineReader(j.proc, in, '\n')
	for {
		line, ok := lines.Next()
		switch {
		case !ok && lines.Spent:
			return j.proc.Status(lines.Ended)
		case !ok && lines.Err() != nil:
			j.proc.Error(name, lines.Err())
			return 1
		case !ok:
			return status
		}
		if !j.describe(string(program.WithoutEnd(line, '\n')), now) {
			status = 1
		}
	}
}
