package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newKeeper is what create and start run in the background. Its standard error is the sandbox's log.
func newKeeper(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:    keeperCommand + " NAME",
		Short:  "hold a sandbox; create and start run this",
		Hidden: true,
		Args:   oneName,
		RunE:   func(cmd *cobra.Command, args []string) error { return a.keep(cmd.Context(), args[0]) },
	}
	return describe(cmd, exitSimple)
}

func (a *app) keep(ctx context.Context, name string) error {
	runtime.GOMAXPROCS(1) // It passes on; more would only wake each other.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewTextHandler(a.stdio.Stderr, nil))
	ready := false
	err := a.keepOn(ctx, name, log, func() {
		ready = true
		persist.Ready(nil)
	})
	if !ready {
		if err == nil {
			err = sandbox.Errorf(sandbox.Canceled, "stopped before it had started")
		}
		persist.Ready(err)
		return exitStatus(exitCode(err))
	}
	return err
}

func (a *app) keepOn(ctx context.Context, name string, log *slog.Logger, ready func()) error {
	h, err := a.keptHere()
	if err != nil {
		return err
	}
	record, err := h.kept().Load(name)
	if err != nil {
		return err
	}
	h.workspace = record.Spec.Workspace
	refused := &persist.Refused{}
	d, err := newDriver(record.Backend, h, hooks{denied: func(one sandbox.Denial) {
		log.Warn("refused", "op", one.Op, "target", one.Target, "reason", one.Reason)
		refused.Add(one)
	}})
	if err != nil {
		return err
	}
	return h.kept().Keep(ctx, name, persist.Holding{Driver: d, Env: a.env, Log: log, Refused: refused, Ready: ready})
}
