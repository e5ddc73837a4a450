//go:build agent

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

// listSkills prints the skills that it finds as a table, as JSON, or as a model sees them.
func listSkills(a *console.App, places *skillPlaces, asJSON, prompt bool) error {
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
}

// find searches the default places. The project is the innermost directory around the
// working directory that has a .git, or else that directory itself.
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
	return skill.Discover(skill.Sources(assistant, findProject(h.Workspace), h.Home)...), nil
}

func findProject(dir string) string {
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

func printSkillsJSON(a *console.App, found *skill.Catalog) error {
	docs := []skillDocument{}
	for _, s := range found.Skills {
		docs = append(docs, skillDocument{Skill: s, Location: s.Location()})
	}
	return a.PrintJSON(map[string]any{"skills": docs, "problems": found.Problems})
}

// saySkillProblems prints a line for each problem on stderr.
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

// completeSkills completes the names of skills, then directories.
func completeSkills(a *console.App, p *skillPlaces) cobra.CompletionFunc {
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
