package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func noChoice() []string { return nil }

// completeFlags completes the values of the flags of cmd and its subcommands that have a fixed choice.
func completeFlags(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		completeFlags(sub)
	}
	choices := map[string]func() []string{
		"backend": func() []string { return host.Names },
		"network": func() []string { return []string{"none", "host"} },
		"preset":  policy.PresetNames,
		"tmp":     func() []string { return []string{sandbox.TmpKeep, sandbox.TmpFresh} },
		// Suppress the completion of file names too.
		"allow": noChoice, "deny": noChoice, "private-host": noChoice, "publish": noChoice, "secret": noChoice,
		"context": noChoice, "namespace": noChoice, "storage": noChoice, "storage-class": noChoice,
		"limit": func() []string {
			var out []string
			for _, name := range host.LimitNames {
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
			panic(err) // only if the flag is missing or already has a completion
		}
	}
}
