package main

import "github.com/spf13/cobra"

func newAgent(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "agent COMMAND",
		Short:   "look at what coding agents did",
		Long:    "Runs of Claude Code, Codex and Cursor are the same here: the same events, the same result.",
		Example: "agent-sandbox agent replay run.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError(cmd.CommandPath(), "unknown command %q", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newAgentReplay(a))
	return describe(cmd, exitSimple)
}
