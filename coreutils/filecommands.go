package coreutils

import "github.com/seed434b0696/agent-sandbox/shell"

// fileCommands are the programs about files, times, users and processes, sorted by name.
var fileCommands = []func() shell.Command{
	basenameCommand,
	rmCommand,
	mvCommand,
	chgrpCommand,
	chmodCommand,
	chownCommand,
	cpCommand,
	dateCommand,
	dirCommand,
	dirnameCommand,
	hostnameCommand,
	linkCommand,
	lnCommand,
	lsCommand,
	mkdirCommand,
	mkfifoCommand,
	mktempCommand,
	pwdCommand,
	readlinkCommand,
	realpathCommand,
	rmdirCommand,
	touchCommand,
	truncateCommand,
	unlinkCommand,
	vdirCommand,
}
