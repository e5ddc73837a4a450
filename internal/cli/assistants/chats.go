package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// chatFlags are the flags of agent chats.
type chatFlags struct {
	user, assistant, chat string
	remove, json          bool
}

func newAgentChats(a *console.App) *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chats [flags] [CHAT]",
		Short: "list the chats with assistants, print one, or remove it",
		Long: `With a CHAT, prints its messages, indented and with control characters escaped.
--remove deletes the chat's messages, the memory of its hooks, and its workspace; the
records of its cost stay.`,
		Example: `agent-sandbox agent chats --user ann
agent-sandbox agent chats refactoring
agent-sandbox agent chats --remove refactoring`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.remove && f.json:
				return console.UsageError(cmd.CommandPath(), "--json contradicts --remove")
			case f.remove && len(args) != 1:
				return console.UsageError(cmd.CommandPath(), "--remove takes one chat")
			}
			return console.ArgsBetween(0, 1, "at most one chat")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.chat = args[0]
			}
			return manageChats(cmd.Context(), a, f)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&f.user, "user", "", "those of one `USER`")
	cmd.Flags().StringVar(&f.assistant, "assistant", "", "those with one assistant, by its `NAME`")
	cmd.Flags().BoolVar(&f.remove, "remove", false, "remove CHAT")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}
