package cli

import (
	"github.com/spf13/cobra"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	options
	stage string // empty: the workspace itself
	in    string // a sandbox that lives on; empty: one for this client
}

func newMCP(a *app) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "serve a sandbox to a client of the Model Context Protocol",
		Long: `An MCP server on standard input and output, for any client that starts servers as
its children. Its tools are run, read, write and list, and snapshot, restore and
snapshots where the backend has them. The sandbox is this client's alone and ends with
it, unless --in names one that lives on. What a client cancels is killed with all that
it started.`,
		Example: `agent-sandbox mcp
agent-sandbox mcp --backend virtual
agent-sandbox mcp -C ~/src/project --allow packages.example.com --limit wall=10m
agent-sandbox mcp --in work`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.in != "" {
				if err := checkIn(cmd, cmd.CommandPath()); err != nil {
					return err
				}
			}
			f.resident = true
			return a.serveMCP(cmd.Context(), &f)
		},
	}
	flags := cmd.Flags()
	f.register(flags)
	addIn(flags, &f.in)
	addStage(flags, &f.stage)
	return describe(cmd, `  0    the client has ended
  125  something went wrong
  130  interrupted`)
}
