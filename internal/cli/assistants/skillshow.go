package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

func newSkillShow(a *console.App) *cobra.Command {
	var places skillPlaces
	var asJSON, prompt bool
	cmd := &cobra.Command{
		Use:   "show [flags] NAME|PATH",
		Short: "show a skill: its frontmatter, instructions and files",
		Long: `An argument with a slash, or . or .., is a PATH: a directory or a SKILL.md. Any other
is the NAME of a skill that 'skill list' finds. With --prompt, what a model sees
when it uses the skill.`,
		Example: "agent-sandbox skill show code-review\nagent-sandbox skill show ./skills/deploy\nagent-sandbox skill show --prompt code-review",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return console.UsageError(cmd.CommandPath(), "expected one skill, got %d", len(args))
			case asJSON && prompt:
				return console.UsageError(cmd.CommandPath(), "--json contradicts --prompt")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return showSkill(a, &places, args[0], asJSON, prompt) },
	}
	cmd.ValidArgsFunction = completeSkills(a, &places)
	places.add(cmd)
	cmd.Flags().BoolVar(&prompt, "prompt", false, "print the skill as models see it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}
