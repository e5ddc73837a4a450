package text

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func fmtCommand() program.Description {
	return program.Description{
		Name: "fmt", Usage: "[-WIDTH] [OPTION]... [FILE]...",
		Summary: "fill the lines of each paragraph of the FILEs",
		Help: `With no FILE, or when FILE is -, read standard input. -WIDTH, as the first option, is the
same as --width=WIDTH.

  -c, --crown-margin      keep the indentation of the first two lines of a paragraph;
                            the others get that of the second
  -p, --prefix=STRING     fill only lines that begin with STRING, which the new lines
                            get again
  -s, --split-only        split long lines, never join short ones
  -t, --tagged-paragraph  as -c, but a first line that is indented like the second is a
                            paragraph by itself
  -u, --uniform-spacing   one blank between words, two behind sentences
  -w, --width=WIDTH       columns that a line may have; 75 by default
  -g, --goal=WIDTH        columns that a line should have; 93% of what it may have
      --help              show this help and exit
      --version           show the version and exit`,
		Run: runFmt,
	}
}

var fmtOptions = getopt.WithDigits(getopt.Optional, []getopt.Option{
	{Short: 'c', Long: "crown-margin"},
	{Short: 's', Long: "split-only"},
	{Short: 't', Long: "tagged-paragraph"},
	{Short: 'u', Long: "uniform-spacing"},
	{Short: 'p', Long: "prefix", Arg: getopt.Required},
	{Short: 'w', Long: "width", Arg: getopt.Required},
	{Short: 'g', Long: "goal", Arg: getopt.Required},
})

const (
	fmtWidth    = 75
	fmtMaxWidth = 2500
	fmtGoalRoom = 10 // columns that a line may have beyond a goal that is given
)

// fmtStyle holds the options by which fmt reads and fills paragraphs.
type fmtStyle struct {
	crown, tagged, split, uniform bool

	lead        int    // blanks before the prefix, at least
	prefix      string // without blanks around it
	trail       int    // blanks behind the prefix, at least
	width, goal int
}

func runFmt(p *shell.Proc) int {
	var style fmtStyle
	var width, goal *string
	o := program.NewOptions(p, fmtCommand, fmtOptions)
	for o.Next() {
		switch value := o.Value; o.ID {
		case 'c':
			style.crown = true
		case 's':
			style.split = true
		case 't':
			style.tagged = true
		case 'u':
			style.uniform = true
		case 'p':
			style.setPrefix(value)
		case 'w':
			width = &value
		case 'g':
			goal = &value
		default:
			value = string(rune(o.ID)) + value
			if o.Index == 1 && p.Args[1] == "-"+value {
				width = &value
				continue
			}
			o.Reject("invalid option -- %c; -WIDTH is recognized only when it is the first\noption; use -w N instead", o.ID)
		}
	}
	style.measure(o, width, goal)
	if o.HasEnded() {
		return o.Status
	}
	f := newFormatter(p, style)
	status := 0
	for _, name := range program.FilesOrStdin(o.Args()) {
		if !f.file(name) {
			status = 1
		}
		if f.ended != nil {
			return p.Status(f.ended)
		}
	}
	return f.out.Close(status)
}

// setPrefix divides the prefix: the blanks around it are a minimum.
func (s *fmtStyle) setPrefix(text string) {
	core := strings.TrimLeft(text, " ")
	s.lead = len(text) - len(core)
	s.prefix = strings.TrimRight(core, " ")
	s.trail = len(core) - len(s.prefix)
}

// measure sets the widths from what was given for them, if anything.
func (s *fmtStyle) measure(o *program.Options, width, goal *string) {
	s.width = fmtWidth
	number := func(to *int, text string, most int) bool {
		if strings.HasPrefix(strings.TrimLeft(text, " \t\n\v\f\r"), "-") {
			o.RejectQuietly("invalid width: %s", quoting.Name(text))
			return false
		}
		n, ok := program.LimitedNumber(o, text, "invalid width", program.NoUnits, 0, int64(most))
		*to = int(n)
		return ok
	}
	if o.HasEnded() || width != nil && !number(&s.width, *width, fmtMaxWidth) {
		return
	}
	if goal == nil {
		// 93 of 100 with half of one added, rounded down.
		s.goal = s.width * 187 / 200
		return
	}
	if number(&s.goal, *goal, s.width) && width == nil {
		s.width = s.goal + fmtGoalRoom
	}
}

// file fills one file and reports errors in it.
func (f *formatter) file(name string) bool {
	in, err := program.OpenInput(f.p, name)
	if err != nil {
		f.p.Warn("cannot open %s for reading: %s", quoting.Name(name), shell.Strerror(err))
		return false
	}
	defer in.Close()
	f.in.Reset(in)
	f.text()
	switch err := f.in.Lines.Err(); {
	case f.in.Lines.Spent:
		f.ended = err
	case err != nil:
		f.p.Warn("read error")
		return false
	}
	return true
}
