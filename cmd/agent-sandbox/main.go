// Command agent-sandbox runs commands that nobody has read inside a sandbox.
//
// Environment, flags, exit and printing live in this package and nowhere else.
// The rules of its user interface:
//
//   - stdout is the product, stderr is talk
//   - an error is one line, then "hint:" and one line with the fix
//   - the command inside keeps its own exit status; ours are 124 to 127 and 130
//   - colour only on a terminal, and never with NO_COLOR
package main

import (
	"context"
	"os"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func main() {
	if code, ok := actAsGuest(os.Args, os.Environ()); ok {
		os.Exit(code)
	}
	if code, ok := actAsWorker(os.Args); ok {
		os.Exit(code)
	}
	stdio := sandbox.Stdio{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(run(context.Background(), os.Args[1:], os.Environ(), stdio))
}
