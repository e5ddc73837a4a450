package policies

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// NewSchema returns the command schema.
func NewSchema(a *console.App) *cobra.Command {
	names := []string{"policy", "package", "assistant", "connector", "mcp", "prompts"}
	cmd := &cobra.Command{
		Use:   "schema [" + strings.Join(names, "|") + "]",
		Short: "print the JSON schema of a file",
		Long: `Without a name it is that of the configuration file, as with 'policy'. package (or
assistant) is the package file of an assistant, connector a model's connector, mcp an MCP
server, prompts the files prompts.yml and prompts/*.yml.
Editors complete and check a file that names the schema's file:
  { "$schema": "./agent-sandbox.schema.json", ... }`,
		Example:   "agent-sandbox schema > agent-sandbox.schema.json\nagent-sandbox schema package > package.schema.json",
		ValidArgs: names,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(names, args[0]) {
				return console.UsageError(cmd.CommandPath(), "expected one of %s", strings.Join(names, ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := schemaOf(console.First(args))
			if err == nil {
				_, err = a.Out.Write(text)
			}
			return err
		},
	}
	return console.Describe(cmd, console.ExitSimple)
}

func schemaOf(name string) ([]byte, error) {
	switch name {
	case "", "policy":
		return policy.Schema(), nil
	case "package":
		name = "assistant"
	}
	return assistantSchema(name)
}
