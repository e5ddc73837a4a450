package coreutils

import "github.com/seed434b0696/agent-sandbox/memory/shell"

// archiveCommands are the programs that pack and compress, sorted by name.
var archiveCommands = []func() shell.Command{
	bzip2Command,
	gunzipCommand,
	gzipCommand,
	tarCommand,
	unzipCommand,
	xzCommand,
	zcatCommand,
	zipCommand,
	zipinfoCommand,
	zstdCommand,
}
