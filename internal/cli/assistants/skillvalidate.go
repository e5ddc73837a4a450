package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

func newSkillValidate(a *console.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate [flags] PATH...",
		Short: "check skills",
		Long: `PATH is a skill's directory or its SKILL.md. The verdict is that of the format's
reference validator; warnings do not change it. Each problem is a line:
FILE:LINE: error or warning: what is wrong.`,
		Example: "agent-sandbox skill validate .claude/skills/*\nagent-sandbox skill validate --json skills/review | jq '.[].valid'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.UsageError(cmd.CommandPath(), "no skill was named")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return validateSkills(a, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, `  0    all are valid
  1    at least one is not
  125  something went wrong`)
}
