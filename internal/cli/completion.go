package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

func newCompletion(a *console.App) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print a completion script for a shell",
		Example: `. <(agent-sandbox completion bash)
agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return console.UsageError(cmd.CommandPath(), "expected one of bash, zsh, fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.Out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.Out)
			default:
				return cmd.Root().GenFishCompletion(a.Out, true)
			}
		},
	}
	return console.Describe(cmd, console.ExitSimple)
}
