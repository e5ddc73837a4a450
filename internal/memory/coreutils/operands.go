package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// checkOperands says what is wrong with the number of operands; most below 0 is without end.
// It returns false after the message, with status 1.
func checkOperands(p *shell.Proc, describe func() description, args []string, least, most int) bool {
	switch {
	case len(args) >= least && (most < 0 || len(args) <= most):
		return true
	case len(args) == 0:
		usageError(p, describe, 1, "missing operand")
	case len(args) < least:
		usageError(p, describe, 1, "missing operand after %s", quoteLocaleName(args[len(args)-1]))
	default:
		usageError(p, describe, 1, "extra operand %s", quoteLocaleName(args[most]))
	}
	return false
}
