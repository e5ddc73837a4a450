package system

import (
	"errors"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func getoptCommand() program.Description {
	return program.Description{
		Name: "getopt", Usage: "OPTSTRING PARAMETERS\n[OPTIONS] [--] OPTSTRING PARAMETERS\n[OPTIONS] -o OPTSTRING [OPTIONS] [--] PARAMETERS",
		Summary: "put the parameters of a script in order, options first",
		Help: `  -a, --alternative        long options may begin with one dash
  -l, --longoptions LIST   names of long options, with : behind those that take an argument, :: when it is optional
  -n, --name NAME          whose name messages begin with
  -o, --options OPTSTRING  letters of short options, with : and :: as above
  -q, --quiet              no messages
  -Q, --quiet-output       nothing but messages
  -s, --shell SHELL        quote for sh, bash, csh or tcsh
  -T, --test               exit with status 4
  -u, --unquoted           quote nothing

Exit status: 1 when a parameter is wrong, 2 when an option of getopt's own is, 3 for other failures.`,
		Run: runGetopt,
	}
}

var getoptOptions = []getopt.Option{
	{Short: 'a', Long: "alternative"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'l', Long: "longoptions", Arg: getopt.Required},
	{Short: 'l', Long: "long", Arg: getopt.Required},
	{Short: 'n', Long: "name", Arg: getopt.Required},
	{Short: 'o', Long: "options", Arg: getopt.Required},
	{Short: 'q', Long: "quiet"},
	{Short: 'Q', Long: "quiet-output"},
	{Short: 's', Long: "shell", Arg: getopt.Required},
	{Short: 'T', Long: "test"},
	{Short: 'u', Long: "unquoted"},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// ordering holds the parsed options of getopt itself.
type ordering struct {
	proc                     *shell.Proc
	name                     string
	letters                  string
	hasLetters               bool
	table                    []getopt.Option
	quiet, mute, plain, cshs bool
	oneDash                  bool
}

func runGetopt(p *shell.Proc) int {
	g := &ordering{proc: p, name: p.Name()}
	_, old := p.LookupEnv("GETOPT_COMPATIBLE")
	if len(p.Args) == 1 {
		if old {
			return program.PrintLine(p, " --")
		}
		return program.UsageError(p, getoptCommand, 2, "missing optstring argument")
	}
	if first := p.Args[1]; old || !strings.HasPrefix(first, "-") {
		g.plain = true
		g.letters = strings.TrimLeft(first, "-+")
		return g.order(p.Args[2:])
	}
	o := program.NewOptions(p, getoptCommand, getoptOptions)
	o.Wrong, o.Order = 2, getopt.RequireOrder
	for o.Next() {
		if o.ID == 'T' {
			return 4
		}
		g.set(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if !g.hasLetters {
		if len(args) == 0 {
			return program.UsageError(p, getoptCommand, 2, "missing optstring argument")
		}
		g.letters, args = args[0], args[1:]
	}
	return g.order(args)
}

func (g *ordering) set(o *program.Options) {
	switch o.ID {
	case 'a':
		g.oneDash = true
	case 'l':
		g.long(o.Value)
	case 'n':
		g.name = o.Value
	case 'o':
		g.letters, g.hasLetters = o.Value, true
	case 'q':
		g.quiet = true
	case 'Q':
		g.mute = true
	case 's':
		switch o.Value {
		case "sh", "bash":
			g.cshs = false
		case "csh", "tcsh":
			g.cshs = true
		default:
			o.Reject("unknown shell after -s or --shell argument")
		}
	case 'u':
		g.plain = true
	}
}

// optionMemory is about how many bytes an option takes in a table that grows.
const optionMemory = 256

// long takes a list of long names.
func (g *ordering) long(list string) {
	for name := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
		if g.proc.Reserve(optionMemory) != nil {
			return
		}
		g.table = append(g.table, getopt.Option{Long: strings.TrimRight(name, ":"), Arg: argumentMark(name), ID: getopt.First + len(g.table)})
	}
}

// argumentMark reads the colons behind a name.
func argumentMark(name string) getopt.Arg {
	switch {
	case strings.HasSuffix(name, "::"):
		return getopt.Optional
	case strings.HasSuffix(name, ":"):
		return getopt.Required
	}
	return getopt.None
}

// short adds the letters to the table.
func (g *ordering) short(letters string) {
	for i := 0; i < len(letters); {
		n := 1
		for i+n < len(letters) && n < 3 && letters[i+n] == ':' {
			n++
		}
		if letters[i] != ':' && g.proc.Reserve(optionMemory) == nil {
			g.table = append(g.table, getopt.Option{Short: letters[i], Arg: argumentMark(letters[i : i+n])})
		}
		i += n
	}
}

// order prints the parameters in order.
func (g *ordering) order(args []string) int {
	order := getopt.Permute
	if _, ok := g.proc.LookupEnv("POSIXLY_CORRECT"); ok {
		order = getopt.RequireOrder
	}
	letters := g.letters
	switch {
	case strings.HasPrefix(letters, "+"):
		order, letters = getopt.RequireOrder, letters[1:]
	case strings.HasPrefix(letters, "-"):
		order, letters = getopt.InOrder, letters[1:]
	}
	if rest, silent := strings.CutPrefix(letters, ":"); silent {
		letters, g.quiet = rest, true
	}
	g.short(letters)
	if g.oneDash {
		args = g.doubled(args)
	}
	o := getopt.New(append([]string{g.name}, args...), g.table)
	o.Order, o.Bare = order, true
	var b strings.Builder
	status := 0
	for {
		if o.Next() {
			g.write(&b, o)
			continue
		}
		if o.Err == nil {
			break
		}
		status = 1
		if !g.quiet {
			_, _ = g.proc.Stderr.Write([]byte(g.name + ": " + g.complaint(o.Err) + "\n")) // No other stream can report it.
		}
	}
	if g.mute {
		return status
	}
	b.WriteString(" --")
	for _, a := range o.Args() {
		b.WriteString(" " + g.quoted(a))
	}
	return max(status, program.PrintLine(g.proc, b.String()))
}

// complaint returns the error message. Where long options may begin with one dash, a letter may be meant as one.
func (g *ordering) complaint(err error) string {
	wrong, ok := errors.AsType[*getopt.Error](err)
	if ok && g.oneDash && wrong.Kind == getopt.InvalidLetter {
		return "unrecognized option '-" + wrong.Option + "'"
	}
	return err.Error()
}

// write adds an option with its argument, or an operand in its place.
func (g *ordering) write(b *strings.Builder, o *getopt.Parser) {
	if o.ID == getopt.Operand {
		b.WriteString(" " + g.quoted(o.Value))
		return
	}
	i := slices.IndexFunc(g.table, func(t getopt.Option) bool { return t.ID == o.ID || t.ID == 0 && int(t.Short) == o.ID })
	if t := g.table[i]; t.Long != "" {
		b.WriteString(" --" + t.Long)
		if t.Arg == getopt.None {
			return
		}
	} else {
		b.WriteString(" -" + string(rune(t.Short)))
		if t.Arg == getopt.None {
			return
		}
	}
	b.WriteString(" " + g.quoted(o.Value))
}

// quoted quotes a word for the shell that reads it.
func (g *ordering) quoted(s string) string {
	if g.plain {
		return s
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '\'':
			b.WriteString(`'\''`)
		case g.cshs && c == '\\':
			b.WriteString(`\\`)
		case g.cshs && c == '!':
			b.WriteString(`'\!'`)
		case g.cshs && c == '\n':
			b.WriteString(`\n`)
		case g.cshs && (c == ' ' || c == '\t'):
			b.WriteString("'\\" + string(rune(c)) + "'") // bounded: by four times the text
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// doubled gives words that name a long option with one dash a second one.
func (g *ordering) doubled(args []string) []string {
	list := slices.Clone(args)
	for i, a := range list {
		if a == "--" {
			break
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		if len(a) < 3 || a[0] != '-' || a[1] == '-' {
			continue
		}
		if slices.ContainsFunc(g.table, func(t getopt.Option) bool { return t.Long != "" && strings.HasPrefix(t.Long, name) }) {
			list[i] = "-" + a
		}
	}
	return list
}
