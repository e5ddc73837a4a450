package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// NewSkill returns the command skill, with its subcommands.
func NewSkill(a *console.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill COMMAND",
		Short: "list, show and check skills",
		Long: `A skill is a directory with a SKILL.md (agentskills.io): what it is for, then
instructions. Skills are found in .agents/skills and .claude/skills of the project
and of the home; of two with one name the project's wins. Nothing of a skill is run.`,
		Example: `agent-sandbox skill validate skills/*
agent-sandbox skill list
agent-sandbox skill show code-review`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.UsageError(cmd.CommandPath(), "unknown command %q", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newSkillValidate(a), newSkillList(a), newSkillShow(a))
	return console.Describe(cmd, console.ExitSimple)
}

// skillPlaces are the flags that select the places of skills.
type skillPlaces struct{ cwd, assistant string }

func (p *skillPlaces) add(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&p.cwd, "cwd", "C", "", "work in `DIR` instead of the current directory")
	cmd.Flags().StringVar(&p.assistant, "assistant", "", "search skills/ of the assistant in `DIR`, too, before the others")
}

func newSkillList(a *console.App) *cobra.Command {
	var places skillPlaces
	var asJSON, prompt bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "list the skills of this project and of the home",
		Long: `Problems of a skill, and skills that another one of the same name hides, are listed on
stderr. --prompt prints what a model gets: names and descriptions only.`,
		Example: "agent-sandbox skill list\nagent-sandbox skill list --json | jq -r '.skills[].name'",
		Args: func(cmd *cobra.Command, args []string) error {
			if asJSON && prompt {
				return console.UsageError(cmd.CommandPath(), "--json contradicts --prompt")
			}
			return console.NoArgs(cmd, args)
		},
		RunE: func(*cobra.Command, []string) error { return listSkills(a, &places, asJSON, prompt) },
	}
	places.add(cmd)
	cmd.Flags().BoolVar(&prompt, "prompt", false, "print the skills as models see them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}
