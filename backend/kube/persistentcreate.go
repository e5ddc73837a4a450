package kube

import (
	"context"
	"errors"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Create makes a sandbox that lives until it is destroyed. Its ID is spec.Name, which has to be a DNS label, or a text that
// cannot be anybody's ID: that stays a label.
func (d *PersistentDriver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	id, err := identify(spec.Name)
	if err != nil {
		return nil, err
	}
	if d.Inner.options.WarmPool != "" {
		return nil, unsupported("warm-pool", "a sandbox that lives on has a volume of its own", "leave it out, or use exec")
	}
	p, err := d.Inner.prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	d.sweep(ctx, p.cluster)
	// The pod is made anew with each start, perhaps on other nodes: it asks for nothing that one may lack.
	p.id, p.private, p.mounted, p.living = id, false, false, &living{claim: names.ObjectName(id), idle: d.Idle}
	pod, err := p.pod()
	if err != nil {
		return nil, err
	}
	pod.Spec.ActiveDeadlineSeconds = nil // idle and TTL end it
	made, err := d.begin(ctx, p.cluster, persist.Record{
		ID: id, Name: spec.Name, Backend: d.Name(), Created: p.created, Spec: spec, Idle: sandbox.Duration(d.Idle), TTL: sandbox.Duration(d.TTL),
	}, formOf(p, pod))
	if err != nil {
		return nil, err
	}
	i, err := d.fill(ctx, p.cluster, made, spec.Env, func(ctx context.Context, i *instance) error {
		i.plan = p.plan // what a record tells of it does not know which paths are hidden
		return i.furnish(ctx)
	})
	if err != nil {
		return nil, err
	}
	return i, nil
}

// begin takes the name of a sandbox: whoever makes its claim has it.
func (d *PersistentDriver) begin(ctx context.Context, c *cluster.Cluster, r persist.Record, f form) (*known, error) {
	annotations, err := encode(r, f)
	if err != nil {
		return nil, err
	}
	annotations[annotationMaking] = stamp()
	claim, err := c.CreateClaim(ctx, d.Inner.options.newClaim(r.ID, annotations))
	switch sandbox.CodeOf(err) {
	case "":
	case sandbox.Exists:
		return nil, sandbox.Errorf(sandbox.Exists, "there is a sandbox %s already in namespace %s", r.ID, c.Namespace).
			WithHint("'agent-sandbox destroy %s' removes it", r.ID)
	case sandbox.Exhausted:
		return nil, sandbox.Errorf(sandbox.Exhausted, "%w", err).WithHint("ask for less with --storage, or destroy other sandboxes")
	default:
		return nil, errors.Join(err, d.recant(ctx, c, r.ID, annotations, err))
	}
	return &known{claim: claim, record: r, form: f}, nil
}

// recant removes a claim that may have been made although nobody has told us so.
func (d *PersistentDriver) recant(ctx context.Context, c *cluster.Cluster, name string, annotations map[string]string, err error) error {
	if !cluster.IsUncertain(err) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cluster.DeleteTime)
	defer cancel()
	found, err := c.FindClaim(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	if err != nil || found.Annotations[annotationRecord] != annotations[annotationRecord] { // it has the time of its making
		return err
	}
	return c.DeleteClaim(ctx, found, "")
}

func stamp() string { return time.Now().UTC().Format(time.RFC3339) }

// seenEvery is how often a maker says that it lives.
const seenEvery = time.Minute

// fill makes the first pod of a sandbox, and the sandbox whole. When it fails nothing is left.
func (d *PersistentDriver) fill(ctx context.Context, c *cluster.Cluster, k *known, env []string, fill func(context.Context, *instance) error) (*persistentInstance, error) {
	alive, end := context.WithCancel(ctx)
	go func() {
		for tick := time.NewTicker(seenEvery); ; {
			select {
			case <-tick.C:
				_ = c.AnnotateClaim(alive, k.claim, map[string]any{annotationMaking: stamp()}) // the next one may succeed
			case <-alive.Done():
				tick.Stop()
				return
			}
		}
	}()
	defer end()
	i, err := d.launch(ctx, c, k, env)
	if err == nil {
		err = fill(ctx, i)
	}
	if err == nil {
		err = c.AnnotateClaim(ctx, k.claim, map[string]any{annotationWhole: stamp(), annotationMaking: nil})
	}
	if err != nil {
		if i != nil {
			err = errors.Join(err, i.end(context.WithoutCancel(ctx)))
		}
		return nil, errors.Join(err, d.remove(context.WithoutCancel(ctx), c, k.claim))
	}
	return &persistentInstance{driver: d, cluster: c, known: k, env: env, inner: i}, nil
}

// launch makes the pod of a sandbox and connects to it. When it fails there is no pod.
func (d *PersistentDriver) launch(ctx context.Context, c *cluster.Cluster, k *known, env []string) (*instance, error) {
	p, err := d.prepared(c, k, env)
	if err != nil {
		return nil, err
	}
	ctx, stop := c.WatchBinding(ctx, k.claim)
	defer stop()
	spec := *k.form.Pod.DeepCopy()
	spec.Containers[0].Command = p.command() // when it ends is the sandbox's own, and not its origin's
	pod, err := newPersistentPod(k, names.ObjectName(k.record.ID), names.RoleSandbox, spec)
	if err != nil {
		return nil, err
	}
	pod.Labels[names.LabelNetwork] = string(p.plan.Network.Mode)
	return p.startPod(ctx, pod)
}

// newPersistentPod is a pod of a sandbox.
func newPersistentPod(k *known, name, kind string, spec corev1.PodSpec) (*corev1.Pod, error) {
	maker, err := newID()
	if err != nil {
		return nil, err
	}
	labels := names.PersistentLabels(k.record.ID)
	labels[names.LabelRole], labels[names.LabelNetwork] = kind, string(k.form.Network)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: labels, Annotations: map[string]string{names.AnnotationName: k.record.Name, names.AnnotationMaker: maker},
	}, Spec: spec}, nil
}

// prepared is what was decided when the sandbox was made.
func (d *PersistentDriver) prepared(c *cluster.Cluster, k *known, env []string) (*prepared, error) {
	plan, err := k.plan(env)
	if err != nil {
		return nil, err
	}
	p := &prepared{
		driver: d.Inner, cluster: c, spec: k.record.Spec, plan: plan, image: k.form.Image, uid: k.form.UID,
		id: k.record.ID, created: k.record.Created, living: &living{claim: k.claim.Name, idle: time.Duration(k.record.Idle)},
	}
	if ttl := time.Duration(k.record.TTL); ttl > 0 {
		p.living.until = k.record.Created.Add(ttl)
	}
	p.spec.Env = env
	p.program, err = d.Inner.program()
	return p, err
}

// newClaim asks for the storage of a sandbox.
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
