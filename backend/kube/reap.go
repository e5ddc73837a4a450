package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// sweep removes what is over, and what killed processes have left. It has no leader: whoever uses the namespace sweeps, and
// each deletion holds only for the very object that was judged, as it was then. What cannot be removed now stays for the next.
func (d *PersistentDriver) sweep(ctx context.Context, c *cluster.Cluster) {
	_ = d.sweepAll(ctx, c) // see above
}

// Sweep is what each use of the namespace does on the way: it removes what is over, and what killed processes have left.
func (d *PersistentDriver) Sweep(ctx context.Context) error {
	c, err := d.Inner.connect()
	if err != nil {
		return err
	}
	found, _ := c.FindKinds(ctx) // none where there is no answer: the next one sweeps them
	d.Inner.swept.Do(func() { c.SweepEnded(ctx, found.Sandboxes) })
	return d.sweepAll(ctx, c)
}

func (d *PersistentDriver) sweepAll(ctx context.Context, c *cluster.Cluster) error {
	d.Inner.swept.Do(func() { c.SweepEnded(ctx, cluster.Kind{}) })
	all, err := c.ListClaims(ctx)
	for i := range all {
		d.reap(ctx, c, &all[i])
	}
	return err
}

// reap removes one of them if it has to go.
func (d *PersistentDriver) reap(ctx context.Context, c *cluster.Cluster, claim *corev1.PersistentVolumeClaim) {
	name := claim.Labels[names.LabelID]
	switch {
	case claim.Name != names.ObjectName(name): // not ours
	case claim.DeletionTimestamp != nil:
		_ = c.DeletePods(ctx, name)
	case !record.IsComplete(claim):
		if seen, err := time.Parse(time.RFC3339, claim.Annotations[record.AnnotationMaking]); err != nil || time.Since(seen) > record.UnseenTime {
			_, _ = d.discard(ctx, c, claim)
		}
	default:
		k, err := record.Decode(claim)
		if err != nil || !k.IsExpired(time.Now()) || record.IsStarting(claim) {
			return
		}
		if _, err := d.vacate(ctx, c, name); err == nil { // one that runs ends by itself when no command does
			_, _ = d.discard(ctx, c, claim)
		}
	}
}

// discard deletes a claim as it was read, with its pods. Whoever has changed it in between has saved it.
func (d *PersistentDriver) discard(ctx context.Context, c *cluster.Cluster, claim *corev1.PersistentVolumeClaim) (gone bool, err error) {
	err = c.DeleteClaim(ctx, claim, claim.ResourceVersion)
	if sandbox.CodeOf(err) == sandbox.Exists {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, c.DeletePods(ctx, claim.Labels[names.LabelID])
}
