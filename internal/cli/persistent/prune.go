package persistent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
)

// NewPrune returns the command prune.
func NewPrune(a *console.App) *cobra.Command {
	var at inventory.Place
	var expired bool
	cmd := &cobra.Command{
		Use:   "prune [flags]",
		Short: "destroy the sandboxes that are stopped or were prepared by --warm",
		Long: `prune also removes each /tmp that --tmp keep has stored for a directory that is gone.

Of pods, prune destroys those that this machine has records of, and removes the records
of pods that are gone. With --backend kube it destroys those of all users of the
namespace.`,
		Example: "agent-sandbox prune\nagent-sandbox prune --expired --backend kube --namespace agents",
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			relay, ctx := console.StartRelay(cmd.Context(), false, a.Err.Say)
			defer relay.Stop()
			return pruneSandboxes(ctx, a, at, expired)
		},
	}
	at.Register(cmd.Flags())
	cmd.Flags().BoolVar(&expired, "expired", false, "remove only what is over by its --ttl, and what killed processes\nhave left; what is stopped stays")
	return console.Describe(cmd, console.ExitSimple)
}

func pruneSandboxes(ctx context.Context, a *console.App, at inventory.Place, expired bool) error {
	h, err := host.LocateHome(a)
	if err == nil {
		err = at.Check()
	}
	switch {
	case err != nil:
		return err
	case expired:
		return sweepExpired(ctx, h, at)
	case at.IsInCluster():
		return pruneCluster(ctx, a, h, at)
	}
	records, err := h.Sandboxes().List()
	spares, serr := h.Sandboxes().Spares()
	errs := []error{err, serr}
	var pods []inventory.Sandbox
	local := map[string]persist.Lifecycle{}
	who := inventory.Lifecycles{Host: h}
	if err := who.Require(records, spares); err != nil {
		return err
	}
	for _, r := range append(records, spares...) {
		d, err := who.Of(r)
		switch {
		case at.Backend != "" && r.Backend != at.Backend:
		case err != nil:
			errs = append(errs, err)
		case r.Cluster != nil:
			pods = append(pods, inventory.Sandbox{Lifecycle: d, ID: r.ID, Known: r})
		default:
			local[r.Backend] = d
		}
	}
	for _, backend := range slices.Sorted(maps.Keys(local)) {
		names, err := local[backend].Prune(ctx)
		printNames(a, names)
		errs = append(errs, err)
	}
	for _, k := range pods {
		errs = append(errs, prunePod(ctx, a, h, k))
	}
	if at.Backend == "" || at.Backend == host.Default {
		gone, err := h.Tmps().Prune()
		for _, workspace := range gone {
			a.Err.Say("removed the /tmp of " + workspace + ", which is gone")
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// sweepExpired removes expired sandboxes, in the cluster that the flags name or in all places with local records.
func sweepExpired(ctx context.Context, h host.Host, at inventory.Place) error {
	if at.IsInCluster() {
		d, err := inventory.NewLifecycle(host.Kube, h, host.DriverOptions{Cluster: at.Cluster}, inventory.Lifetime{})
		if err != nil {
			return err
		}
		return d.Sweep(ctx)
	}
	records, err := h.Sandboxes().List()
	errs := []error{err}
	who := inventory.Lifecycles{Host: h}
	if err := who.Require(records); err != nil {
		return err
	}
	for _, r := range records {
		if at.Backend == "" || r.Backend == at.Backend {
			_, err := who.Of(r)
			errs = append(errs, err)
		}
	}
	for _, d := range who.Made {
		errs = append(errs, d.Sweep(ctx))
	}
	return errors.Join(errs...)
}

// prunePod destroys a stopped pod, and forgets one that is gone.
func prunePod(ctx context.Context, a *console.App, h host.Host, k inventory.Sandbox) error {
	_, err := k.Record(ctx)
	if err == nil {
		var st persist.State
		if st, err = k.State(ctx, k.ID); err != nil || st.Running {
			return err
		}
	}
	if err == nil || errors.Is(err, inventory.ErrGone) {
		if err = destroySandbox(ctx, a, h, k); err == nil {
			printNames(a, []string{k.ID})
		}
	}
	return err
}

// pruneCluster prunes all sandboxes of a namespace.
func pruneCluster(ctx context.Context, a *console.App, h host.Host, at inventory.Place) error {
	d, err := inventory.NewLifecycle(host.Kube, h, host.DriverOptions{Cluster: at.Cluster}, inventory.Lifetime{})
	if err != nil {
		return err
	}
	records, err := d.Records(ctx)
	if err != nil {
		return err
	}
	names, err := d.Prune(ctx)
	printNames(a, names)
	for _, r := range records {
		if slices.Contains(names, r.ID) {
			err = errors.Join(err, inventory.Forget(ctx, a, h, r))
		}
	}
	return err
}

func printNames(a *console.App, names []string) {
	for _, name := range names {
		fmt.Fprintln(a.Out, name)
	}
}
