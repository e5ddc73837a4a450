package system

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Commands returns the programs of this package. The slice is the caller's.
func Commands() []shell.Command {
	return program.Commands(
		archCommand,
		bracketCommand,
		echoCommand,
		envCommand,
		falseCommand,
		getentCommand,
		getoptCommand,
		groupsCommand,
		hostidCommand,
		hostnameCommand,
		idCommand,
		killCommand,
		lognameCommand,
		mcookieCommand,
		niceCommand,
		nohupCommand,
		nprocCommand,
		printenvCommand,
		psCommand,
		setsidCommand,
		sleepCommand,
		testCommand,
		timeCommand,
		timeoutCommand,
		trueCommand,
		unameCommand,
		usersCommand,
		uuidgenCommand,
		whichCommand,
		whoCommand,
		whoamiCommand,
		yesCommand,
	)
}
