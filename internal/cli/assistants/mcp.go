package assistants

import (
	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	host.Options
	stage string // empty: the workspace itself
	in    string // a persistent sandbox; empty: one for this client
}

// NewMCP returns the command mcp.
func NewMCP(a *console.App) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags]",
		Short: "serve a sandbox over the Model Context Protocol",
		Long: `An MCP server on standard input and output, for any client that starts servers as
its children. Its tools are run, read, write and list, and snapshot, restore and
snapshots where the backend has them. The sandbox serves one client and ends with
it, unless --in names a persistent one. When a client cancels a call, its command is
killed with all processes that it started.`,
		Example: `agent-sandbox mcp
agent-sandbox mcp --backend virtual
agent-sandbox mcp -C ~/src/project --allow packages.example.com --limit wall=10m
agent-sandbox mcp --in work`,
		Args: console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.in != "" {
				if err := inventory.CheckInFlags(cmd, cmd.CommandPath()); err != nil {
					return err
				}
			}
			f.Resident = true
			return serveMCP(cmd.Context(), a, &f)
		},
	}
	flags := cmd.Flags()
	f.Register(flags)
	inventory.AddInFlag(flags, &f.in)
	host.AddStageFlag(flags, &f.stage)
	return console.Describe(cmd, `  0    the client has ended
  125  something went wrong
  130  interrupted`)
}
