package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sort"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// PersistentDriver creates persistent sandboxes, which need no process outside of the cluster: a sandbox is a volume claim with its
// files and, while it runs, a pod. Annotations of the claim are its only record, so any process that may use the namespace can serve
// it, on any machine. It is a [persist.Lifecycle], and safe for concurrent use, also by several processes.
type PersistentDriver struct {
	Inner *Driver       // of the namespace
	Idle  time.Duration // as in [persist.Driver]
	TTL   time.Duration // as above
	Env   []string      // the environment from which policies pass variables to commands that this process starts
}

var _ persist.Lifecycle = (*PersistentDriver)(nil)

// Name returns Inner's name.
func (d *PersistentDriver) Name() string { return d.Inner.Name() }

// Check returns Inner's report.
func (d *PersistentDriver) Check(ctx context.Context) (sandbox.Report, error) {
	return d.Inner.Check(ctx)
}

// find returns the sandbox with that name, or NotFound.
func (d *PersistentDriver) find(ctx context.Context, name string) (*cluster.Cluster, *record.Sandbox, error) {
	if record.CheckName(name) != nil {
		return nil, nil, record.NotFoundError(name)
	}
	c, err := d.Inner.connect()
	if err != nil {
		return nil, nil, err
	}
	claim, err := c.FindClaim(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound || err == nil && (!record.IsComplete(claim) || claim.Labels[names.LabelRole] != names.RoleSandbox) {
		return nil, nil, record.NotFoundError(name)
	}
	if err != nil {
		return nil, nil, err
	}
	k, err := record.Decode(claim)
	if err != nil {
		return nil, nil, err
	}
	return c, k, nil
}

func stoppedError(name string) error {
	return sandbox.Errorf(sandbox.Closed, "sandbox %s is stopped", name).WithHint("'agent-sandbox start %s' starts it", name)
}

// Open connects to a running sandbox. Closed: it is stopped.
func (d *PersistentDriver) Open(ctx context.Context, name string) (sandbox.Instance, error) {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return nil, err
	}
	i, err := d.open(ctx, c, k, d.Env)
	if err != nil {
		return nil, err
	}
	return i, nil
}

func (d *PersistentDriver) open(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, env []string) (*persistentInstance, error) {
	pod, err := c.FindRunningPod(ctx, k.Record.ID)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil, stoppedError(k.Record.ID)
	}
	if err != nil {
		return nil, err
	}
	i, err := d.attach(ctx, c, k, pod, env)
	if err != nil {
		return nil, err
	}
	if err := i.readEnvironment(ctx); err != nil {
		return nil, errors.Join(i.explain(ctx, err), i.detach(ctx))
	}
	return &persistentInstance{driver: d, cluster: c, Sandbox: k, env: env, inner: i}, nil
}

// attach connects to the guest in a pod, after a process that starts the pod has finished. It runs no command, so the sandbox stays
// idle. Closed: the pod has ended, or it was deleted here, because the process that started it was killed before it sent the guest.
func (d *PersistentDriver) attach(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, pod *corev1.Pod, env []string) (*instance, error) {
	killed, err := d.awaitStarted(ctx, c, k, pod)
	if err != nil {
		return nil, err
	}
	p, err := d.prepareAgain(c, k, env)
	if err != nil {
		return nil, err
	}
	i := &instance{prepared: p, pod: pod}
	if err := i.connectAtDoor(ctx, func() error { return i.connect(ctx, i.openDoorStream) }); err != nil {
		if killed && i.hasNoGuest(ctx, err) {
			d.Inner.options.Trace("kube", "delete pod "+pod.Name+", to which no process sends a guest")
			return nil, errors.Join(stoppedError(k.Record.ID), i.detach(ctx), c.DeletePod(ctx, pod.Name, pod.UID))
		}
		return nil, errors.Join(i.explainDoor(ctx, err), i.detach(ctx))
	}
	return i, nil
}

// explainDoor returns why a pod's door does not answer. The door ends with the sandbox, and the cluster reports that later.
func (i *instance) explainDoor(ctx context.Context, err error) error {
	_, ended := errors.AsType[*cluster.ExitError](err)
	if ended || sandbox.CodeOf(err) == sandbox.Internal {
		return i.explainEnd(ctx, err)
	}
	return i.explain(ctx, err)
}

// hasNoGuest reports whether a connection to the pod's door failed with err because the pod still waits for its guest. No command can
// run in such a pod.
func (i *instance) hasNoGuest(ctx context.Context, err error) bool {
	if exit, ok := errors.AsType[*cluster.ExitError](err); ok {
		return exit.Code == podinit.ExitUnstarted
	}
	if i.driver.options.GuestImage != "" { // the guest comes with the pod
		return false
	}
	pod, err := i.cluster.FindPod(ctx, i.pod.Name)
	if err != nil || pod.UID != i.pod.UID {
		return false
	}
	now, running := cluster.StateOf(pod)
	return !running && !now.Final
}

