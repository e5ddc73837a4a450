package files

import (
	"io"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

// OwnCommand recognizes the command line of an operation on files, so that the supervisor carries it out without a process:
// the supervisor has the same rights as a command.
func OwnCommand(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool) {
	if len(args) < 2 || args[0] != layout.Program || args[1] != command {
		return nil, false
	}
	args = slices.Clone(args[2:])
	for i := range args {
		if i == 1 || i == 2 && args[0] == opRename {
			args[i] = below(dir, args[i])
		}
	}
	return func(in io.Reader, out, errs io.Writer) int { return Serve(args, in, out, errs) }, true
}

// below makes a name absolute as the kernel would: without cleaning it, because ".." after a link is not
// what it seems.
func below(dir, name string) string {
	if name == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return dir + "/" + name
}
