package console

import (
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func lessCommand() program.Description {
	return program.Description{
		Name: "less", Aliases: []string{"pager"}, Usage: "[OPTION]... [FILE]...", Summary: "print FILEs: there is no screen to show them on page by page",
		Help: "The options of less that say how a screen looks are accepted, and so is +COMMAND.", Run: runLess,
	}
}

func moreCommand() program.Description {
	return program.Description{
		Name: "more", Usage: "[options] <file>...", Summary: "print FILEs: there is no screen to show them on page by page",
		Help: `  -d, -f, -l, -p, -c, -s, -u   accepted
  -n, --lines NUMBER           accepted, and so is -NUMBER
  +NUMBER, +/PATTERN           accepted`,
		Run: runMore,
	}
}

// lessPlain and lessValued are the letters of less: without and with an argument.
const (
	lessPlain  = "aABcCeEfFgGiIJKLmMnNqQrRsSuUVwWX~"
	lessValued = "bDhjkoOpPtTxyz#"
)

func runLess(p *shell.Proc) int {
	table := make([]getopt.Option, 0, len(lessPlain)+len(lessValued))
	for i := range len(lessPlain) {
		table = append(table, getopt.Option{Short: lessPlain[i]})
	}
	for i := range len(lessValued) {
		table = append(table, getopt.Option{Short: lessValued[i], Arg: getopt.Required})
	}
	for _, name := range lessLong {
		table = append(table, getopt.Option{Long: name, ID: getopt.First})
	}
	for _, name := range lessLongValued {
		table = append(table, getopt.Option{Long: name, Arg: getopt.Required, ID: getopt.First})
	}
	args := make([]string, 0, len(p.Args))
	for _, a := range p.Args {
		if !strings.HasPrefix(a, "+") { // A command for the screen.
			args = append(args, a)
		}
	}
	o := program.NewOptions(p, lessCommand, table)
	o.Parser = getopt.New(args, table)
	for o.Next() {
		if o.ID == 'V' {
			return program.PrintLine(p, "less 590 (agent-sandbox, as less 590)")
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	return (&pager{proc: p, out: program.NewOutput(p), lessWords: true}).print(o.Args())
}

// lessLong and lessLongValued are the long names of less.
var (
	lessLong = []string{
		"auto-buffers", "buffers", "clear-screen", "quit-at-eof", "QUIT-AT-EOF", "force", "quit-if-one-screen", "hilite-search", "HILITE-SEARCH",
		"ignore-case", "IGNORE-CASE", "status-column", "long-prompt", "LONG-PROMPT", "line-numbers", "LINE-NUMBERS", "quiet", "silent", "QUIET",
		"SILENT", "raw-control-chars", "RAW-CONTROL-CHARS", "squeeze-blank-lines", "chop-long-lines", "underline-special", "UNDERLINE-SPECIAL",
		"hilite-unread", "HILITE-UNREAD", "no-init", "tilde", "quit-on-intr", "mouse", "use-color", "no-keypad", "incsearch", "no-histdups",
	}
	lessLongValued = []string{"pattern", "prompt", "tabs", "window", "jump-target", "log-file", "tag", "shift", "max-back-scroll", "max-forw-scroll", "header"}
)

func runMore(p *shell.Proc) int {
	table := []getopt.Option{
		{Short: 'd', Long: "silent"},
		{Short: 'f', Long: "logical"},
		{Short: 'l', Long: "no-pause"},
		{Short: 'c', Long: "print-over"},
		{Short: 'p', Long: "clean-print"},
		{Short: 's', Long: "squeeze"},
		{Short: 'u', Long: "plain"},
		{Short: 'e', Long: "exit-on-eof"},
		{Short: 'n', Long: "lines", Arg: getopt.Required},
		{Short: 'h', Long: "help", ID: getopt.Help},
		{Short: 'V', Long: "version", ID: getopt.Version},
	}
	args := make([]string, 0, len(p.Args))
	for i, a := range p.Args {
		// Where to begin and how many lines a screen has: for the screen.
		if i > 0 && len(a) > 1 && (a[0] == '+' || a[0] == '-' && ascii.CountDigits(a[1:]) == len(a)-1) {
			continue
		}
		args = append(args, a)
	}
	o := program.NewOptions(p, moreCommand, table)
	o.Parser = getopt.New(args, table)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	return (&pager{proc: p, out: program.NewOutput(p)}).print(o.Args())
}

// pager prints files one after another.
type pager struct {
	proc      *shell.Proc
	out       *program.Output
	lessWords bool
}

func (g *pager) print(names []string) int {
	if len(names) == 0 {
		return g.out.Close(g.copy(g.proc.Stdin))
	}
	for _, name := range names {
		if status := g.file(name); status != 0 {
			return g.out.Close(status)
		}
	}
	return g.out.Close(0)
}

// file prints one file; status is that of the end of the process, or 0.
func (g *pager) file(name string) (status int) {
	if g.lessWords && name == "-" {
		return g.copy(g.proc.Stdin)
	}
	info, err := g.proc.Stat(name)
	if err == nil && info.IsDir() {
		if g.lessWords {
			program.WriteText(g.out, name+" is a directory\n")
		} else {
			program.WriteText(g.out, "\n*** "+name+": directory ***\n\n")
		}
		return 0
	}
	var in io.ReadCloser
	if err == nil {
		in, err = g.proc.Open(name)
	}
	if err != nil {
		if g.lessWords {
			program.WriteText(g.out, name+": "+shell.Strerror(err)+"\n")
		} else {
			_ = g.out.Flush() // The error stays in out.
			g.proc.Warn("cannot open %s: %s", name, shell.Strerror(err))
		}
		return 0
	}
	defer in.Close()
	if !g.lessWords {
		program.WriteText(g.out, "::::::::::::::\n"+name+"\n::::::::::::::\n")
	}
	return g.copy(in)
}

// copy prints a stream.
func (g *pager) copy(in io.Reader) int {
	buf := make([]byte, program.BufferSize)
	for {
		n, err := in.Read(buf)
		if e := g.proc.Spend(1 + n>>8); e != nil {
			return g.proc.Status(e)
		}
		if _, e := g.out.Write(buf[:n]); e != nil || err != nil {
			return 0
		}
		if err := g.out.Flush(); err != nil {
			return 0
		}
	}
}
