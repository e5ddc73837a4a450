package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newDestroy(a *app) *cobra.Command {
	var at keptAt
	var forget bool
	cmd := &cobra.Command{
		Use:   "destroy [flags] NAME...",
		Short: "end sandboxes for good",
		Long: `Their workspaces and stages stay as they are; their snapshots go, and the volumes of
pods. --forget is for pods in a cluster that is no more.`,
		Example:           "agent-sandbox destroy work\nagent-sandbox destroy --backend kube --namespace agents web",
		ValidArgsFunction: a.completeNames(),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError(cmd.CommandPath(), "no sandbox was named")
			}
			if forget && at != (keptAt{}) {
				return usageError(cmd.CommandPath(), "--forget is about what is known here, and takes no flags beside it")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			relay, ctx := startRelay(cmd.Context(), false, a.err.say)
			defer relay.stop()
			return eachOf(args, func(name string) (func() error, error) {
				if forget {
					return a.forgetting(ctx, name)
				}
				return a.destroying(ctx, name, at)
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().BoolVar(&forget, "forget", false, "only forget here where the pod is; nobody is asked")
	return describe(cmd, exitSimple)
}

// destroying is how a sandbox is destroyed. One whose record cannot be read is removed, too, but not what only its backend
// could find then.
func (a *app) destroying(ctx context.Context, name string, at keptAt) (func() error, error) {
	h, err := a.keptHere()
	if err != nil {
		return nil, err
	}
	if !at.inCluster() {
		if _, err := h.kept().Load(name); err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			d, err := keptDriver("", h)
			return func() error { return d.Destroy(ctx, name) }, err
		}
	}
	k, err := a.findKept(name, at)
	if err != nil {
		return nil, err
	}
	return func() error { return a.destroyKept(ctx, h, k) }, nil
}

func (a *app) destroyKept(ctx context.Context, h host, k kept) error {
	record, err := k.record(ctx)
	if errors.Is(err, errGone) {
		return h.kept().Forget(ctx, k.name)
	}
	if err == nil {
		err = k.Destroy(ctx, k.name)
	}
	if err != nil {
		return err
	}
	return a.forget(ctx, h, record)
}

func (a *app) forgetting(ctx context.Context, name string) (func() error, error) {
	h, err := a.keptHere()
	if err != nil {
		return nil, err
	}
	record, err := h.kept().Load(name)
	if err == nil && record.Cluster == nil {
		err = sandbox.Errorf(sandbox.Invalid, "sandbox %s is no pod, and nowhere but here", name).WithHint("'agent-sandbox destroy %s' ends it", name)
	}
	return func() error { return h.kept().Forget(ctx, name) }, err
}
