package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// auditFlags are the flags of agent audit.
type auditFlags struct {
	user, hash string
	from       int64
	json       bool
}

func newAgentAudit(a *console.App) *cobra.Command {
	var f auditFlags
	cmd := &cobra.Command{
		Use:   "audit [flags]",
		Short: "list who asked for what and was allowed or refused, and verify the list",
		Long: `Each request is a record, with what was decided about it. A record has the hash of
itself and all before it, so that one that was changed or removed is found. Only the
last records can be removed unseen: store the last hash elsewhere, and name it later
with --hash.`,
		Example: `agent-sandbox agent audit --user ann
agent-sandbox agent audit --json | tail -1`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.from < 0 {
				return console.UsageError(cmd.CommandPath(), "--from: expected the number of a record, got %d", f.from)
			}
			return console.NoArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return printAudit(cmd.Context(), a, f) },
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&f.user, "user", "", "print only the records of `USER`; all are verified")
	cmd.Flags().Int64Var(&f.from, "from", 0, "print and verify from record `NUMBER` on")
	cmd.Flags().StringVar(&f.hash, "hash", "", "fail unless a record has this `HASH`")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the records as JSON lines")
	return console.Describe(cmd, `  0    the records are as they were written
  1    a record was changed or removed
  125  something went wrong`)
}
