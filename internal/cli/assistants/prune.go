package assistants

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// pruneFlags are the flags of agent prune.
type pruneFlags struct {
	olderThan, history time.Duration
	dryRun, json       bool
}

func newAgentPrune(a *console.App) *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{
		Use:   "prune [flags]",
		Short: "remove the workspaces of chats that are not used any more",
		Long: `Removes workspaces that were not used for a week, or for assistants.workspace_retention
of the configuration, and never one in use. Chats and their messages stay, except with
--history; the records of costs always stay. 'agent run' does the same once a day, after
three o'clock at night, or by assistants.cleanup_schedule.`,
		Example: `agent-sandbox agent prune --dry-run
agent-sandbox agent prune --older-than 24h --history 2160h`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.olderThan < 0 || f.history < 0 {
				return console.UsageError(cmd.CommandPath(), "--older-than and --history are not negative")
			}
			return console.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return pruneAgents(cmd.Context(), a, f) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().DurationVar(&f.olderThan, "older-than", 0, "workspaces that were not used for this `DURATION`, as in 36h;\n0 means that of the configuration, or a week")
	cmd.Flags().DurationVar(&f.history, "history", 0, "chats, too, that were not used for this `DURATION`;\n0 means none")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "print what would be removed")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}
