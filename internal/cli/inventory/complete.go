package inventory

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// Names returns the names of the persistent sandboxes known on this machine, or of those in the cluster that the
// flags of cmd name. It leaves out unreadable records.
func Names(a *console.App, cmd *cobra.Command) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	records, _ := Records(ctx, a, PlaceOf(cmd)) // completion ignores unreadable records
	var names []string
	for _, r := range records {
		names = append(names, r.ID)
	}
	return names
}

// CompleteNames completes every argument with the names of persistent sandboxes.
func CompleteNames(a *console.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return Names(a, cmd), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteName completes the first argument with the names of persistent sandboxes.
func CompleteName(a *console.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return Names(a, cmd), cobra.ShellCompDirectiveNoFileComp
	}
}