// connectAtDoor calls connect, and once more if the pod's door did not run the first time: its container starts beside that of the
// sandbox.
func (i *instance) connectAtDoor(ctx context.Context, connect func() error) error {
	err := connect()
	if err == nil || ctx.Err() != nil {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	for waited := false; ; waited = true {
		pod, perr := i.cluster.FindPod(waiting, i.pod.Name)
		if perr != nil || cluster.HasEnded(pod) || pod.UID != i.pod.UID {
			return err
		}
		if isDoorOpen(pod) {
			if waited {
				return connect()
			}
			return err
		}
		if i.cluster.AwaitChange(waiting, "pods", pod.Name, pod.ResourceVersion) != nil {
			return err
		}
	}
}

func isDoorOpen(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == names.DoorContainer && s.State.Running != nil
	})
}

// errSilent ends a wait for a process that does not report.
var errSilent = errors.New("the process that starts the sandbox does not report")

// awaitStarted waits until no process is starting the sandbox in pod. A process that was killed leaves its annotation; it counts as
// killed when it does not renew that for [record.SilentTime]. Closed: the pod has ended.
func (d *PersistentDriver) awaitStarted(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, pod *corev1.Pod) (killed bool, err error) {
	alive, end := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer end(nil)
	watch.Go(func() {
		if awaitEnd(alive, c, pod) {
			end(stoppedError(k.Record.ID))
		}
	})
	claim, last, seen := k.Claim, time.Now(), k.Claim.Annotations[record.AnnotationStarting]
	for record.IsStarting(claim) {
		now, err := awaitReport(alive, c, claim, last.Add(record.SilentTime))
		switch cause := context.Cause(alive); {
		case cause != nil:
			return false, cause
		case errors.Is(err, errSilent):
			return true, nil
		case err != nil:
			return false, err
		}
		claim = now
		if report := claim.Annotations[record.AnnotationStarting]; report != seen {
			last, seen = time.Now(), report
		}
	}
	return claim.Annotations[record.AnnotationStarting] != "", nil
}

// awaitReport returns a claim as it is after its next change, or errSilent at a time.
func awaitReport(ctx context.Context, c *cluster.Cluster, claim *corev1.PersistentVolumeClaim, until time.Time) (*corev1.PersistentVolumeClaim, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, until, errSilent)
	defer cancel()
	err := c.AwaitChange(ctx, cluster.ClaimResource, claim.Name, claim.ResourceVersion)
	if err == nil {
		claim, err = c.FindClaim(ctx, claim.Labels[names.LabelID])
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return claim, err
}

// awaitEnd waits until a pod has ended or is gone; false: ctx ended, or the cluster did not answer.
func awaitEnd(ctx context.Context, c *cluster.Cluster, pod *corev1.Pod) bool {
	for !cluster.HasEnded(pod) {
		if c.AwaitChange(ctx, "pods", pod.Name, pod.ResourceVersion) != nil {
			return false
		}
		now, err := c.FindPod(ctx, pod.Name)
		if sandbox.CodeOf(err) == sandbox.NotFound || err == nil && now.UID != pod.UID {
			return true
		}
		if err != nil {
			return false
		}
		pod = now
	}
	return true
}

// Reach is Open; for a stopped sandbox it returns an instance that cannot run commands but has the snapshots.
func (d *PersistentDriver) Reach(ctx context.Context, name string) (sandbox.Instance, error) {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return nil, err
	}
	i, err := d.open(ctx, c, k, d.Env)
	if sandbox.CodeOf(err) == sandbox.Closed {
		return &persistentInstance{driver: d, cluster: c, Sandbox: k, env: d.Env}, nil
	}
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Start creates the pod of a stopped sandbox. Exists: it runs.
func (d *PersistentDriver) Start(ctx context.Context, name string, env []string) error {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return err
	}
	i, err := d.startStopped(ctx, c, k, env)
	if err != nil {
		return err
	}
	return i.detach(ctx)
}

