package assistants

import "github.com/spf13/cobra"

// rootText is the part of commands' help that says where assistants are found.
const rootText = `Assistants are found in --root, else in the current directory when it has an
assistants directory, else in .agent-sandbox below it, else in the user's own
configuration, $XDG_CONFIG_HOME/agent-sandbox. Only the last one is trusted; what
comes from elsewhere runs after 'agent-sandbox trust' has recorded it.`

// addRootFlag adds --root to a command.
func addRootFlag(cmd *cobra.Command, root *string) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(root, "root", "", "find assistants and connectors in `DIR`")
}
