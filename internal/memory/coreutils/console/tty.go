// Package console holds the programs that deal with a terminal: less, watch, stty, tput and tty.
package console

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func ttyCommand() program.Description {
	return program.Description{
		Name: "tty", Usage: "[OPTION]...",
		Summary: "print the terminal that is standard input",
		Help:    "  -s, --silent, --quiet  print nothing; the exit status tells", Run: runTty,
	}
}

var ttyOptions = []getopt.Option{{Short: 's', Long: "silent"}, {Short: 's', Long: "quiet"}}

func runTty(p *shell.Proc) int {
	o := program.NewOptions(p, ttyCommand, ttyOptions)
	o.Wrong = 2
	silent := false
	for o.Next() {
		silent = true
	}
	if o.HasEnded() {
		return o.Status
	}
	if args := o.Args(); len(args) > 0 {
		return program.UsageError(p, ttyCommand, 2, "extra operand %s", quoting.Name(args[0]))
	}
	terminal := program.IsTerminal(p.Stdin)
	status := 1
	if terminal {
		status = 0
	}
	if silent {
		return status
	}
	name := "not a tty"
	if terminal {
		name = "/dev/tty"
	}
	if s := program.PrintLine(p, name); s != 0 {
		return s
	}
	return status
}
