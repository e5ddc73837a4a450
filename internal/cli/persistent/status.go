package persistent

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
)

// NewStatus returns the command status.
func NewStatus(a *console.App) *cobra.Command {
	var at inventory.Place
	var f repository.Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [flags] [NAME]",
		Short: "show a sandbox's status",
		Long: `Without NAME it is the sandbox of the working directory's repository, or with --branch
that of a branch. Of a pod it also shows the node, the phase, the conditions, and the
containers with their restarts, as the cluster reports them.`,
		Example:           "agent-sandbox status work\nagent-sandbox status --json work | jq .running",
		ValidArgsFunction: inventory.CompleteNames(a),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && at == (inventory.Place{}) && repository.IsInitialisedHere() {
				return f.Check()
			}
			if f.IsSet() {
				return console.UsageError(cmd.CommandPath(), "--branch is for the working directory's repository, which 'agent-sandbox init' prepares")
			}
			return console.OneSandbox(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return printStatus(cmd.Context(), a, args[0], at, asJSON)
			}
			r, err := repository.At(a, "")
			if err != nil {
				return err
			}
			return printStatus(cmd.Context(), a, r.Container(f.Branch), at, asJSON)
		},
	}
	f.Register(cmd, false)
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
	if doc.Pod, err = inventory.QueryPod(ctx, k); err != nil && doc.Problem == "" {
		doc.Problem = err.Error()
	}
	if asJSON {
		return a.PrintJSON(doc)
	}
	printSandboxes(a, []document{doc})
	if doc.Pod == nil {
		return nil
	}
	for _, rows := range doc.Pod.Tables() {
		if len(rows) > 1 {
			fmt.Fprintln(a.Out)
			a.PrintColumns(rows)
		}
	}
	return nil
}
