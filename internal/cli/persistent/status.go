package persistent

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
)

// NewStatus returns the command status.
func NewStatus(a *console.App) *cobra.Command {
	var at inventory.Place
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "status [flags] NAME",
		Short:             "show a sandbox's status",
		Example:           "agent-sandbox status work\nagent-sandbox status --json work | jq .running",
		ValidArgsFunction: inventory.CompleteNames(a),
		Args:              console.OneSandbox,
		RunE: func(cmd *cobra.Command, args []string) error {
			return printStatus(cmd.Context(), a, args[0], at, asJSON)
		},
	}
	at.Register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}

func printStatus(ctx context.Context, a *console.App, name string, at inventory.Place, asJSON bool) error {
	k, err := inventory.Find(a, name, at)
	if err != nil {
		return err
	}
	record, err := k.Record(ctx)
	if err != nil {
		return err
	}
	doc := queryDocument(ctx, k, record)
	if asJSON {
		return a.PrintJSON(doc)
	}
	printSandboxes(a, []document{doc})
	return nil
}
