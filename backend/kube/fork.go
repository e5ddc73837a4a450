package kube

import (
	"context"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podstore"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Fork creates another sandbox with a copy of the files, or of a snapshot. This process copies them from one pod to the other,
// which works with any storage. The caller closes or detaches the result.
func (k *persistentInstance) Fork(ctx context.Context, name, snapshot string) (sandbox.Instance, error) {
	if err := record.CheckName(name); err != nil {
		return nil, err
	}
	k.working.Lock()
	defer k.working.Unlock()
	if snapshot != "" {
		if err := k.checkSnapshot(ctx, snapshot); err != nil {
			return nil, err
		}
	}
	d, c := k.driver, k.cluster
	record := k.Record
	record.ID, record.Name, record.Spec.Name, record.Created = name, name, name, time.Now()
	made, err := d.createClaim(ctx, c, record, k.forkForm(name))
	if err != nil {
		return nil, err
	}
	fork, err := d.complete(ctx, c, made, k.env, func(ctx context.Context, to *instance) error {
		return k.withStore(ctx, func(ctx context.Context, s podstore.Client, from *instance) error {
			if snapshot == "" {
				if err := k.whilePaused(ctx, func() error { return s.Copy(ctx) }); err != nil {
					return err
				}
			}
			return k.copyFiles(ctx, from, to, snapshot)
		})
	})
	if err != nil {
		return nil, err
	}
	return fork, nil
}

// forkForm returns the form of a fork with that name: it has another claim.
func (k *persistentInstance) forkForm(name string) record.Form {
	f := k.Form
	f.Pod = *f.Pod.DeepCopy()
	for i := range f.Pod.Volumes {
		if f.Pod.Volumes[i].Name == podspec.PersistentVolume {
			f.Pod.Volumes[i] = podspec.ClaimVolume(podspec.PersistentVolume, names.ObjectName(name))
		}
	}
	return f
}

// copyFiles copies the files of a store, or of a snapshot, to a new sandbox.
func (k *persistentInstance) copyFiles(ctx context.Context, from, to *instance, snapshot string) error {
	source, out := from.Files().(sandbox.Archiver)
	target, in := to.Files().(sandbox.Archiver)
	if !out || !in {
		return sandbox.Errorf(sandbox.Internal, "the guest does not support directory transfer")
	}
	for _, dir := range podstore.PersistentDirs() {
		at := podspec.HomeDir
		if dir == podspec.WorkspaceVolume {
			if !to.IsCopied() {
				continue
			}
			at = to.PathInside(to.Plan.Workspace)
		}
		r, err := source.Pack(ctx, podstore.CopiedDir(snapshot, dir))
		if err != nil {
			return err
		}
		if err := target.Unpack(ctx, at, r); err != nil {
			_ = r.Close() // it was not read to its end
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return nil
}
