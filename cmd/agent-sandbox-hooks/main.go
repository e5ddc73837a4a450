// Command agent-sandbox-hooks runs the hooks of assistants. agent-sandbox starts it with pipes for stdin and stdout, sends
// it scripts, and keeps it for the next ones. See package interpreter.
package main

import (
	"fmt"
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/interpreter"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func main() {
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, "agent-sandbox-hooks: unexpected argument %q\nhint: agent-sandbox starts this program; run 'agent-sandbox agent run' instead\n", os.Args[1])
		os.Exit(sandbox.ExitFailed)
	}
	if err := interpreter.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(sandbox.ExitFailed)
	}
}
