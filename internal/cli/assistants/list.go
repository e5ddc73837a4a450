package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

func newAgentList(a *console.App) *cobra.Command {
	var root string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list [flags]",
		Short:   "list the assistants",
		Long:    rootText + "\nThis runs nothing of an assistant. It counts problems; 'agent validate' lists them.",
		Example: "agent-sandbox agent list\nagent-sandbox agent list --json | jq '.assistants[] | select(.trusted | not) | .file'",
		Args:    console.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return listAssistants(a, root, asJSON) },
	}
	addRootFlag(cmd, &root)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}
