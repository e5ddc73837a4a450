package main

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/policy"
)

func newSchema(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "print the JSON schema of the configuration file",
		Long: `Editors complete and check a configuration that names the schema's file:
  { "$schema": "./agent-sandbox.schema.json", ... }`,
		Example: "agent-sandbox schema > agent-sandbox.schema.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(policy.Schema())
			return err
		},
	}
	return describe(cmd, exitSimple)
}