func (d *PersistentDriver) startStopped(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, env []string) (*instance, error) {
	err := d.awaitNoPod(ctx, c, k)
	if sandbox.CodeOf(err) == sandbox.Exists && k.Claim.Annotations[record.AnnotationStarting] != "" && d.isAbandoned(ctx, c, k) {
		err = d.awaitNoPod(ctx, c, k)
	}
	if err != nil {
		return nil, err
	}
	// Other processes see that the sandbox is being started.
	if err := c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationStarting: record.Stamp()}); err != nil {
		return nil, err
	}
	end := renew(ctx, c, k, record.AnnotationStarting, record.StartingInterval)
	var i *instance
	if err = d.finishRestore(ctx, c, k); err == nil {
		i, err = d.createPod(ctx, c, k, env)
	}
	end()
	if sandbox.CodeOf(err) == sandbox.Exists {
		return nil, runningError(k.Record.ID)
	}
	_ = c.AnnotateClaim(context.WithoutCancel(ctx), k.Claim, map[string]any{record.AnnotationStarting: nil}) // an old annotation counts no more
	return i, err
}

// isAbandoned reports whether the pod of a sandbox has ended by now, also because [PersistentDriver.attach] has deleted it.
func (d *PersistentDriver) isAbandoned(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) bool {
	pod, err := c.FindRunningPod(ctx, k.Record.ID)
	if err != nil {
		return sandbox.CodeOf(err) == sandbox.NotFound
	}
	i, err := d.attach(ctx, c, k, pod, nil)
	if err == nil {
		_ = i.detach(ctx) // it serves others
	}
	return sandbox.CodeOf(err) == sandbox.Closed
}

func runningError(name string) error {
	return sandbox.Errorf(sandbox.Exists, "sandbox %s runs already", name)
}

// removeEndedPod deletes the pod of a sandbox if it has ended. Exists: it runs. Unavailable: another process works on the files, or
// the pod is being deleted; it returns that pod.
func (d *PersistentDriver) removeEndedPod(ctx context.Context, c *cluster.Cluster, name string) (*corev1.Pod, error) {
	pod, err := c.FindPod(ctx, names.ObjectName(name))
	switch {
	case sandbox.CodeOf(err) == sandbox.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case cluster.HasEnded(pod):
		return nil, c.DeletePod(ctx, pod.Name, pod.UID)
	case pod.DeletionTimestamp != nil:
		return pod, sandbox.Errorf(sandbox.Unavailable, "the pod of sandbox %s is being deleted", name).WithHint("try again when it is gone")
	case pod.Labels[names.LabelRole] == names.RoleStore:
		return pod, sandbox.Errorf(sandbox.Unavailable, "another process works on the files of sandbox %s", name).WithHint("try again when that has ended")
	}
	return nil, runningError(name)
}

