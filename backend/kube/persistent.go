package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// PersistentDriver makes persistent sandboxes in the cluster, without any process of ours outside of it: a volume claim with the files,
// and while a sandbox runs a pod. What is known of one are annotations of its claim, so that any process that may use the
// namespace serves it, on any machine. It is a [keep.Lifecycle], and safe for concurrent use, also by several processes.
type PersistentDriver struct {
	Inner *Driver       // of the namespace
	Idle  time.Duration // as in keep.Driver
	TTL   time.Duration // as above
	Env   []string      // of which the policy of a sandbox lets variables through to commands, when this process has opened it
}

var _ persist.Lifecycle = (*PersistentDriver)(nil)

// Name is that of the driver within.
func (d *PersistentDriver) Name() string { return d.Inner.Name() }

// Check is that of the driver within.
func (d *PersistentDriver) Check(ctx context.Context) (sandbox.Report, error) {
	return d.Inner.Check(ctx)
}

// find is the sandbox of that name.
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

func isStopped(name string) error {
	return sandbox.Errorf(sandbox.Closed, "sandbox %s is stopped", name).WithHint("'agent-sandbox start %s' starts it", name)
}

// Open connects to a sandbox that runs. Closed: it is stopped.
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
		return nil, isStopped(k.Record.ID)
	}
	if err != nil {
		return nil, err
	}
	i, err := d.attach(ctx, c, k, pod, env)
	if err != nil {
		return nil, err
	}
	if err := i.readEnvironment(ctx); err != nil {
		return nil, errors.Join(i.why(ctx, err), i.detach(ctx))
	}
	return &persistentInstance{driver: d, cluster: c, Sandbox: k, env: env, inner: i}, nil
}

// attach connects to the guest in a pod, when whoever starts that has done so. It runs nothing: looking is no use of a sandbox.
func (d *PersistentDriver) attach(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, pod *corev1.Pod, env []string) (*instance, error) {
	if err := d.started(ctx, c, k); err != nil {
		return nil, err
	}
	p, err := d.prepared(c, k, env)
	if err != nil {
		return nil, err
	}
	i := &instance{prepared: p, pod: pod}
	if err := i.atOpenDoor(ctx, func() error { return i.connect(ctx, i.again) }); err != nil {
		return nil, errors.Join(i.why(ctx, err), i.detach(ctx))
	}
	return i, nil
}

// atOpenDoor calls connect, and once more when the pod's door was not open the first time: it opens beside the sandbox.
func (i *instance) atOpenDoor(ctx context.Context, connect func() error) error {
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
		if doorIsOpen(pod) {
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

func doorIsOpen(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == names.DoorContainer && s.State.Running != nil
	})
}

// started returns when nobody is about to start a sandbox.
func (d *PersistentDriver) started(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) error {
	ctx, cancel := context.WithTimeoutCause(ctx, cluster.StartTime, sandbox.Errorf(sandbox.Timeout, "sandbox %s did not start in %s", k.Record.ID, cluster.StartTime))
	defer cancel()
	for claim := k.Claim; record.IsStarting(claim); {
		if err := c.AwaitChange(ctx, cluster.ClaimResource, claim.Name, claim.ResourceVersion); err != nil {
			return err
		}
		var err error
		if claim, err = c.FindClaim(ctx, k.Record.ID); err != nil {
			return err
		}
	}
	return nil
}

// Reach is Open, and for a sandbox that is stopped an instance that runs nothing but has its snapshots.
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

// Start makes a pod for a sandbox that has none. Exists: it has one.
func (d *PersistentDriver) Start(ctx context.Context, name string, env []string) error {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return err
	}
	i, err := d.restart(ctx, c, k, env)
	if err != nil {
		return err
	}
	return i.detach(ctx)
}

func (d *PersistentDriver) restart(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, env []string) (*instance, error) {
	if err := d.vacated(ctx, c, k); err != nil {
		return nil, err
	}
	// Whoever takes it for a stopped one meanwhile sees that it is not.
	if err := c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationStarting: record.Stamp()}); err != nil {
		return nil, err
	}
	if err := d.settle(ctx, c, k); err != nil {
		return nil, err
	}
	i, err := d.launch(ctx, c, k, env)
	if sandbox.CodeOf(err) == sandbox.Exists {
		return nil, runsAlready(k.Record.ID)
	}
	_ = c.AnnotateClaim(context.WithoutCancel(ctx), k.Claim, map[string]any{record.AnnotationStarting: nil}) // it is old some day
	return i, err
}

func runsAlready(name string) error {
	return sandbox.Errorf(sandbox.Exists, "sandbox %s runs already", name)
}

// vacate removes the pod of a sandbox when it has ended. Exists: it runs. Unavailable: others work on its files, in the pod that
// is returned.
func (d *PersistentDriver) vacate(ctx context.Context, c *cluster.Cluster, name string) (*corev1.Pod, error) {
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
		return pod, sandbox.Errorf(sandbox.Unavailable, "somebody works on the files of sandbox %s", name).WithHint("try again when that has ended")
	}
	return nil, runsAlready(name)
}

