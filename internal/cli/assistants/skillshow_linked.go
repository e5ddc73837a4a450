//go:build agent

package assistants

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// showSkill prints a skill, as text, as JSON, or as a model sees it.
func showSkill(a *console.App, places *skillPlaces, arg string, asJSON, prompt bool) error {
	d, err := findSkill(a, places, arg)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		return a.PrintJSON(d)
	case prompt:
		a.PrintText(d.Activation.Prompt())
	default:
		saySkillProblems(a, d.Problems)
		printSkill(a, d)
	}
	return nil
}

// findSkill reads the skill that an argument names, with a model's limits.
func findSkill(a *console.App, places *skillPlaces, arg string) (*skillDocument, error) {
	d := &skillDocument{}
	var s *skill.Skill
	if strings.ContainsRune(arg, os.PathSeparator) || arg == "." || arg == ".." {
		if s, d.Problems = skill.Load(arg); s == nil {
			return nil, sandbox.Errorf(sandbox.Invalid, "%s", d.Problems[len(d.Problems)-1]).
				WithHint("'agent-sandbox skill validate' lists all problems")
		}
	} else {
		found, err := places.find(a)
		if err != nil {
			return nil, err
		}
		if s, err = found.Find(arg); err != nil {
			return nil, sandbox.Errorf(sandbox.NotFound, "%w", err).
				WithHint("see 'agent-sandbox skill list'; a path has a slash in it: ./%s", arg)
		}
		for _, p := range found.Problems {
			if p.File == s.Location() {
				d.Problems = append(d.Problems, p)
			}
		}
	}
	var err error
	d.Skill, d.Location = *s, s.Location()
	d.Activation, err = s.Activate()
	return d, err
}

func printSkill(a *console.App, d *skillDocument) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.Out, "%-14s %s\n", name, console.Escape(strings.Join(strings.Fields(value), " ")))
		}
	}
	line("name", d.Name)
	line("description", d.Description)
	line("license", d.License)
	line("compatibility", d.Compatibility)
	line("allowed-tools", strings.Join(d.AllowedTools, ", "))
	for _, key := range slices.Sorted(maps.Keys(d.Metadata)) {
		line("metadata", key+": "+d.Metadata[key])
	}
	line("scope", string(d.Scope))
	fmt.Fprintf(a.Out, "%-14s %s\n", "location", console.Escape(d.Location))
	for _, name := range d.Activation.Resources {
		fmt.Fprintf(a.Out, "%-14s %s\n", "file", console.Escape(name))
	}
	if !d.Activation.Whole {
		fmt.Fprintf(a.Out, "%-14s (there are more)\n", "file")
	}
	if d.Activation.Body != "" {
		fmt.Fprintln(a.Out)
		a.PrintText(d.Activation.Body)
	}
}
