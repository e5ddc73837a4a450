// Package cli has the root command of agent-sandbox. Its subcommands are in a package per family below it, which share
// package console.
package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Main runs the program with the arguments args, the first of which is its name, and the environment env, and returns its
// exit status. Started as a guest, it runs the guest before it creates any command.
func Main(args, env []string, stdio sandbox.Stdio) int {
	if code, ok := actAsGuest(args, env); ok {
		return code
	}
	if other := program.Choose(args[1:]); other != "" {
		_ = program.Become(other) // the command that needs it reports what is missing
	}
	return execute(context.Background(), args[1:], env, stdio)
}

// Commands returns the root command with all others, for programs that describe them. Running it prints nothing.
func Commands() *cobra.Command {
	return newTree(console.New(nil, sandbox.Stdio{Stdout: io.Discard, Stderr: io.Discard}))
}
