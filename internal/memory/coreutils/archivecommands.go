package coreutils

// archiveCommands are the programs that pack and compress, sorted by name.
var archiveCommands = []func() description{
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