// awaitNoPod is removeEndedPod, and waits up to [cluster.Patience] for pods that are about to end.
func (d *PersistentDriver) awaitNoPod(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) error {
	waiting, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	for {
		pod, err := d.removeEndedPod(ctx, c, k.Record.ID)
		if pod == nil {
			return err
		}
		if pod.Labels[names.LabelRole] == names.RoleStore && pod.DeletionTimestamp == nil {
			d.endStorePod(waiting, c, k, pod)
		}
		if c.AwaitChange(waiting, "pods", pod.Name, pod.ResourceVersion) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// Stop ends all commands of a sandbox and its pod. It succeeds for a stopped sandbox.
func (d *PersistentDriver) Stop(ctx context.Context, name string) error {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return err
	}
	return d.stop(ctx, c, k)
}

// stop ends the pod of a sandbox and waits until nothing runs in it.
func (d *PersistentDriver) stop(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) error {
	pod, err := c.FindPod(ctx, names.ObjectName(k.Record.ID))
	if sandbox.CodeOf(err) == sandbox.NotFound || err == nil && pod.Labels[names.LabelRole] != names.RoleSandbox {
		return nil
	}
	if err != nil {
		return err
	}
	if !record.IsStarting(k.Claim) { // the guest waits for the end of all commands; the deletion of a pod does not
		i, err := d.attach(ctx, c, k, pod, nil)
		if err == nil {
			return i.destroy(ctx)
		}
		d.Inner.options.Trace("kube", "stop "+k.Record.ID+" without its guest: "+err.Error())
	}
	return c.DeletePod(ctx, pod.Name, pod.UID)
}

// Destroy removes a sandbox with all its objects, also an incomplete one. NotFound: there is none.
func (d *PersistentDriver) Destroy(ctx context.Context, name string) error {
	if record.CheckName(name) != nil {
		return record.NotFoundError(name)
	}
	c, err := d.Inner.connect()
	if err != nil {
		return err
	}
	claim, err := c.FindClaim(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound || err == nil && claim.Labels[names.LabelRole] != names.RoleSandbox {
		return record.NotFoundError(name)
	}
	if err != nil {
		return err
	}
	return d.remove(ctx, c, claim)
}

// remove deletes a claim and the pods that use it.
func (d *PersistentDriver) remove(ctx context.Context, c *cluster.Cluster, claim *corev1.PersistentVolumeClaim) error {
	if err := c.DeleteClaim(ctx, claim, ""); err != nil { // from here on the sandbox does not exist, also if this process is killed
		return err
	}
	if k, err := record.Decode(claim); err == nil && record.IsComplete(claim) {
		_ = d.stop(ctx, c, k) // deletePods below ends it otherwise
	}
	if err := c.DeletePods(ctx, claim.Labels[names.LabelID]); err != nil {
		return err
	}
	return c.AwaitClaimGone(ctx, claim)
}

// Load returns the record of a sandbox.
func (d *PersistentDriver) Load(ctx context.Context, name string) (persist.Record, error) {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return persist.Record{}, err
	}
	return locateRecord(c, k), nil
}

// locateRecord returns the record of a sandbox with its cluster and namespace.
func locateRecord(c *cluster.Cluster, k *record.Sandbox) persist.Record {
	r := k.Record
	r.Cluster = &persist.Cluster{Context: c.Context, Namespace: c.Namespace, UID: string(k.Claim.UID)}
	return r
}

// Records returns the records of all sandboxes of the namespace, sorted by ID, and errors of damaged ones.
func (d *PersistentDriver) Records(ctx context.Context) ([]persist.Record, error) {
	c, err := d.Inner.connect()
	if err != nil {
		return nil, err
	}
	d.sweep(ctx, c)
	all, err := c.ListClaims(ctx)
	if err != nil {
		return nil, err
	}
	var out []persist.Record
	var errs []error
	for i := range all {
		if !record.IsComplete(&all[i]) {
			continue
		}
		k, err := record.Decode(&all[i])
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out = append(out, locateRecord(c, k))
	}
	sort.Slice(out, func(i, j int) bool { return out[i].ID < out[j].ID })
	return out, errors.Join(errs...)
}

// List returns the sandboxes of Records.
func (d *PersistentDriver) List(ctx context.Context) ([]sandbox.Info, error) {
	records, err := d.Records(ctx)
	var out []sandbox.Info
	for _, r := range records {
		out = append(out, r.Info())
	}
	return out, err
}

// State reports whether a sandbox has a pod that runs or starts, and how many commands run in it.
func (d *PersistentDriver) State(ctx context.Context, name string) (persist.State, error) {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return persist.State{}, err
	}
	pod, err := c.FindRunningPod(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return persist.State{}, nil
	}
	if err != nil || record.IsStarting(k.Claim) {
		return persist.State{Running: err == nil}, err
	}
	i, err := d.attach(ctx, c, k, pod, nil)
	if sandbox.CodeOf(err) == sandbox.Closed {
		return persist.State{}, nil
	}
	if err != nil {
		return persist.State{Running: true}, err
	}
	st, err := i.readState(ctx)
	return persist.State{Running: true, Commands: st.Running, Frozen: st.Frozen}, errors.Join(err, i.detach(ctx))
}

// Log returns the output of the pod's first process; empty if the sandbox has no pod. The caller closes it.
func (d *PersistentDriver) Log(ctx context.Context, name string) (io.ReadCloser, error) {
	c, _, err := d.find(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := c.ReadLog(ctx, names.ObjectName(name))
	if sandbox.CodeOf(err) == sandbox.Invalid { // it runs, and the API learns that up to a second later
		if pod, perr := c.FindPod(ctx, names.ObjectName(name)); perr == nil {
			_ = c.AwaitState(ctx, pod, func(pod *corev1.Pod) bool {
				now, running := cluster.StateOf(pod)
				return running || now.Final
			})
		}
		data, err = c.ReadLog(ctx, names.ObjectName(name))
	}
	if sandbox.CodeOf(err) == sandbox.NotFound {
		err = nil // it is stopped
	}
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// Prune destroys the stopped sandboxes and returns their names.
func (d *PersistentDriver) Prune(ctx context.Context) (names []string, err error) {
	records, err := d.Records(ctx)
	for _, r := range records {
		gone, perr := d.pruneSandbox(ctx, r.ID)
		if gone {
			names = append(names, r.ID)
		}
		err = errors.Join(err, perr)
	}
	return names, err
}

// pruneSandbox destroys a stopped sandbox, unless its claim has changed meanwhile.
func (d *PersistentDriver) pruneSandbox(ctx context.Context, name string) (gone bool, err error) {
	c, k, err := d.find(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound || err == nil && record.IsStarting(k.Claim) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch _, err := d.removeEndedPod(ctx, c, name); sandbox.CodeOf(err) {
	case "":
		return d.deleteUnchanged(ctx, c, k.Claim)
	case sandbox.Exists, sandbox.Unavailable:
		return false, nil
	default:
		return false, err
	}
}
