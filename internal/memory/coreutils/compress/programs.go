package compress

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Commands returns the programs of this package. The slice is the caller's.
func Commands() []shell.Command {
	return program.Commands(
		bzip2Command,
		gunzipCommand,
		gzipCommand,
		xzCommand,
		zcatCommand,
		zstdCommand,
	)
}
