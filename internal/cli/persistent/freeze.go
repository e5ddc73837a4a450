package persistent

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewFreeze returns the command freeze.
func NewFreeze(a *console.App) *cobra.Command {
	return newFreezing(a, &cobra.Command{
		Use:   "freeze [flags] NAME",
		Short: "stop the processes of a sandbox where they are",
		Long: `They use no processor time until 'agent-sandbox thaw', and keep their memory and open files.
Until then no command can be started; files, status, snapshots, stop and destroy work as usual.
Limits of time count the time in which a sandbox is frozen.`,
		Example: "agent-sandbox freeze work\nagent-sandbox thaw work",
	}, (*sandbox.Sandbox).Freeze)
}

// NewThaw returns the command thaw.
func NewThaw(a *console.App) *cobra.Command {
	return newFreezing(a, &cobra.Command{
		Use:   "thaw [flags] NAME",
		Short: "continue the processes of a frozen sandbox",
		Long: `What a signal had stopped before 'agent-sandbox freeze' stays stopped. A sandbox that is not
frozen stays as it is.`,
		Example: "agent-sandbox thaw work",
	}, (*sandbox.Sandbox).Thaw)
}

func newFreezing(a *console.App, cmd *cobra.Command, do func(box *sandbox.Sandbox, ctx context.Context) error) *cobra.Command {
	var at inventory.Place
	cmd.ValidArgsFunction = inventory.CompleteName(a)
	cmd.Args = console.OneSandbox
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return inventory.Use(cmd.Context(), a, args[0], at, func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error { return do(box, ctx) })
	}
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}
