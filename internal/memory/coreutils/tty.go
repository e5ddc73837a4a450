package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func ttyCommand() description {
	return description{
		Name: "tty", Usage: "[OPTION]...",
		Summary: "print the terminal that is standard input",
		Help:    "  -s, --silent, --quiet  print nothing; the exit status tells", Run: runTty,
	}
}

var ttyOptions = []getopt.Option{{Short: 's', Long: "silent"}, {Short: 's', Long: "quiet"}}

func runTty(p *shell.Proc) int {
	o := newOptions(p, ttyCommand, ttyOptions)
	o.Wrong = 2
	silent := false
	for o.Next() {
		silent = true
	}
	if o.Ended() {
		return o.Status
	}
	if args := o.Args(); len(args) > 0 {
		return usageError(p, ttyCommand, 2, "extra operand %s", quoteLocaleName(args[0]))
	}
	terminal := isTerminal(p.Stdin)
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
	if s := printLine(p, name); s != 0 {
		return s
	}
	return status
}
