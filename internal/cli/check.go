package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCheck(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "check",
		Short:   "tell whether this runs inside a sandbox",
		Example: "agent-sandbox check && echo already inside\nagent-sandbox exec -- agent-sandbox check",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			in := inside()
			switch {
			case asJSON:
				if err := a.printJSON(map[string]bool{"inside": in}); err != nil {
					return err
				}
			case in:
				fmt.Fprintln(a.out, "inside sandbox")
			default:
				fmt.Fprintln(a.out, "outside sandbox")
			}
			if !in {
				return exitStatus(1)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, `  0    inside a sandbox
  1    outside
  125  something went wrong`)
}
