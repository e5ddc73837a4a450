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

// Fork makes another sandbox, whose claim gets a copy of the files: they come out of one pod and go into the other through
// this process, which works with any storage.
func (k *persistentInstance) Fork(ctx context.Context, name, snapshot string) (sandbox.Instance, error) {
	if err := record.CheckName(name); err != nil {
		return nil, err
	}
	k.working.Lock()
	defer k.working.Unlock()
	if snapshot != "" {
		if err := k.has(ctx, snapshot); err != nil {
			return nil, err
		}
	}
	d, c := k.driver, k.cluster
	record := k.Record
	record.ID, record.Name, record.Spec.Name, record.Created = name, name, name, time.Now()
	made, err := d.begin(ctx, c, record, k.formFor(name))
	if err != nil {
		return nil, err
	}
	fork, err := d.fill(ctx, c, made, k.env, func(ctx context.Context, to *instance) error {
		return k.storing(ctx, func(ctx context.Context, s podstore.Client, from *instance) error {
			if snapshot == "" {
				if err := k.still(ctx, func() error { return s.Copy(ctx) }); err != nil {
					return err
				}
			}
			return k.copyTo(ctx, from, to, snapshot)
		})
	})
	if err != nil {
		return nil, err
	}
	return fork, nil
}

// formFor is how the pods of a fork of that name are made: with another claim.
func (k *persistentInstance) formFor(name string) record.Form {
	f := k.Form
	f.Pod = *f.Pod.DeepCopy()
	for i := range f.Pod.Volumes {
		if f.Pod.Volumes[i].Name == podspec.PersistentVolume {
			f.Pod.Volumes[i] = podspec.ClaimVolume(podspec.PersistentVolume, names.ObjectName(name))
		}
	}
	return f
}

// copyTo sends a copy of the files from a store to a sandbox in which nothing has run.
func (k *persistentInstance) copyTo(ctx context.Context, from, to *instance, snapshot string) error {
	source, out := from.Files().(sandbox.Archiver)
	target, in := to.Files().(sandbox.Archiver)
	if !out || !in {
		return sandbox.Errorf(sandbox.Internal, "the guest moves no trees")
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
			_ = r.Close() // it was not taken
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return nil
}
