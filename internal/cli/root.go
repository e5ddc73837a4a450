package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/persistent"
	"github.com/seed434b0696/agent-sandbox/internal/cli/run"
)

// newTree returns the root command with all others.
func newTree(a *console.App) *cobra.Command {
	root := run.NewExecLike(a, "agent-sandbox")
	configure(root, a)
	root.Short = "run commands of coding agents in isolation"
	root.Long = `A command can write to the current directory only; secrets, sockets and the network are out of
reach, unless a policy allows them.`
	root.Example = `agent-sandbox -- make test
agent-sandbox exec --allow example.com curl https://example.com`
	root.Use = "agent-sandbox [flags] -- COMMAND [ARG...]"
	root.SuggestionsMinimumDistance = 2
	root.Flags().Bool("version", false, "print the version, as -v alone does")
	all := families(a)
	for _, f := range all {
		root.AddGroup(&cobra.Group{ID: f.id, Title: f.title})
		for _, r := range f.rows {
			for _, cmd := range r.commands {
				cmd.GroupID = f.id
			}
			root.AddCommand(r.commands...)
		}
	}
	root.AddCommand(persistent.NewKeeper(a))
	root.SetHelpCommand(newHelp())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd == root {
			printRootHelp(a.Out, root, all)
			return
		}
		console.PrintHelp(a.Out, cmd)
	})
	return root
}

// newExecTree returns a root command that has only exec.
func newExecTree(a *console.App) *cobra.Command {
	root := &cobra.Command{Use: "agent-sandbox"}
	configure(root, a)
	root.AddCommand(run.NewExec(a))
	root.SetHelpCommand(newHelp())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { console.PrintHelp(a.Out, cmd) })
	return root
}

// configure sets what does not depend on the commands that a root command has.
func configure(root *cobra.Command, a *console.App) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(a.Out)
	root.SetErr(a.Stdio.Stderr)
	root.SetFlagErrorFunc(console.FlagError)
}

// newHelp makes "agent-sandbox help exec" mean "agent-sandbox exec --help".
func newHelp() *cobra.Command {
	cmd := &cobra.Command{
		Use:    "help [COMMAND]",
		Short:  "print the help of a command",
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return console.UsageError("agent-sandbox", "no command %q", strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
	return console.Describe(cmd, console.ExitSimple)
}
