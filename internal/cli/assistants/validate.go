package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

func newAgentValidate(a *console.App) *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "validate [flags] [NAME...]",
		Short: "check assistants and connectors",
		Long: rootText + `
Without a NAME all of them are checked, and all connectors. Each problem is a line:
FILE:LINE: KEY: what was found, what was expected (the fix). Warnings change nothing.
For a valid assistant the next lines say what runs it, and what is missing here: a
backend, an image, the agent's program, a key. Missing parts do not change the exit status.
This runs nothing of an assistant, fetches no key and contacts no server.`,
		Example: "agent-sandbox agent validate\nagent-sandbox agent validate --root examples/assistants coder",
		RunE:    func(cmd *cobra.Command, args []string) error { return validateAssistants(cmd.Context(), a, root, args) },
	}
	cmd.ValidArgsFunction = completeAssistants(a, &root)
	addRootFlag(cmd, &root)
	return console.Describe(cmd, `  0    all are valid
  1    at least one is not, or a connector is not
  125  something went wrong`)
}
