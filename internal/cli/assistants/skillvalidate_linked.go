//go:build agent

package assistants

import (
	"fmt"

	"github.com/seed434b0696/agent-sandbox/agent/skill"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// skillVerdict is the result of skill validate for one path, as JSON.
type skillVerdict struct {
	Path     string          `json:"path"`
	Valid    bool            `json:"valid"`
	Problems []skill.Problem `json:"problems"`
}

// validateSkills prints the verdict on each path, and returns status 1 when a skill is invalid.
func validateSkills(a *console.App, args []string, asJSON bool) error {
	verdicts, all := []skillVerdict{}, true
	for _, path := range args {
		problems := append([]skill.Problem{}, skill.Validate(path)...)
		v := skillVerdict{Path: path, Valid: skill.IsValid(problems), Problems: problems}
		verdicts, all = append(verdicts, v), all && v.Valid
	}
	if err := printVerdicts(a, verdicts, asJSON); err != nil {
		return err
	}
	if !all {
		return console.ExitStatus(1)
	}
	return nil
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
