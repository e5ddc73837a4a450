package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

func newVersion(a *console.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  console.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.PrintJSON(console.CurrentBuild())
			}
			fmt.Fprintln(a.Out, console.CurrentBuild())
			return nil
		},
		Example: "agent-sandbox version\nagent-sandbox version --json",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}
