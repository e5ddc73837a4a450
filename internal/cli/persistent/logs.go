package persistent

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
)

// NewLogs returns the command logs.
func NewLogs(a *console.App) *cobra.Command {
	var at inventory.Place
	cmd := &cobra.Command{
		Use:               "logs [flags] NAME",
		Short:             "print the log of a sandbox",
		Long:              "One line for each start, end, command and denial.",
		Example:           "agent-sandbox logs work",
		ValidArgsFunction: inventory.CompleteNames(a),
		Args:              console.OneSandbox,
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := inventory.Find(a, args[0], at)
			if err == nil {
				_, err = k.Record(cmd.Context())
			}
			if err != nil {
				return err
			}
			log, err := k.Log(cmd.Context(), k.ID)
			if err != nil {
				return err
			}
			defer log.Close()
			return a.PrintLines(log)
		},
	}
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}
