package system

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func whoamiCommand() program.Description {
	return program.Description{
		Name: "whoami", Usage: "[OPTION]...", Summary: "print the name of who runs this", Run: runWhoami,
	}
}

func lognameCommand() program.Description {
	return program.Description{
		Name: "logname", Usage: "[OPTION]", Summary: "print the name of who logged in", Run: runLogname,
	}
}

func runWhoami(p *shell.Proc) int {
	if status, done := program.NoOperands(p, whoamiCommand); done {
		return status
	}
	e, ok := accounts.ByID(accounts.New(p).AllUsers(), p.Cred().UID)
	if !ok {
		p.Warn("cannot find name for user ID %d", p.Cred().UID)
		return 1
	}
	return program.PrintLine(p, e.Name)
}

// runLogname reports that the user has no login name, because the machine has no terminal.
func runLogname(p *shell.Proc) int {
	if status, done := program.NoOperands(p, lognameCommand); done {
		return status
	}
	if name := p.Getenv("LOGNAME"); name != "" && program.IsTerminal(p.Stdin) {
		return program.PrintLine(p, name)
	}
	p.Warn("no login name")
	return 1
}
