package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(currentBuild())
			}
			fmt.Fprintln(a.out, currentBuild())
			return nil
		},
		Example: "agent-sandbox version\nagent-sandbox version --json",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}
