package kube

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podstore"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// What is done to the files of a sandbox is done by the guest in a container that mounts the whole claim and in which no command
// of the sandbox runs: the door of its pod, or, when it is stopped, that of a pod which has nothing else.

// storeSession begins a session with the guest of a store.
func (i *instance) storeSession(ctx context.Context, container string, more ...string) error {
	s, err := i.open(ctx, container, i.DoorCommand("store", more...), func(s *cluster.Stream) error {
		if i.driver.options.GuestImage != "" {
			return nil
		}
		return s.SendMissing(ctx, i.program.data)
	})
	if err == nil {
		i.session, err = session.Connect(ctx, s)
	}
	if err != nil {
		return i.why(ctx, err)
	}
	return nil
}

// beside calls f with the store of a sandbox that runs.
func (d *PersistentDriver) beside(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, pod *corev1.Pod, f func(context.Context, *instance) error) error {
	p, err := d.prepared(c, k, nil)
	if err != nil {
		return err
	}
	i := &instance{prepared: p, pod: pod}
	err = i.atOpenDoor(ctx, func() error { return i.storeSession(ctx, names.DoorContainer) })
	if err == nil {
		err = f(ctx, i)
	}
	return errors.Join(err, i.detach(context.WithoutCancel(ctx)))
}

// alone calls f with the store of a sandbox that is stopped. It cannot be started meanwhile, because the pod has its name;
// that ends with the process that made it.
func (d *PersistentDriver) alone(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, f func(context.Context, *instance) error) error {
	if err := d.vacated(ctx, c, k); err != nil {
		return err
	}
	p, err := d.prepared(c, k, nil)
	if err != nil {
		return err
	}
	pod, err := newPersistentPod(k, names.ObjectName(k.Record.ID), names.RoleStore, p.StorePod(*k.Form.Pod.DeepCopy()))
	if err != nil {
		return err
	}
	ctx, stop := c.WatchBinding(ctx, k.Claim)
	defer stop()
	i := &instance{prepared: p}
	d.Inner.options.Trace("kube", "create pod "+pod.Name+" for the files of "+k.Record.ID)
	if i.pod, err = c.CreatePod(ctx, pod); err != nil {
		err = errors.Join(err, c.WithdrawPod(ctx, pod, err))
		if sandbox.CodeOf(err) == sandbox.Exists {
			err = sandbox.Errorf(sandbox.Unavailable, "sandbox %s was started, or somebody works on its files", k.Record.ID).WithHint("try again")
		}
		return err
	}
	if err = c.AwaitRunning(ctx, i.pod); err == nil {
		err = i.storeSession(ctx, names.Container, "--alone")
	}
	if err == nil {
		err = f(ctx, i)
	}
	return errors.Join(err, i.Close(context.WithoutCancel(ctx)))
}

// visit has the pod of a store end whose maker was killed before it came: it ends with the last who is there. One that cannot
// even start is nobody's.
func (d *PersistentDriver) visit(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, pod *corev1.Pod) {
	p, err := d.prepared(c, k, nil)
	if err != nil {
		return
	}
	i := &instance{prepared: p, pod: pod}
	if _, running := cluster.StateOf(pod); !running {
		if err := c.AwaitRunning(ctx, pod); err != nil && ctx.Err() == nil {
			_ = c.DeletePod(ctx, pod.Name, pod.UID) // whoever has made it fails, too
			return
		}
	}
	_ = i.storeSession(ctx, names.Container, "--alone") // it may have ended meanwhile
	_ = i.detach(ctx)
}

// storing calls f with the store of the sandbox.
func (k *persistentInstance) storing(ctx context.Context, f func(ctx context.Context, s podstore.Client, i *instance) error) error {
	if k.isClosed() {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	do := func(ctx context.Context, i *instance) error { return f(ctx, podstore.New(i.Start), i) }
	pod, err := k.cluster.FindRunningPod(ctx, k.Record.ID)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return k.driver.alone(ctx, k.cluster, k.Sandbox, do)
	}
	if err != nil {
		return err
	}
	return k.driver.beside(ctx, k.cluster, k.Sandbox, pod, do)
}

