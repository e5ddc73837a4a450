package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func dirnameCommand() description {
	return description{
		Name: "dirname", Usage: "[OPTION] NAME...",
		Summary: "print names without their last element; . when nothing is left",
		Help:    "  -z, --zero  end lines with NUL",
		Run:     runDirname,
	}
}

var dirnameOptions = []getopt.Option{{Short: 'z', Long: "zero"}}

func runDirname(p *shell.Proc) int {
	o := newOptions(p, dirnameCommand, dirnameOptions)
	eol := "\n"
	for o.Next() {
		eol = "\x00"
	}
	if o.Ended() {
		return o.Status
	}
	if !checkOperands(p, dirnameCommand, o.Args(), 1, -1) {
		return 1
	}
	out := newOutput(p)
	for _, name := range o.Args() {
		_, _ = out.WriteString(dirName(name) + eol) // The error stays in out.
	}
	return out.Close(0)
}
