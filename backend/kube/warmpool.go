package kube

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// claimSpec is a SandboxClaim's. It names no environment and no volumes, for which the controller would make a new pod.
type claimSpec struct {
	WarmPoolRef           reference      `json:"warmPoolRef"`
	Lifecycle             claimLifecycle `json:"lifecycle"`
	AdditionalPodMetadata objectMetadata `json:"additionalPodMetadata"`
}

type reference struct {
	Name string `json:"name"`
}

type claimLifecycle struct {
	ShutdownTime            time.Time `json:"shutdownTime"`
	TTLSecondsAfterFinished int       `json:"ttlSecondsAfterFinished"`
	ShutdownPolicy          string    `json:"shutdownPolicy"`
}

// fromPool reports whether the pod is one of an administrator's pool.
func (p *prepared) fromPool() bool { return p.driver.options.WarmPool != "" }

// refusePool names what a pod cannot be given that runs already.
func (p *prepared) refusePool() error {
	switch {
	case !p.fromPool():
	case p.driver.options.Warm > 0:
		return sandbox.Errorf(sandbox.Invalid, "pods are prepared by a warm pool or by this process, not by both")
	case p.driver.options.Agents == AgentsNever:
		return sandbox.Errorf(sandbox.Invalid, "a warm pool has Sandboxes, and agents is %q", AgentsNever)
	case len(p.spec.Volumes) > 0:
		return unsupported("volumes", "a pod of a warm pool runs already", "leave them out, or the pool")
	}
	return nil
}

// claimPod takes a pod out of the pool, which has it run already when it is warm, and refuses it unless it is as ours would be.
func (i *instance) claimPod(ctx context.Context) error {
	pool, name := i.driver.options.WarmPool, "agent-sandbox-"+i.id
	i.driver.options.Trace("kube", "create SandboxClaim "+name+" on pool "+pool+" in namespace "+i.cluster.namespace)
	annotations := map[string]string{annotationName: i.spec.Name}
	o := &object{Metadata: objectMetadata{Name: name, Labels: map[string]string{labelManaged: manager, labelID: i.id}, Annotations: annotations}, Spec: claimSpec{
		WarmPoolRef: reference{pool}, AdditionalPodMetadata: objectMetadata{Annotations: map[string]string{annotationName: i.spec.Name, labelID: i.id}},
		Lifecycle: claimLifecycle{time.Now().Add(time.Duration(i.lifetime()) * time.Second).UTC().Truncate(time.Second), int(restTime.Seconds()), "Delete"},
	}}
	if err := i.cluster.create(ctx, i.agents.claims, o); err != nil {
		return errors.Join(err, i.cluster.withdrawObject(ctx, i.agents.claims, name, err))
	}
	i.made = &made{kind: i.agents.claims, name: name, uid: o.Metadata.UID}
	given, err := i.cluster.bound(ctx, *i.made)
	if err != nil {
		return err
	}
	i.driver.options.Trace("kube", "the pool gives Sandbox "+given)
	box, err := i.cluster.object(ctx, i.agents.sandboxes, given)
	if err != nil {
		return err
	}
	if owner := controllerOf(box.Metadata.OwnerReferences); owner != i.made.uid {
		return sandbox.Errorf(sandbox.Unavailable, "Sandbox %s, which the pool gives, belongs to somebody else", line(given))
	}
	at := given
	if other := box.Metadata.Annotations[podNameAnnotation]; other != "" {
		at = other
	}
	found, err := i.cluster.appear(ctx, made{kind: i.agents.sandboxes, name: given, uid: box.Metadata.UID}, at)
	if err != nil {
		return err
	}
	i.pod = found
	return i.verify(found)
}

// bound waits until a claim has got a Sandbox, and returns its name.
func (c *cluster) bound(ctx context.Context, m made) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := c.followObject(ctx, m.kind, m.name)
	late := time.After(patience)
	var ready *metav1.Condition
	for {
		select {
		case one := <-objects:
			if one.err != nil {
				return "", one.err
			}
			if name := one.object.Status.Sandbox.Name; name != "" {
				return name, nil
			}
			ready = one.object.condition(readyCondition)
			if err := refusal(m.kind, ready); err != nil {
				return "", err
			}
		case <-late:
			return "", idle(m.kind, ready)
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// Template renders what an administrator applies to a cluster for a pool of that name, whose pods are what sandboxes of spec
// need: a SandboxTemplate and a SandboxWarmPool of one, as a List in JSON. It asks the cluster whether pods have user namespaces there.
func (d *Driver) Template(ctx context.Context, spec sandbox.Spec) ([]byte, error) {
	name := d.options.WarmPool
	if name == "" {
		return nil, sandbox.Errorf(sandbox.Invalid, "a template is that of a warm pool, and none is named")
	}
	p, err := d.prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	pod, err := p.pod()
	if err != nil {
		return nil, err
	}
	of := func(kind string, spec any) object {
		return object{APIVersion: claimGroup + "/v1beta1", Kind: kind, Metadata: objectMetadata{Name: name, Labels: map[string]string{labelManaged: manager}}, Spec: spec}
	}
	items := []object{
		of("SandboxTemplate", templateSpec{podTemplate{Spec: pod.Spec}, "Unmanaged"}),
		of("SandboxWarmPool", poolSpec{1, reference{name}}),
	}
	return json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, "", "  ")
}

// templateSpec is a SandboxTemplate's. The network's policies are the administrator's: what the sandboxes need of it is a
// wall of the pod.
type templateSpec struct {
	PodTemplate             podTemplate `json:"podTemplate"`
	NetworkPolicyManagement string      `json:"networkPolicyManagement"`
}

type poolSpec struct {
	Replicas           int       `json:"replicas"`
	SandboxTemplateRef reference `json:"sandboxTemplateRef"`
}

// verify refuses a pod that somebody else has rendered unless it is as ours would be, in all that is a wall.
func (p *prepared) verify(found *corev1.Pod) error {
	own := *p
	if owner := found.Spec.SecurityContext; owner != nil && owner.RunAsUser != nil {
		own.uid = *owner.RunAsUser // nobody owns a copy of the workspace yet
	}
	want, err := own.pod()
	if err != nil {
		return err
	}
	why, err := p.difference(want, found)
	if err == nil && why != "" {
		err = sandbox.Errorf(sandbox.Unsupported, "pool %s: its pods are not as the policy needs them: %s", p.driver.options.WarmPool, line(why)).
			WithHint("'agent-sandbox explain --backend kube --warm-pool NAME --manifest' prints the template that is")
	}
	return err
}
