package coreutils

import (
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func whoamiCommand() description {
	return description{
		Name: "whoami", Usage: "[OPTION]...", Summary: "print the name of who runs this", Run: runWhoami,
	}
}

func lognameCommand() description {
	return description{
		Name: "logname", Usage: "[OPTION]", Summary: "print the name of who logged in", Run: runLogname,
	}
}

// noOperands reads the options of a command that has none of its own; done tells that it
// has ended.
func noOperands(p *shell.Proc, describe func() description) (status int, done bool) {
	o := newOptions(p, describe, nil)
	for o.Next() {
		continue
	}
	if o.Ended() {
		return o.Status, true
	}
	if args := o.Args(); len(args) > 0 {
		return usageError(p, describe, 1, "extra operand %s", quoteLocaleName(args[0])), true
	}
	return 0, false
}

// printLine writes a line and returns the exit status.
func printLine(p *shell.Proc, s string) int {
	out := newOutput(p)
	_, _ = out.WriteString(s + "\n") // The error stays in out.
	return out.Close(0)
}

func runWhoami(p *shell.Proc) int {
	if status, done := noOperands(p, whoamiCommand); done {
		return status
	}
	e, ok := byID(newAccounts(p).allUsers(), p.Cred().UID)
	if !ok {
		p.Warn("cannot find name for user ID %d", p.Cred().UID)
		return 1
	}
	return printLine(p, e.name)
}

// runLogname says that nobody logged in: there is no terminal that somebody could have done it at.
func runLogname(p *shell.Proc) int {
	if status, done := noOperands(p, lognameCommand); done {
		return status
	}
	if name := p.Getenv("LOGNAME"); name != "" && isTerminal(p.Stdin) {
		return printLine(p, name)
	}
	p.Warn("no login name")
	return 1
}
