package text

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func envsubstCommand() program.Description {
	return program.Description{
		Origin: "GNU gettext 0.21",
		Name:   "envsubst", Usage: "[OPTION] [SHELL-FORMAT]",
		Summary: "copy standard input with the values of variables in the place of $NAME and ${NAME}",
		Help: `With SHELL-FORMAT, only the variables that it names.

  -v, --variables  write the variables that SHELL-FORMAT names
  -h, --help       show this help and exit
  -V, --version    show the version and exit`,
		Run: runEnvsubst,
	}
}

var envsubstOptions = []getopt.Option{
	{Short: 'v', Long: "variables"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'V', Long: "version", ID: getopt.Version},
}

// nameWeight is the memory of a name in a set beside its bytes.
const nameWeight = 64

func runEnvsubst(p *shell.Proc) int {
	show := false
	o := program.NewOptions(p, envsubstCommand, envsubstOptions)
	for o.Next() {
		show = show || o.ID == 'v'
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	switch {
	case len(args) > 1:
		p.Warn("too many arguments")
		return 1
	case show && len(args) == 0:
		p.Warn("missing arguments")
		return 1
	}
	var only map[string]bool
	full := false
	out := program.NewOutput(p)
	if len(args) == 1 {
		only = map[string]bool{}
		substitute(args[0], func(_, name string) {
			if name == "" {
				return
			}
			if show {
				_, _ = out.WriteString(name + "\n")
			}
			if full = full || p.Reserve(nameWeight+len(name)) != nil; !full {
				only[name] = true
			}
		})
	}
	if show {
		return out.Close(0)
	}
	if full {
		p.Warn("memory exhausted")
		return 1
	}
	b, err := program.ReadInput(p, "-")
	if err != nil {
		if status := p.Status(err); status != 1 {
			return status
		}
		p.Errorf(err, "error while reading \"standard input\"")
		return 1
	}
	substitute(string(b), func(text, name string) {
		if name == "" || only != nil && !only[name] {
			_, _ = out.WriteString(text)
			return
		}
		_, _ = out.WriteString(p.Getenv(name))
	})
	return out.Close(0)
}

// substitute calls fn for each variable of a text, and with name "" for the text between them.
func substitute(text string, fn func(text, name string)) {
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 {
			fn(text, "")
			return
		}
		if i > 0 {
			fn(text[:i], "")
			text = text[i:]
		}
		from := 1
		braced := strings.HasPrefix(text, "${")
		if braced {
			from = 2
		}
		end := from
		for end < len(text) && (text[end] == '_' || ascii.IsLetter(text[end]) || end > from && ascii.IsDigit(text[end])) {
			end++
		}
		name := text[from:end]
		if braced {
			if end == len(text) || text[end] != '}' {
				name = ""
			} else {
				end++
			}
		}
		fn(text[:end], name)
		text = text[end:]
	}
}
