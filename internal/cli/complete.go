package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// namesOf returns the names of the persistent sandboxes that this machine knows, or of those in the cluster that the
// flags of cmd name. Records that cannot be read are left out.
func (a *app) namesOf(cmd *cobra.Command) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
	defer cancel()
	records, _ := a.keptRecords(ctx, keptAtOf(cmd)) // completion offers what it can read
	var names []string
	for _, r := range records {
		names = append(names, r.ID)
	}
	return names
}

// completeNames completes every argument with the names of persistent sandboxes.
func (a *app) completeNames() cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return a.namesOf(cmd), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeName completes the first argument with the names of persistent sandboxes.
func (a *app) completeName() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.namesOf(cmd), cobra.ShellCompDirectiveNoFileComp
	}
}
