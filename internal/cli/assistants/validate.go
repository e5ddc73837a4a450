package assistants

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

func newAgentValidate(a *console.App) *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "validate [flags] [NAME...]",
		Short: "check assistants and connectors",
		Long: rootText + `
Without a NAME all of them are checked, and all connectors. Each problem is a line:
FILE:LINE: KEY: what was found, what was expected (the fix). Warnings change nothing.
Nothing of an assistant is run, no key is fetched and no server is asked.`,
		Example: "agent-sandbox agent validate\nagent-sandbox agent validate --root examples/assistants coder",
		RunE: func(_ *cobra.Command, args []string) error {
			entries, problems, err := checkAssistants(a, root, args)
			if err != nil {
				return err
			}
			valid := assistant.Valid(problems)
			printProblems(a, problems)
			for _, e := range entries {
				printProblems(a, e.Problems)
				if assistant.Valid(e.Problems) {
					fmt.Fprintf(a.Out, "%s: valid\n", console.Escape(e.Assistant.Name))
				} else {
					valid = false
				}
			}
			if a.Out.Err == nil && !valid {
				return console.ExitStatus(1)
			}
			return a.Out.Err
		},
	}
	cmd.ValidArgsFunction = completeAssistants(a, &root)
	addRootFlag(cmd, &root)
	return console.Describe(cmd, `  0    all are valid
  1    at least one is not, or a connector is not
  125  something went wrong`)
}

// checkAssistants reads those that are named, or all.
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
