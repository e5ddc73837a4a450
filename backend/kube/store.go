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

// Operations on the files of a persistent sandbox run in its store: the guest in a container that mounts the whole claim and runs no
// commands of the sandbox. It is the door of the sandbox's pod or, when the sandbox is stopped, of a pod with nothing else.

// openStoreSession begins a session with the guest of a store.
func (i *instance) openStoreSession(ctx context.Context, container string, more ...string) error {
	s, err := i.open(ctx, container, i.DoorCommand("store", more...), func(s *cluster.Stream) error {
		if i.driver.options.GuestImage != "" {
			return nil
		}
		return s.SendMissing(ctx, i.program.data)
	})
	if err == nil {
		i.session, err = session.Connect(ctx, s)
	}
	return err
}

// withRunningStore calls f with the store of a running sandbox.
func (d *PersistentDriver) withRunningStore(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, pod *corev1.Pod, f func(context.Context, *instance) error) error {
	p, err := d.prepareAgain(c, k, nil)
	if err != nil {
		return err
	}
	i := &instance{prepared: p, pod: pod}
	if err = i.connectAtDoor(ctx, func() error { return i.openStoreSession(ctx, names.DoorContainer) }); err == nil {
		err = f(ctx, i)
	} else {
		err = i.explainDoor(ctx, err)
	}
	return errors.Join(err, i.detach(context.WithoutCancel(ctx)))
}

// withStoppedStore calls f with the store of a stopped sandbox. The sandbox cannot be started meanwhile, because the store's pod has
// its name. The pod ends with the process that created it.
func (d *PersistentDriver) withStoppedStore(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, f func(context.Context, *instance) error) error {
	if err := d.awaitNoPod(ctx, c, k); err != nil {
		return err
	}
	p, err := d.prepareAgain(c, k, nil)
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
			err = sandbox.Errorf(sandbox.Unavailable, "sandbox %s was started, or another process works on its files", k.Record.ID).WithHint("try again")
		}
		return err
	}
	if err = c.AwaitRunning(ctx, i.pod); err == nil {
		if err = i.openStoreSession(ctx, names.Container, "--alone"); err != nil {
			err = i.explain(ctx, err)
		}
	}
	if err == nil {
		err = f(ctx, i)
	}
	return errors.Join(err, i.Close(context.WithoutCancel(ctx)))
}

// endStorePod ends the pod of a store whose creator was killed before it connected: the pod ends when its last client leaves. It
// deletes a pod that does not start.
func (d *PersistentDriver) endStorePod(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, pod *corev1.Pod) {
	p, err := d.prepareAgain(c, k, nil)
	if err != nil {
		return
	}
	i := &instance{prepared: p, pod: pod}
	if _, running := cluster.StateOf(pod); !running {
		if err := c.AwaitRunning(ctx, pod); err != nil && ctx.Err() == nil {
			_ = c.DeletePod(ctx, pod.Name, pod.UID) // the creator of the pod gets the error, too
			return
		}
	}
	_ = i.openStoreSession(ctx, names.Container, "--alone") // it may have ended meanwhile
	_ = i.detach(ctx)
}

// withStore calls f with the store of the sandbox.
func (k *persistentInstance) withStore(ctx context.Context, f func(ctx context.Context, s podstore.Client, i *instance) error) error {
	if k.isClosed() {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	do := func(ctx context.Context, i *instance) error { return f(ctx, podstore.New(i.Start), i) }
	pod, err := k.cluster.FindRunningPod(ctx, k.Record.ID)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return k.driver.withStoppedStore(ctx, k.cluster, k.Sandbox, do)
	}
	if err != nil {
		return err
	}
	return k.driver.withRunningStore(ctx, k.cluster, k.Sandbox, pod, do)
}

// Snapshot saves workspace and home as they are now. Running commands are paused meanwhile.
func (k *persistentInstance) Snapshot(ctx context.Context, name string) error {
	k.working.Lock()
	defer k.working.Unlock()
	return k.withStore(ctx, func(ctx context.Context, s podstore.Client, _ *instance) error {
		return k.whilePaused(ctx, func() error { return s.Snapshot(ctx, name) })
	})
}

// whilePaused calls f while the running commands are paused. Commands started meanwhile run.
func (k *persistentInstance) whilePaused(ctx context.Context, f func() error) error {
	i, err := k.connection()
	if err != nil {
		if k.isClosed() {
			return err
		}
		return f()
	}
	resume, err := i.session.Pause(ctx)
	if err != nil {
		return err
	}
	defer resume()
	return f()
}

// Snapshots lists the snapshots.
func (k *persistentInstance) Snapshots(ctx context.Context) (list []sandbox.SnapshotInfo, err error) {
	err = k.withStore(ctx, func(ctx context.Context, s podstore.Client, _ *instance) error {
		list, err = s.Snapshots(ctx)
		return err
	})
	return list, err
}

// RemoveSnapshot removes a snapshot. NotFound: there is none.
func (k *persistentInstance) RemoveSnapshot(ctx context.Context, name string) error {
	return k.withStore(ctx, func(ctx context.Context, s podstore.Client, _ *instance) error { return s.Remove(ctx, name) })
}

// Restore ends all commands and restores the files of a snapshot. A running sandbox runs again afterwards. NotFound: there is no
// such snapshot, and nothing was ended.
func (k *persistentInstance) Restore(ctx context.Context, name string) error {
	k.working.Lock()
	defer k.working.Unlock()
	i, err := k.connection()
	stopped := sandbox.CodeOf(err) == sandbox.Closed && !k.isClosed()
	if err != nil && !stopped {
		return err
	}
	if !stopped {
		if err := k.checkSnapshot(ctx, name); err != nil { // before any command is killed
			return err
		}
		if err := k.driver.stop(ctx, k.cluster, k.Sandbox); err != nil {
			return err
		}
		_ = i.detach(ctx) // its pod is deleted
	}
	if err := k.driver.restoreFiles(ctx, k.cluster, k.Sandbox, name); err != nil || stopped {
		return err
	}
	now, err := k.driver.startStopped(ctx, k.cluster, k.Sandbox, k.env)
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

// checkSnapshot returns NotFound if no snapshot has that name.
func (k *persistentInstance) checkSnapshot(ctx context.Context, name string) error {
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

// restoreFiles restores the files of a stopped sandbox. If this process is killed between the two steps of the exchange, the next
// start finishes it.
func (d *PersistentDriver) restoreFiles(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, snapshot string) error {
	return d.withStoppedStore(ctx, c, k, func(ctx context.Context, i *instance) error {
		if err := c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationUnrest: record.Stamp()}); err != nil {
			return err
		}
		if err := podstore.New(i.Start).Restore(ctx, snapshot); err != nil {
			return err // the next start finishes it
		}
		return c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationUnrest: nil})
	})
}

// finishRestore finishes a restore whose process was killed.
func (d *PersistentDriver) finishRestore(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) error {
	now, err := c.FindClaim(ctx, k.Record.ID)
	if err != nil || now.Annotations[record.AnnotationUnrest] == "" {
		return err
	}
	return d.withStoppedStore(ctx, c, k, func(ctx context.Context, i *instance) error {
		if err := podstore.New(i.Start).Settle(ctx); err != nil {
			return err
		}
		return c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationUnrest: nil})
	})
}
