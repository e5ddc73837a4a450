package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
)

func newPrune(a *app) *cobra.Command {
	var at keptAt
	var expired bool
	cmd := &cobra.Command{
		Use:   "prune [flags]",
		Short: "destroy the sandboxes that are stopped or were prepared by --warm",
		Long: `Of pods those that this machine knows, and it forgets those that are gone. With
--backend kube all of the namespace, whoever made them.`,
		Example: "agent-sandbox prune\nagent-sandbox prune --expired --backend kube --namespace agents",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			relay, ctx := startRelay(cmd.Context(), false, a.err.say)
			defer relay.stop()
			return a.prune(ctx, at, expired)
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().BoolVar(&expired, "expired", false, "remove only what is over by its --ttl, and what killed processes\nhave left; what is stopped stays")
	return describe(cmd, exitSimple)
}

func (a *app) prune(ctx context.Context, at keptAt, expired bool) error {
	h, err := a.keptHere()
	if err == nil {
		err = at.check()
	}
	switch {
	case err != nil:
		return err
	case expired:
		return sweepKept(ctx, h, at)
	case at.inCluster():
		return a.pruneCluster(ctx, h, at)
	}
	records, err := h.kept().List()
	spares, serr := h.kept().Spares()
	errs := []error{err, serr}
	var pods []kept
	local := map[string]persist.Lifecycle{}
	who := keepers{host: h}
	for _, r := range append(records, spares...) {
		d, err := who.of(r)
		switch {
		case at.backend != "" && r.Backend != at.backend:
		case err != nil:
			errs = append(errs, err)
		case r.Cluster != nil:
			pods = append(pods, kept{Lifecycle: d, name: r.ID, here: r})
		default:
			local[r.Backend] = d
		}
	}
	for _, backend := range slices.Sorted(maps.Keys(local)) {
		names, err := local[backend].Prune(ctx)
		a.printNames(names)
		errs = append(errs, err)
	}
	for _, k := range pods {
		errs = append(errs, a.prunePod(ctx, h, k))
	}
	return errors.Join(errs...)
}

// sweepKept removes what is over, in the cluster that the flags name or wherever sandboxes are that are known here.
func sweepKept(ctx context.Context, h host, at keptAt) error {
	if at.inCluster() {
		d, err := newLifecycle(clusterBackend, h, hooks{cluster: at.cluster}, life{})
		if err != nil {
			return err
		}
		return d.Sweep(ctx)
	}
	records, err := h.kept().List()
	errs := []error{err}
	who := keepers{host: h}
	for _, r := range records {
		if at.backend == "" || r.Backend == at.backend {
			_, err := who.of(r)
			errs = append(errs, err)
		}
	}
	for _, d := range who.made {
		errs = append(errs, d.Sweep(ctx))
	}
	return errors.Join(errs...)
}

// prunePod destroys a pod that is stopped, and forgets one that is gone.
func (a *app) prunePod(ctx context.Context, h host, k kept) error {
	_, err := k.record(ctx)
	if err == nil {
		var st persist.State
		if st, err = k.State(ctx, k.name); err != nil || st.Running {
			return err
		}
	}
	if err == nil || errors.Is(err, errGone) {
		if err = a.destroyKept(ctx, h, k); err == nil {
			a.printNames([]string{k.name})
		}
	}
	return err
}

// pruneCluster is for all of a namespace.
func (a *app) pruneCluster(ctx context.Context, h host, at keptAt) error {
	d, err := newLifecycle(clusterBackend, h, hooks{cluster: at.cluster}, life{})
	if err != nil {
		return err
	}
	records, err := d.Records(ctx)
	if err != nil {
		return err
	}
	names, err := d.Prune(ctx)
	a.printNames(names)
	for _, r := range records {
		if slices.Contains(names, r.ID) {
			err = errors.Join(err, a.forget(ctx, h, r))
		}
	}
	return err
}

func (a *app) printNames(names []string) {
	for _, name := range names {
		fmt.Fprintln(a.out, name)
	}
}
