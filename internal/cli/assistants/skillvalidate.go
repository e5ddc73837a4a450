package assistants

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// skillVerdict is what skill validate says of one path, as JSON.
type skillVerdict struct {
	Path     string          `json:"path"`
	Valid    bool            `json:"valid"`
	Problems []skill.Problem `json:"problems"`
}

func newSkillValidate(a *console.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate [flags] PATH...",
		Short: "check skills",
		Long: `PATH is a skill's directory or its SKILL.md. The verdict is that of the format's
reference validator; warnings do not change it. Each problem is a line:
FILE:LINE: error or warning: what is wrong.`,
		Example: "agent-sandbox skill validate .claude/skills/*\nagent-sandbox skill validate --json . | jq '.[].valid'",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.UsageError(cmd.CommandPath(), "no skill was named")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			verdicts, all := []skillVerdict{}, true
			for _, path := range args {
				problems := append([]skill.Problem{}, skill.Validate(path)...)
				v := skillVerdict{Path: path, Valid: skill.Valid(problems), Problems: problems}
				verdicts, all = append(verdicts, v), all && v.Valid
			}
			if err := printVerdicts(a, verdicts, asJSON); err != nil {
				return err
			}
			if !all {
				return console.ExitStatus(1)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, `  0    all are valid
  1    at least one is not
  125  something went wrong`)
}

func printVerdicts(a *console.App, verdicts []skillVerdict, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(verdicts)
	}
	for _, v := range verdicts {
		for _, p := range v.Problems {
			fmt.Fprintln(a.Out, console.Escape(p.String()))
		}
		if v.Valid {
			fmt.Fprintf(a.Out, "%s: valid\n", console.Escape(v.Path))
		}
	}
	return a.Out.Err
}
