package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
)

func newAgentValidate(a *app) *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "validate [flags] [NAME...]",
		Short: "say all that is wrong with assistants",
		Long: rootText + `
Without a NAME all of them are checked, and all connectors. Each problem is a line:
FILE:LINE: KEY: what was found, what was expected (the fix). Warnings change nothing.
Nothing of an assistant is run, no key is fetched and no server is asked.`,
		Example: "agent-sandbox agent validate\nagent-sandbox agent validate --root examples/assistants coder",
		RunE: func(_ *cobra.Command, args []string) error {
			entries, problems, err := a.checkAssistants(root, args)
			if err != nil {
				return err
			}
			valid := assistant.Valid(problems)
			a.printProblems(problems)
			for _, e := range entries {
				a.printProblems(e.Problems)
				if assistant.Valid(e.Problems) {
					fmt.Fprintf(a.out, "%s: valid\n", printable(e.Assistant.Name))
				} else {
					valid = false
				}
			}
			if a.out.err == nil && !valid {
				return exitStatus(1)
			}
			return a.out.err
		},
	}
	cmd.ValidArgsFunction = a.completeAssistants(&root)
	addRootFlag(cmd, &root)
	return describe(cmd, `  0    all are valid
  1    at least one is not, or a connector is not
  125  something went wrong`)
}

// checkAssistants reads those that are named, or all.
func (a *app) checkAssistants(dir string, names []string) ([]assistant.Entry, []assistant.Problem, error) {
	root, err := a.assistants(dir)
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

func (a *app) printProblems(problems []assistant.Problem) {
	for _, p := range problems {
		line := p.String()
		if p.Hint != "" {
			line += " (" + p.Hint + ")"
		}
		fmt.Fprintln(a.out, printable(line))
	}
}
