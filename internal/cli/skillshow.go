package cli

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newSkillShow(a *app) *cobra.Command {
	var places skillPlaces
	var asJSON, prompt bool
	cmd := &cobra.Command{
		Use:   "show [flags] NAME|PATH",
		Short: "show a skill: its frontmatter, instructions and files",
		Long: `An argument with a slash, or . or .., is a PATH: a directory or a SKILL.md. Any other
is the NAME of a skill that 'skill list' finds. With --prompt, what a model is told
when it uses the skill.`,
		Example: "agent-sandbox skill show code-review\nagent-sandbox skill show ./skills/deploy\nagent-sandbox skill show --prompt code-review",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usageError(cmd.CommandPath(), "expected one skill, got %d", len(args))
			case asJSON && prompt:
				return usageError(cmd.CommandPath(), "--json contradicts --prompt")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := a.findSkill(&places, args[0])
			if err != nil {
				return err
			}
			switch {
			case asJSON:
				return a.printJSON(d)
			case prompt:
				a.printText(d.Activation.Prompt())
			default:
				a.saySkillProblems(d.Problems)
				a.printSkill(d)
			}
			return nil
		},
	}
	cmd.ValidArgsFunction = places.complete(a)
	places.add(cmd)
	cmd.Flags().BoolVar(&prompt, "prompt", false, "print what a model is told of it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}

// findSkill reads the skill that an argument means, as far as a model would.
func (a *app) findSkill(places *skillPlaces, arg string) (*skillDocument, error) {
	d := &skillDocument{}
	var s *skill.Skill
	if strings.ContainsRune(arg, os.PathSeparator) || arg == "." || arg == ".." {
		if s, d.Problems = skill.Load(arg); s == nil {
			return nil, sandbox.Errorf(sandbox.Invalid, "%s", d.Problems[len(d.Problems)-1]).
				WithHint("'agent-sandbox skill validate' tells all that is wrong")
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

func (a *app) printSkill(d *skillDocument) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(a.out, "%-14s %s\n", name, printable(strings.Join(strings.Fields(value), " ")))
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
	fmt.Fprintf(a.out, "%-14s %s\n", "location", printable(d.Location))
	for _, name := range d.Activation.Resources {
		fmt.Fprintf(a.out, "%-14s %s\n", "file", printable(name))
	}
	if !d.Activation.Whole {
		fmt.Fprintf(a.out, "%-14s (there are more)\n", "file")
	}
	if d.Activation.Body != "" {
		fmt.Fprintln(a.out)
		a.printText(d.Activation.Body)
	}
}
