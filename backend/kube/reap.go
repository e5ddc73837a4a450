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

// sweep removes expired sandboxes and what killed processes have left. Every process that uses the namespace sweeps, without a
// leader: a deletion applies only to the object as it was read. What cannot be removed now stays for the next sweep.
func (d *PersistentDriver) sweep(ctx context.Context, c *cluster.Cluster) {
	_ = d.sweepAll(ctx, c) // the next sweep tries again
}

// Sweep removes expired sandboxes and what killed processes have left, as every use of the namespace does.
func (d *PersistentDriver) Sweep(ctx context.Context) error {
	c, err := d.Inner.connect()
	if err != nil {
		return err
	}
	found, _ := c.FindKinds(ctx) // none without an answer: the next sweep removes them
	d.Inner.swept.Do(func() { c.SweepEnded(ctx, found.Sandboxes) })
	return d.sweepAll(ctx, c)
}

func (d *PersistentDriver) sweepAll(ctx context.Context, c *cluster.Cluster) error {
	d.Inner.swept.Do(func() { c.SweepEnded(ctx, cluster.Kind{}) })
	all, err := c.ListClaims(ctx)
	for i := range all {
		d.reapClaim(ctx, c, &all[i])
	}
	return err
}

// reapClaim removes the sandbox of a claim if it is expired, incomplete or being deleted.
func (d *PersistentDriver) reapClaim(ctx context.Context, c *cluster.Cluster, claim *corev1.PersistentVolumeClaim) {
	name := claim.Labels[names.LabelID]
	switch {
	case claim.Name != names.ObjectName(name): // not ours
	case claim.DeletionTimestamp != nil:
		_ = c.DeletePods(ctx, name)
	case !record.IsComplete(claim):
		if seen, err := time.Parse(time.RFC3339, claim.Annotations[record.AnnotationMaking]); err != nil || time.Since(seen) > record.UnseenTime {
			_, _ = d.deleteUnchanged(ctx, c, claim)
		}
	default:
		k, err := record.Decode(claim)
		if err != nil || !k.IsExpired(time.Now()) || record.IsStarting(claim) {
			return
		}
		if _, err := d.removeEndedPod(ctx, c, name); err == nil { // a running one ends by itself when no command runs
			_, _ = d.deleteUnchanged(ctx, c, claim)
		}
	}
}

// deleteUnchanged deletes a claim and its pods, unless the claim has changed since it was read.
func (d *PersistentDriver) deleteUnchanged(ctx context.Context, c *cluster.Cluster, claim *corev1.PersistentVolumeClaim) (gone bool, err error) {
	err = c.DeleteClaim(ctx, claim, claim.ResourceVersion)
	if sandbox.CodeOf(err) == sandbox.Exists {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, c.DeletePods(ctx, claim.Labels[names.LabelID])
}
