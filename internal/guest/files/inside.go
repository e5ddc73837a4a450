package files

import (
	"io"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

// OwnCommand recognizes the command line of an operation on files, so that the supervisor executes it without a
// process. The supervisor has the same rights as a command.
func OwnCommand(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool) {
	if len(args) < 2 || args[0] != layout.Program || args[1] != command {
		return nil, false
	}
	args = slices.Clone(args[2:])
	for i := range args {
		if i == 1 || i == 2 && args[0] == opRename {
			args[i] = joinPath(dir, args[i])
		}
	}
	return func(in io.Reader, out, errs io.Writer) int { return Serve(args, in, out, errs) }, true
}

// joinPath makes a name absolute as the kernel would. It does not clean the name, because ".." after a link may
// lead elsewhere.
func joinPath(dir, name string) string {
	if name == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return dir + "/" + name
}
