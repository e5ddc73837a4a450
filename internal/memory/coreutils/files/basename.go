package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func basenameCommand() program.Description {
	return program.Description{
		Name: "basename", Usage: "NAME [SUFFIX]\nOPTION... NAME...",
		Summary: "print names without their directories, and without a suffix if that is given",
		Help: `  -a, --multiple       every operand is a name
  -s, --suffix=SUFFIX  take SUFFIX away; implies -a
  -z, --zero           end lines with NUL`,
		Run: runBasename,
	}
}

var basenameOptions = []getopt.Option{
	{Short: 'a', Long: "multiple"},
	{Short: 's', Long: "suffix", Arg: getopt.Required},
	{Short: 'z', Long: "zero"},
}

func runBasename(p *shell.Proc) int {
	o := program.NewOptions(p, basenameCommand, basenameOptions)
	o.Order = getopt.RequireOrder
	multiple, suffix, eol := false, "", "\n"
	for o.Next() {
		switch o.ID {
		case 'a':
			multiple = true
		case 's':
			multiple, suffix = true, o.Value
		case 'z':
			eol = "\x00"
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	names, most := o.Args(), -1
	if !multiple {
		most = 2
	}
	if !program.CheckOperands(p, basenameCommand, names, 1, most) {
		return 1
	}
	if !multiple && len(names) == 2 {
		names, suffix = names[:1], names[1]
	}
	out := program.NewOutput(p)
	for _, name := range names {
		_, _ = out.WriteString(pathname.StripSuffix(pathname.Base(name), suffix) + eol) // The error stays in out.
	}
	return out.Close(0)
}
