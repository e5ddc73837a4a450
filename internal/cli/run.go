package cli

import (
	"strings"

	"context"
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// run is the whole command: it returns the exit status and never exits.
func run(ctx context.Context, args, env []string, stdio sandbox.Stdio) int {
	a := newApp(env, stdio)
	root := newRoot(a)
	root.SetArgs(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completeFlags(root)
	}
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.out.err
	}
	return a.status(err)
}
