package cli

import (
	"context"

	"github.com/spf13/cobra"
)

func newStatus(a *app) *cobra.Command {
	var at keptAt
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "status [flags] NAME",
		Short:             "tell how a sandbox is",
		Example:           "agent-sandbox status work\nagent-sandbox status --json work | jq .running",
		ValidArgsFunction: a.completeNames(),
		Args:              oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.statusOf(cmd.Context(), args[0], at, asJSON)
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}

func (a *app) statusOf(ctx context.Context, name string, at keptAt, asJSON bool) error {
	k, err := a.findKept(name, at)
	if err != nil {
		return err
	}
	record, err := k.record(ctx)
	if err != nil {
		return err
	}
	doc := document(ctx, k, record)
	if asJSON {
		return a.printJSON(doc)
	}
	a.printKept([]keptDocument{doc})
	return nil
}
