package system

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func niceCommand() program.Description {
	return program.Description{
		Name: "nice", Usage: "[OPTION] [COMMAND [ARG]...]",
		Summary: "run a command; processes here have no priorities, so nothing comes of the adjustment",
		Help:    "  -n, --adjustment=N  what would be added to the priority; 10 without this", Run: runNice,
	}
}

var niceOptions = []getopt.Option{{Short: 'n', Long: "adjustment", Arg: getopt.Required}}

func runNice(p *shell.Proc) int {
	// The old form -5 is -n 5.
	args := p.Args
	for len(args) > 1 && len(args[1]) > 1 && args[1][0] == '-' && ascii.CountDigits(strings.TrimLeft(args[1][1:], "+-")) > 0 {
		args = append([]string{args[0], "-n", args[1][1:]}, args[2:]...)
		break
	}
	o := program.NewOptions(p, niceCommand, niceOptions)
	o.Parser = getopt.New(args, niceOptions)
	o.Order, o.Wrong = getopt.RequireOrder, program.StatusFailed
	given := false
	for o.Next() {
		if _, err := strconv.ParseInt(strings.TrimPrefix(o.Value, "+"), 10, 64); err != nil {
			o.RejectQuietly("invalid adjustment %s", quoting.Name(o.Value))
		}
		given = true
	}
	if o.HasEnded() {
		return o.Status
	}
	command := o.Args()
	if len(command) == 0 {
		if given {
			return program.UsageError(p, niceCommand, program.StatusFailed, "a command must be given with an adjustment")
		}
		return program.PrintLine(p, "0")
	}
	path, status := program.FindOrWarn(p, nil, command[0], "")
	if path == "" {
		return status
	}
	return p.Run(shell.Spawn{Args: command})
}
