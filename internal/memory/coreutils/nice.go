package coreutils

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func niceCommand() description {
	return description{
		Name: "nice", Usage: "[OPTION] [COMMAND [ARG]...]",
		Summary: "run a command; processes here have no priorities, so nothing comes of the adjustment",
		Help:    "  -n, --adjustment=N  what would be added to the priority; 10 without this", Run: runNice,
	}
}

var niceOptions = []getopt.Option{{Short: 'n', Long: "adjustment", Arg: getopt.Required}}

func runNice(p *shell.Proc) int {
	// The old form -5 is -n 5.
	args := p.Args
	for len(args) > 1 && len(args[1]) > 1 && args[1][0] == '-' && digits(strings.TrimLeft(args[1][1:], "+-")) > 0 {
		args = append([]string{args[0], "-n", args[1][1:]}, args[2:]...)
		break
	}
	o := newOptions(p, niceCommand, niceOptions)
	o.Parser = getopt.New(args, niceOptions)
	o.Order, o.Wrong = getopt.RequireOrder, statusEnv
	given := false
	for o.Next() {
		if _, err := strconv.ParseInt(strings.TrimPrefix(o.Value, "+"), 10, 64); err != nil {
			o.RejectQuietly("invalid adjustment %s", quoteLocaleName(o.Value))
		}
		given = true
	}
	if o.Ended() {
		return o.Status
	}
	command := o.Args()
	if len(command) == 0 {
		if given {
			return usageError(p, niceCommand, statusEnv, "a command must be given with an adjustment")
		}
		return printLine(p, "0")
	}
	path, status := programFor(p, nil, command[0], "")
	if path == "" {
		return status
	}
	return p.Run(shell.Spawn{Args: command})
}
