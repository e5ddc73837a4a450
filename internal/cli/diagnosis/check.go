package diagnosis

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
)

// NewCheck returns the command check.
func NewCheck(a *console.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "report whether this process runs in a sandbox",
		Example: "agent-sandbox check && echo already inside\nagent-sandbox exec -- agent-sandbox check",
		Args:    console.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			in := host.IsInside()
			switch {
			case asJSON:
				if err := a.PrintJSON(map[string]bool{"inside": in}); err != nil {
					return err
				}
			case in:
				fmt.Fprintln(a.Out, "inside sandbox")
			default:
				fmt.Fprintln(a.Out, "outside sandbox")
			}
			if !in {
				return console.ExitStatus(1)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, `  0    inside a sandbox
  1    outside
  125  something went wrong`)
}