// Snapshot keeps workspace and home as they are now. What runs is stopped meanwhile.
func (k *persistentInstance) Snapshot(ctx context.Context, name string) error {
	k.working.Lock()
	defer k.working.Unlock()
	return k.storing(ctx, func(ctx context.Context, s podstore.Client, _ *instance) error {
		return k.still(ctx, func() error { return s.Snapshot(ctx, name) })
	})
}

// still calls f while no command runs. Those that are started meanwhile do.
func (k *persistentInstance) still(ctx context.Context, f func() error) error {
	i, err := k.connected()
	if err != nil {
		if k.isClosed() {
			return err
		}
		return f()
	}
	resume, err := i.still(ctx)
	if err != nil {
		return err
	}
	defer resume()
	return f()
}

// Snapshots lists them.
func (k *persistentInstance) Snapshots(ctx context.Context) (list []sandbox.SnapshotInfo, err error) {
	err = k.storing(ctx, func(ctx context.Context, s podstore.Client, _ *instance) error {
		list, err = s.Snapshots(ctx)
		return err
	})
	return list, err
}

// RemoveSnapshot removes one.
func (k *persistentInstance) RemoveSnapshot(ctx context.Context, name string) error {
	return k.storing(ctx, func(ctx context.Context, s podstore.Client, _ *instance) error { return s.Remove(ctx, name) })
}

// Restore ends what runs, and puts the files back. The sandbox runs again afterwards, if it did.
func (k *persistentInstance) Restore(ctx context.Context, name string) error {
	k.working.Lock()
	defer k.working.Unlock()
	i, err := k.connected()
	stopped := sandbox.CodeOf(err) == sandbox.Closed && !k.isClosed()
	if err != nil && !stopped {
		return err
	}
	if !stopped {
		if err := k.has(ctx, name); err != nil { // nothing is killed for what cannot be
			return err
		}
		if err := k.driver.halt(ctx, k.cluster, k.Sandbox); err != nil {
			return err
		}
		_ = i.detach(ctx) // its pod is gone
	}
	if err := k.driver.putBack(ctx, k.cluster, k.Sandbox, name); err != nil || stopped {
		return err
	}
	now, err := k.driver.restart(ctx, k.cluster, k.Sandbox, k.env)
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errors.Join(sandbox.Errorf(sandbox.Closed, "the sandbox is closed"), now.detach(ctx))
	}
	k.inner = now
	return nil
}

// has fails where there is no snapshot of that name.
func (k *persistentInstance) has(ctx context.Context, name string) error {
	list, err := k.Snapshots(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.Name == name {
			return nil
		}
	}
	return sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name).WithHint("'agent-sandbox snapshots NAME' lists them")
}

// putBack restores the files of a sandbox that is stopped. Nobody starts it between the two steps of an exchange, not even
// when we are killed there.
func (d *PersistentDriver) putBack(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, snapshot string) error {
	return d.alone(ctx, c, k, func(ctx context.Context, i *instance) error {
		if err := c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationUnrest: record.Stamp()}); err != nil {
			return err
		}
		if err := podstore.New(i.Start).Restore(ctx, snapshot); err != nil {
			return err // what has begun is finished by the next start
		}
		return c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationUnrest: nil})
	})
}

// settle finishes a restore in the middle of which somebody was killed.
func (d *PersistentDriver) settle(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) error {
	now, err := c.FindClaim(ctx, k.Record.ID)
	if err != nil || now.Annotations[record.AnnotationUnrest] == "" {
		return err
	}
	return d.alone(ctx, c, k, func(ctx context.Context, i *instance) error {
		if err := podstore.New(i.Start).Settle(ctx); err != nil {
			return err
		}
		return c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationUnrest: nil})
	})
}
