package kube

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/record"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Create creates a persistent sandbox. Its ID is spec.Name, which must be a DNS label; a name that cannot be an ID stays a label, and
// the ID is random. Exists: the ID is in use.
func (d *PersistentDriver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	id, err := record.ChooseID(spec.Name)
	if err != nil {
		return nil, err
	}
	if d.Inner.options.WarmPool != "" {
		return nil, podspec.Unsupported("warm-pool", "a persistent sandbox has a volume of its own", "leave it out, or use exec")
	}
	p, err := d.Inner.prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	d.sweep(ctx, p.cluster)
	// Each start creates the pod again, perhaps on another node: it asks for no feature that a node may lack.
	p.SandboxID, p.UserNamespace, p.GuestMounted, p.Persistent = id, false, false, &podspec.Persistent{Claim: names.ObjectName(id), Idle: d.Idle}
	pod, err := p.Render()
	if err != nil {
		return nil, err
	}
	pod.Spec.ActiveDeadlineSeconds = nil // idle and TTL end it
	made, err := d.createClaim(ctx, p.cluster, persist.Record{
		ID: id, Name: spec.Name, Backend: d.Name(), Created: p.created, Spec: spec, Idle: sandbox.Duration(d.Idle), TTL: sandbox.Duration(d.TTL),
	}, record.FormOf(&p.Design, pod))
	if err != nil {
		return nil, err
	}
	i, err := d.complete(ctx, p.cluster, made, spec.Env, func(ctx context.Context, i *instance) error {
		i.Plan = p.Plan // the plan from the record has no hidden paths
		return i.bringFiles(ctx)
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// createClaim creates the claim of a sandbox, which reserves its name. Exists: the name is in use.
func (d *PersistentDriver) createClaim(ctx context.Context, c *cluster.Cluster, r persist.Record, f record.Form) (*record.Sandbox, error) {
	annotations, err := record.Encode(r, f)
	if err != nil {
		return nil, err
	}
	annotations[record.AnnotationMaking] = record.Stamp()
	claim, err := c.CreateClaim(ctx, d.Inner.options.newClaim(r.ID, annotations))
	switch sandbox.CodeOf(err) {
	case "":
	case sandbox.Exists:
		return nil, sandbox.Errorf(sandbox.Exists, "there is a sandbox %s already in namespace %s", r.ID, c.Namespace).
			WithHint("'agent-sandbox destroy %s' removes it", r.ID)
	case sandbox.Exhausted:
		return nil, sandbox.Errorf(sandbox.Exhausted, "%w", err).WithHint("ask for less with --storage, or destroy other sandboxes")
	default:
		return nil, errors.Join(err, d.withdrawClaim(ctx, c, r.ID, annotations, err))
	}
	return &record.Sandbox{Claim: claim, Record: r, Form: f}, nil
}

// withdrawClaim deletes a claim whose creation failed with err, if it may exist all the same.
func (d *PersistentDriver) withdrawClaim(ctx context.Context, c *cluster.Cluster, name string, annotations map[string]string, err error) error {
	if !cluster.IsUncertain(err) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cluster.DeleteTime)
	defer cancel()
	found, err := c.FindClaim(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	if err != nil || found.Annotations[record.AnnotationRecord] != annotations[record.AnnotationRecord] { // the record has the time of its creation
		return err
	}
	return c.DeleteClaim(ctx, found, "")
}

// complete creates the first pod of a sandbox, calls fill, and marks the sandbox as complete. After an error nothing is left.
func (d *PersistentDriver) complete(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, env []string, fill func(context.Context, *instance) error) (*persistentInstance, error) {
	defer renew(ctx, c, k, record.AnnotationMaking, record.SeenInterval)()
	i, err := d.createPod(ctx, c, k, env)
	if err == nil {
		err = fill(ctx, i)
	}
	if err == nil {
		err = c.AnnotateClaim(ctx, k.Claim, map[string]any{record.AnnotationWhole: record.Stamp(), record.AnnotationMaking: nil})
	}
	if err != nil {
		if i != nil {
			err = errors.Join(err, i.destroy(context.WithoutCancel(ctx)))
		}
		return nil, errors.Join(err, d.remove(context.WithoutCancel(ctx), c, k.Claim))
	}
	return &persistentInstance{driver: d, cluster: c, Sandbox: k, env: env, inner: i}, nil
}

// renew sets an annotation of a sandbox's claim to the current time in an interval, until end is called, which waits
// for the answer to the last change.
func renew(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, annotation string, interval time.Duration) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				one, cancel := context.WithTimeout(context.WithoutCancel(ctx), interval)
				_ = c.AnnotateClaim(one, k.Claim, map[string]any{annotation: record.Stamp()}) // the next one may succeed
				cancel()
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// createPod creates the pod of a sandbox and connects to it. After an error no pod is left.
func (d *PersistentDriver) createPod(ctx context.Context, c *cluster.Cluster, k *record.Sandbox, env []string) (*instance, error) {
	p, err := d.prepareAgain(c, k, env)
	if err != nil {
		return nil, err
	}
	ctx, stop := c.WatchBinding(ctx, k.Claim)
	defer stop()
	spec := *k.Form.Pod.DeepCopy()
	spec.Containers[0].Command = p.FirstCommand() // a fork ends at another time than its origin
	pod, err := newPersistentPod(k, names.ObjectName(k.Record.ID), names.RoleSandbox, spec)
	if err != nil {
		return nil, err
	}
	pod.Labels[names.LabelNetwork] = string(p.Plan.Network.Mode)
	return p.startRendered(ctx, pod)
}

// newPersistentPod renders a pod of a sandbox with a role.
func newPersistentPod(k *record.Sandbox, name, kind string, spec corev1.PodSpec) (*corev1.Pod, error) {
	maker, err := newID()
	if err != nil {
		return nil, err
	}
	labels := names.PersistentLabels(k.Record.ID)
	labels[names.LabelRole], labels[names.LabelNetwork] = kind, string(k.Form.Network)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: labels, Annotations: map[string]string{names.AnnotationName: k.Record.Name, names.AnnotationMaker: maker},
	}, Spec: spec}, nil
}

// prepareAgain returns what was decided when the sandbox was created, with an environment from env.
func (d *PersistentDriver) prepareAgain(c *cluster.Cluster, k *record.Sandbox, env []string) (*prepared, error) {
	plan, err := k.Plan(env)
	if err != nil {
		return nil, err
	}
	p := &prepared{
		driver: d.Inner, cluster: c, created: k.Record.Created,
		Design: podspec.Design{
			Spec: k.Record.Spec, Plan: plan, Image: k.Form.Image, UID: k.Form.UID, SandboxID: k.Record.ID, Options: d.Inner.options.pods(),
			Persistent: &podspec.Persistent{Claim: k.Claim.Name, Idle: time.Duration(k.Record.Idle)},
		},
	}
	if ttl := time.Duration(k.Record.TTL); ttl > 0 {
		p.Persistent.Until = k.Record.Created.Add(ttl)
	}
	p.Spec.Env = env
	p.program, err = d.Inner.program()
	p.GuestSize, p.GuestSum = len(p.program.data), p.program.sum
	return p, err
}

// newClaim renders the claim of a sandbox.
func (o Options) newClaim(name string, annotations map[string]string) *corev1.PersistentVolumeClaim {
	size := o.StorageSize
	if size == 0 {
		size = DefaultStorage
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: names.ObjectName(name), Labels: names.PersistentLabels(name), Annotations: annotations},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: *resource.NewQuantity(size, resource.BinarySI),
			}},
		},
	}
	if o.StorageClass != "" {
		claim.Spec.StorageClassName = &o.StorageClass
	}
	return claim
}
