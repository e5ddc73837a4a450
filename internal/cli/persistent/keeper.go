package persistent

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewKeeper returns the command that create and start run in the background. Its standard error is the sandbox's log.
func NewKeeper(a *console.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:    inventory.KeeperCommand + " NAME",
		Short:  "hold a sandbox; create and start run this",
		Hidden: true,
		Args:   console.OneSandbox,
		RunE:   func(cmd *cobra.Command, args []string) error { return keepSandbox(cmd.Context(), a, args[0]) },
	}
	return console.Describe(cmd, console.ExitSimple)
}

func keepSandbox(ctx context.Context, a *console.App, name string) error {
	runtime.GOMAXPROCS(1) // A keeper only forwards data; more threads would only wake each other.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := persist.NewLog(a.Stdio.Stderr)
	ready := false
	err := serveSandbox(ctx, a, name, log, func() {
		ready = true
		persist.Ready(nil)
	})
	if !ready && program.RequiredBy(err) != "" {
		return err // that program goes on: descriptors and the lock stay open
	}
	if !ready {
		if err == nil {
			err = sandbox.Errorf(sandbox.Canceled, "stopped before it had started")
		}
		persist.Ready(err)
		return console.ExitStatus(console.ExitCode(err))
	}
	return err
}

func serveSandbox(ctx context.Context, a *console.App, name string, log *slog.Logger, ready func()) error {
	h, err := host.LocateHome(a)
	if err != nil {
		return err
	}
	record, err := h.Sandboxes().Load(name)
	if err != nil {
		return err
	}
	h.Workspace = record.Spec.Workspace
	refused := &persist.Refused{}
	d, err := host.NewDriver(record.Backend, h, host.DriverOptions{Denied: func(one sandbox.Denial) {
		if one.Missed > 0 {
			log.Warn("more refusals than the list has", "count", one.Missed)
		} else {
			log.Warn("refused", "op", one.Op, "target", one.Target, "reason", one.Reason)
		}
		refused.Add(one)
	}})
	if err != nil {
		return err
	}
	return h.Sandboxes().Keep(ctx, name, persist.Holding{Driver: d, Env: a.Env, Log: log, Refused: refused, Ready: ready})
}