// vacated is vacate that waits for a moment: others have ended, and the cluster does not know it yet.
func (d *PersistentDriver) vacated(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) error {
	waiting, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	for {
		pod, err := d.vacate(ctx, c, k.Record.ID)
		if pod == nil {
			return err
		}
		if pod.Labels[names.LabelRole] == names.RoleStore && pod.DeletionTimestamp == nil {
			d.visit(waiting, c, k, pod)
		}
		if c.AwaitChange(waiting, "pods", pod.Name, pod.ResourceVersion) != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
}

// Stop ends what runs in a sandbox, and its pod. One that is stopped is no error.
func (d *PersistentDriver) Stop(ctx context.Context, name string) error {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return err
	}
	return d.halt(ctx, c, k)
}

// halt returns when nothing runs in a sandbox any more.
func (d *PersistentDriver) halt(ctx context.Context, c *cluster.Cluster, k *record.Sandbox) error {
	pod, err := c.FindPod(ctx, names.ObjectName(k.Record.ID))
	if sandbox.CodeOf(err) == sandbox.NotFound || err == nil && pod.Labels[names.LabelRole] != names.RoleSandbox {
		return nil
	}
	if err != nil {
		return err
	}
	if !record.IsStarting(k.Claim) { // the guest knows when all has ended; a pod that is deleted at once does not
		i, err := d.attach(ctx, c, k, pod, nil)
		if err == nil {
			return i.end(ctx)
		}
		d.Inner.options.Trace("kube", "stop "+k.Record.ID+" without its guest: "+err.Error())
	}
	return c.DeletePod(ctx, pod.Name, pod.UID)
}

// Destroy removes a sandbox with all its objects, also one that was never finished.
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

// remove deletes a claim, and the pods that use it.
func (d *PersistentDriver) remove(ctx context.Context, c *cluster.Cluster, claim *corev1.PersistentVolumeClaim) error {
	if err := c.DeleteClaim(ctx, claim, ""); err != nil { // from here on it is nobody's sandbox, whatever becomes of us
		return err
	}
	if k, err := record.Decode(claim); err == nil && record.IsComplete(claim) {
		_ = d.halt(ctx, c, k) // below it is ended the other way
	}
	if err := c.DeletePods(ctx, claim.Labels[names.LabelID]); err != nil {
		return err
	}
	return c.AwaitClaimGone(ctx, claim)
}

// Load tells what a sandbox was made from.
func (d *PersistentDriver) Load(ctx context.Context, name string) (persist.Record, error) {
	c, k, err := d.find(ctx, name)
	if err != nil {
		return persist.Record{}, err
	}
	return located(c, k), nil
}

// located is the record with where it is.
func located(c *cluster.Cluster, k *record.Sandbox) persist.Record {
	r := k.Record
	r.Cluster = &persist.Cluster{Context: c.Context, Namespace: c.Namespace, UID: string(k.Claim.UID)}
	return r
}

// Records are those of all sandboxes of the namespace.
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
		out = append(out, located(c, k))
	}
	slices.SortFunc(out, func(a, b persist.Record) int { return strings.Compare(a.ID, b.ID) })
	return out, errors.Join(errs...)
}

// List is Records, shorter.
func (d *PersistentDriver) List(ctx context.Context) ([]sandbox.Info, error) {
	records, err := d.Records(ctx)
	var out []sandbox.Info
	for _, r := range records {
		out = append(out, r.Info())
	}
	return out, err
}

// State tells whether a sandbox has a pod that runs, or begins to, and how many commands run there.
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
	if err != nil {
		return persist.State{Running: true}, err
	}
	st, err := i.state(ctx)
	return persist.State{Running: true, Commands: st.Running}, errors.Join(err, i.detach(ctx))
}

// Log is what the first process of the pod wrote, while there is a pod.
func (d *PersistentDriver) Log(ctx context.Context, name string) (io.ReadCloser, error) {
	c, _, err := d.find(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := c.ReadLog(ctx, names.ObjectName(name))
	if sandbox.CodeOf(err) == sandbox.Invalid { // it runs, and the API hears of that up to a second later
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

// Prune destroys those that are stopped.
func (d *PersistentDriver) Prune(ctx context.Context) (names []string, err error) {
	records, err := d.Records(ctx)
	for _, r := range records {
		gone, perr := d.prune(ctx, r.ID)
		if gone {
			names = append(names, r.ID)
		}
		err = errors.Join(err, perr)
	}
	return names, err
}

// prune destroys one that is stopped, unless somebody has done anything to it meanwhile.
func (d *PersistentDriver) prune(ctx context.Context, name string) (gone bool, err error) {
	c, k, err := d.find(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound || err == nil && record.IsStarting(k.Claim) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch _, err := d.vacate(ctx, c, name); sandbox.CodeOf(err) {
	case "":
		return d.discard(ctx, c, k.Claim)
	case sandbox.Exists, sandbox.Unavailable:
		return false, nil
	default:
		return false, err
	}
}
