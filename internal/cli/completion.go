package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/policy"
)

func newCompletion(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "print a completion script for a shell",
		Example: `. <(agent-sandbox completion bash)
agent-sandbox completion fish > ~/.config/fish/completions/agent-sandbox.fish`,
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return usageError(cmd.CommandPath(), "expected one of bash, zsh, fish")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.out, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.out)
			default:
				return cmd.Root().GenFishCompletion(a.out, true)
			}
		},
	}
	return describe(cmd, exitSimple)
}

// completeCommand completes the name of the command to run from PATH; its
// arguments are files to us.
func completeCommand(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || strings.Contains(prefix, "/") || !cmd.HasParent() {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(dir) // what cannot be read has nothing to offer
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) {
				names = append(names, e.Name())
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveDefault
}

func noChoice() []string { return nil }

// completeFlags completes the values of the flags that have a fixed choice.
func completeFlags(cmd *cobra.Command) {
	choices := map[string]func() []string{
		"backend": func() []string { return known },
		"network": func() []string { return []string{"none", "host"} },
		"preset":  policy.PresetNames,
		// Nothing to offer, and no names of files either.
		"allow": noChoice, "deny": noChoice, "private-host": noChoice, "publish": noChoice, "secret": noChoice,
		"context": noChoice, "namespace": noChoice, "storage": noChoice, "storage-class": noChoice,
		"limit": func() []string {
			var out []string
			for _, name := range limitNames {
				out = append(out, name+"=")
			}
			return out
		},
	}
	for name, values := range choices {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		complete := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return values(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		if err := cmd.RegisterFlagCompletionFunc(name, complete); err != nil {
			panic(err) // only for a flag that does not exist or has one already
		}
	}
}
