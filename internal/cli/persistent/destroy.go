package persistent

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewDestroy returns the command destroy.
func NewDestroy(a *console.App) *cobra.Command {
	var at inventory.Place
	var forget, force bool
	cmd := &cobra.Command{
		Use:   "destroy [flags] NAME...",
		Short: "destroy persistent sandboxes",
		Long: `Their workspaces and stages stay as they are; their snapshots go, and the volumes of
pods. --force is for a sandbox whose process does not answer, --forget for pods in a
cluster that no longer exists.`,
		Example:           "agent-sandbox destroy work\nagent-sandbox destroy --backend kube --namespace agents web",
		ValidArgsFunction: inventory.CompleteNames(a),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.UsageError(cmd.CommandPath(), "no sandbox was named")
			}
			if forget && at != (inventory.Place{}) {
				return console.UsageError(cmd.CommandPath(), "--forget removes a record of this machine, and takes no other flags")
			}
			if force && (forget || at.IsInCluster()) {
				return console.UsageError(cmd.CommandPath(), "--force is for sandboxes of this machine")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			relay, ctx := console.StartRelay(cmd.Context(), false, a.Err.Say)
			defer relay.Stop()
			return inventory.ForEach(args, func(name string) (func() error, error) {
				if forget {
					return planForget(ctx, a, name)
				}
				return planDestroy(ctx, a, name, at, force)
			})
		},
	}
	at.Register(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "end the process that holds the sandbox with SIGKILL first")
	cmd.Flags().BoolVar(&forget, "forget", false, "only remove this machine's record of the pod; do not contact the cluster")
	return console.Describe(cmd, console.ExitSimple)
}

// planDestroy returns the action that destroys a sandbox. If its record is unreadable, the action removes the record, but not
// resources that only the backend could find. With force it first kills the process that holds the sandbox.
func planDestroy(ctx context.Context, a *console.App, name string, at inventory.Place, force bool) (func() error, error) {
	h, err := host.LocateHome(a)
	if err != nil {
		return nil, err
	}
	end := func() error { return nil }
	if force {
		end = func() error { return h.Sandboxes().Kill(ctx, name) }
	}
	if !at.IsInCluster() {
		if _, err := h.Sandboxes().Load(name); err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			d, err := inventory.NewDriver("", h)
			return func() error {
				if err := end(); err != nil {
					return err
				}
				return d.Destroy(ctx, name)
			}, err
		}
	}
	k, err := inventory.Find(a, name, at)
	if err == nil && force && k.Known.Cluster != nil {
		err = sandbox.Errorf(sandbox.Invalid, "sandbox %s is a pod; --force is for sandboxes of this machine", name)
	}
	if err != nil {
		return nil, err
	}
	return func() error {
		if err := end(); err != nil {
			return err
		}
		return destroySandbox(ctx, a, h, k)
	}, nil
}

func destroySandbox(ctx context.Context, a *console.App, h host.Host, k inventory.Sandbox) error {
	record, err := k.Record(ctx)
	if errors.Is(err, inventory.ErrGone) {
		return h.Sandboxes().Forget(ctx, k.ID)
	}
	if err == nil {
		err = k.Destroy(ctx, k.ID)
	}
	if err != nil {
		return err
	}
	return inventory.Forget(ctx, a, h, record)
}

func planForget(ctx context.Context, a *console.App, name string) (func() error, error) {
	h, err := host.LocateHome(a)
	if err != nil {
		return nil, err
	}
	record, err := h.Sandboxes().Load(name)
	if err == nil && record.Cluster == nil {
		err = sandbox.Errorf(sandbox.Invalid, "sandbox %s is not a pod: only this machine knows it", name).WithHint("'agent-sandbox destroy %s' destroys it", name)
	}
	return func() error { return h.Sandboxes().Forget(ctx, name) }, err
}
