package assistants

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/sandbox"
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

// skillPlaces are the flags that say where skills are searched.
type skillPlaces struct{ cwd, assistant string }

func (p *skillPlaces) add(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&p.cwd, "cwd", "C", "", "work in `DIR` instead of the current directory")
	cmd.Flags().StringVar(&p.assistant, "assistant", "", "search skills/ of the assistant in `DIR`, too, before the others")
}

// find searches the usual places. The project is the innermost directory around the
// working directory that has a .git, else that directory itself.
func (p *skillPlaces) find(a *console.App) (*skill.Catalog, error) {
	h, err := host.Locate(a.Env, p.cwd)
	if err != nil {
		return nil, err
	}
	assistant := p.assistant
	if assistant != "" {
		if assistant, err = host.WorkDir(assistant); err != nil {
			return nil, sandbox.Errorf(sandbox.NotFound, "--assistant: %w", errors.Unwrap(err))
		}
	}
	return skill.Discover(skill.Sources(assistant, projectOf(h.Workspace), h.Home)...), nil
}

func projectOf(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// skillDocument is a skill as JSON.
type skillDocument struct {
	skill.Skill
	Location   string            `json:"location"` // of its SKILL.md
	Activation *skill.Activation `json:"activation,omitempty"`
	Problems   []skill.Problem   `json:"problems,omitempty"`
}

func newSkillList(a *console.App) *cobra.Command {
	var places skillPlaces
	var asJSON, prompt bool
	cmd := &cobra.Command{
		Use:   "list [flags]",
		Short: "list the skills of this project and of the home",
		Long: `What is wrong with a skill, and which one is hidden behind another of its name, is
said on stderr. With --prompt, what a model is told of the skills: names and
descriptions only.`,
		Example: "agent-sandbox skill list\nagent-sandbox skill list --json | jq -r '.skills[].name'",
		Args: func(cmd *cobra.Command, args []string) error {
			if asJSON && prompt {
				return console.UsageError(cmd.CommandPath(), "--json contradicts --prompt")
			}
			return console.NoArgs(cmd, args)
		},
		RunE: func(*cobra.Command, []string) error {
			found, err := places.find(a)
			if err != nil {
				return err
			}
			if asJSON {
				return printSkillsJSON(a, found)
			}
			saySkillProblems(a, found.Problems)
			if prompt {
				a.PrintText(found.Prompt())
				return nil
			}
			printSkills(a, found.Skills)
			return nil
		},
	}
	places.add(cmd)
	cmd.Flags().BoolVar(&prompt, "prompt", false, "print the skills as models see them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}

func printSkillsJSON(a *console.App, found *skill.Catalog) error {
	docs := []skillDocument{}
	for _, s := range found.Skills {
		docs = append(docs, skillDocument{Skill: s, Location: s.Location()})
	}
	return a.PrintJSON(map[string]any{"skills": docs, "problems": found.Problems})
}

// saySkillProblems prints a line for each on stderr.
func saySkillProblems(a *console.App, problems []skill.Problem) {
	for _, p := range problems {
		a.Err.Say(p.String())
	}
}

// printSkills prints a table. The description is last, since it is long.
func printSkills(a *console.App, skills []skill.Skill) {
	if len(skills) == 0 {
		return
	}
	rows := [][]string{{"NAME", "SCOPE", "DESCRIPTION"}}
	for _, s := range skills {
		rows = append(rows, []string{s.Name, string(s.Scope), console.Shorten(strings.Join(strings.Fields(s.Description), " "))})
	}
	a.PrintColumns(rows)
}

// complete offers the names of skills, then directories.
func (p *skillPlaces) complete(a *console.App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, err := p.find(a)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var names []string
		for _, s := range found.Skills {
			names = append(names, s.Name)
		}
		slices.Sort(names)
		return names, cobra.ShellCompDirectiveDefault
	}
}
