package system

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func printenvCommand() program.Description {
	return program.Description{
		Name: "printenv", Usage: "[OPTION]... [VARIABLE]...",
		Summary: "print the values of variables, or the whole environment",
		Help:    "  -0, --null  end lines with NUL", Run: runPrintenv,
	}
}

var printenvOptions = []getopt.Option{{Short: '0', Long: "null"}}

func runPrintenv(p *shell.Proc) int {
	o := program.NewOptions(p, printenvCommand, printenvOptions)
	o.Order, o.Wrong = getopt.RequireOrder, 2
	end := "\n"
	for o.Next() {
		end = "\x00"
	}
	if o.HasEnded() {
		return o.Status
	}
	out, status := program.NewOutput(p), 0
	if len(o.Args()) == 0 {
		for _, v := range p.Environ() {
			_, _ = out.WriteString(v + end) // The error stays in out.
		}
		return out.Close(0)
	}
	for _, name := range o.Args() {
		value, ok := p.LookupEnv(name)
		if !ok || strings.Contains(name, "=") {
			status = 1
			continue
		}
		_, _ = out.WriteString(value + end) // The error stays in out.
	}
	return out.Close(status)
}
