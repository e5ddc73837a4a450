// Package assistants has the commands agent, skill and mcp.
package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// NewAgent returns the command agent, with its subcommands.
func NewAgent(a *console.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "agent COMMAND",
		Short: "run, list and check assistants",
		Long: `An assistant is a directory: a model, prompts, skills, tools and hooks. Its model is
called directly, or works as a coding agent in a sandbox.
Runs of Claude Code, Codex and Cursor are the same here: the same events, the same result.`,
		Example: `agent-sandbox agent list
agent-sandbox agent run qa "what is a monad?"
agent-sandbox agent replay run.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.UsageError(cmd.CommandPath(), "unknown command %q", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newAgentRun(a), newAgentList(a), newAgentValidate(a), newAgentChats(a), newAgentUsage(a), newAgentAudit(a), newAgentPrune(a), newAgentReplay(a))
	return console.Describe(cmd, console.ExitSimple)
}
