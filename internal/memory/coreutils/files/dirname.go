package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func dirnameCommand() program.Description {
	return program.Description{
		Name: "dirname", Usage: "[OPTION] NAME...",
		Summary: "print names without their last element; . when nothing is left",
		Help:    "  -z, --zero  end lines with NUL",
		Run:     runDirname,
	}
}

var dirnameOptions = []getopt.Option{{Short: 'z', Long: "zero"}}

func runDirname(p *shell.Proc) int {
	o := program.NewOptions(p, dirnameCommand, dirnameOptions)
	eol := "\n"
	for o.Next() {
		eol = "\x00"
	}
	if o.HasEnded() {
		return o.Status
	}
	if !program.CheckOperands(p, dirnameCommand, o.Args(), 1, -1) {
		return 1
	}
	out := program.NewOutput(p)
	for _, name := range o.Args() {
		_, _ = out.WriteString(pathname.Dir(name) + eol) // The error stays in out.
	}
	return out.Close(0)
}
