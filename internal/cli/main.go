// Package cli has the commands of agent-sandbox.
//
// Environment, flags and printing live in this package and nowhere else.
// The rules of its user interface:
//
//   - stdout is the product, stderr is talk
//   - an error is one line, then "hint:" and one line with the fix
//   - the command inside keeps its own exit status; ours are 124 to 127 and 130
//   - colour only on a terminal, and never with NO_COLOR
package cli

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Main runs the program with the arguments args, of which the first is its name, and the environment env, and returns its
// exit status. Started as a guest it does the guest's work, before any command exists.
func Main(args, env []string, stdio sandbox.Stdio) int {
	if code, ok := actAsGuest(args, env); ok {
		return code
	}
	return run(context.Background(), args[1:], env, stdio)
}
