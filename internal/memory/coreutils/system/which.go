package system

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func whichCommand() program.Description {
	return program.Description{
		Name: "which", Usage: "[-as] PROGRAM...",
		Summary: "print the paths of programs",
		Help: `  -a  all of that name in PATH, not only the first
  -s  print nothing; the exit status tells`,
		Run: runWhich,
	}
}

var whichOptions = []getopt.Option{{Short: 'a'}, {Short: 's'}}

func runWhich(p *shell.Proc) int {
	o := program.NewOptions(p, whichCommand, whichOptions)
	o.Wrong = 2
	all, silent := false, false
	for o.Next() {
		all = all || o.ID == 'a'
		silent = silent || o.ID == 's'
	}
	if o.HasEnded() {
		return o.Status
	}
	out, status := program.NewOutput(p), 0
	if len(o.Args()) == 0 {
		status = 1
	}
	for _, name := range o.Args() {
		if err := p.Spend(8); err != nil {
			return p.Status(err)
		}
		paths := program.FindAll(p, nil, name, "")
		if len(paths) == 0 {
			status = 1
			continue
		}
		if !all {
			paths = paths[:1]
		}
		if !silent {
			_, _ = out.WriteString(strings.Join(paths, "\n") + "\n") // The error stays in out.
		}
	}
	return out.Close(status)
}
