package program

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// CheckOperands reports a wrong number of operands; a negative most means any number.
// It returns false after the message, with status 1.
func CheckOperands(p *shell.Proc, describe func() Description, args []string, least, most int) bool {
	switch {
	case len(args) >= least && (most < 0 || len(args) <= most):
		return true
	case len(args) == 0:
		UsageError(p, describe, 1, "missing operand")
	case len(args) < least:
		UsageError(p, describe, 1, "missing operand after %s", quoting.Name(args[len(args)-1]))
	default:
		UsageError(p, describe, 1, "extra operand %s", quoting.Name(args[most]))
	}
	return false
}

// RunConstant answers --help and --version when they are alone, as GNU does.
func RunConstant(p *shell.Proc, describe func() Description, status int) int {
	if len(p.Args) != 2 {
		return status
	}
	var text string
	switch p.Args[1] {
	case "--help":
		text = describe().HelpText(p.Name())
	case "--version":
		text = describe().VersionText(p.Name())
	default:
		return status
	}
	out := NewOutput(p)
	_, _ = out.WriteString(text) // The error stays in out.
	if s := out.Close(status); s != status {
		return 1
	}
	return status
}

// NoOperands reads the options of a command that has none of its own; done reports whether it has ended.
func NoOperands(p *shell.Proc, describe func() Description) (status int, done bool) {
	o := NewOptions(p, describe, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status, true
	}
	if args := o.Args(); len(args) > 0 {
		return UsageError(p, describe, 1, "extra operand %s", quoting.Name(args[0])), true
	}
	return 0, false
}
