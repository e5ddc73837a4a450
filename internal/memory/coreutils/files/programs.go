package files

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Commands returns the programs of this package. The slice is the caller's.
func Commands() []shell.Command {
	return program.Commands(
		basenameCommand,
		chgrpCommand,
		chmodCommand,
		chownCommand,
		clearCommand,
		cpCommand,
		ddCommand,
		dirnameCommand,
		installCommand,
		linkCommand,
		lnCommand,
		mkdirCommand,
		mkfifoCommand,
		mktempCommand,
		mvCommand,
		pathchkCommand,
		pwdCommand,
		readlinkCommand,
		realpathCommand,
		rmCommand,
		rmdirCommand,
		syncCommand,
		touchCommand,
		truncateCommand,
		unlinkCommand,
	)
}
