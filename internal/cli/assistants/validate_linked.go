//go:build agent

package assistants

import (
	"context"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// validateAssistants prints the problems of the named assistants, or of all, and returns status 1 when one is invalid.
func validateAssistants(ctx context.Context, a *console.App, root string, args []string) error {
	entries, problems, err := checkAssistants(a, root, args)
	if err != nil {
		return err
	}
	valid := assistant.IsValid(problems)
	printProblems(a, problems)
	for _, e := range entries {
		printProblems(a, e.Problems)
		if assistant.IsValid(e.Problems) {
			fmt.Fprintf(a.Out, "%s: valid\n", console.Escape(e.Assistant.Name))
			printRuns(ctx, a, e.Assistant)
		} else {
			valid = false
		}
	}
	if a.Out.Err == nil && !valid {
		return console.ExitStatus(1)
	}
	return a.Out.Err
}

// checkAssistants reads the named assistants, or all.
func checkAssistants(a *console.App, dir string, names []string) ([]assistant.Entry, []assistant.Problem, error) {
	root, err := openRoot(a, dir)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 {
		return root.List()
	}
	var entries []assistant.Entry
	for _, name := range names {
		e, err := root.Check(name)
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil, nil
}

func printProblems(a *console.App, problems []assistant.Problem) {
	for _, p := range problems {
		line := p.String()
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		fmt.Fprintln(a.Out, console.Escape(line))
	}
}
