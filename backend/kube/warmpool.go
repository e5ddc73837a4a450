package kube

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// claimSpec is the spec of a SandboxClaim. It has no environment or volumes: for these the controller would create a new pod.
type claimSpec struct {
	WarmPoolRef           reference              `json:"warmPoolRef"`
	Lifecycle             claimLifecycle         `json:"lifecycle"`
	AdditionalPodMetadata cluster.ObjectMetadata `json:"additionalPodMetadata"`
}

type reference struct {
	Name string `json:"name"`
}

type claimLifecycle struct {
	ShutdownTime            time.Time `json:"shutdownTime"`
	TTLSecondsAfterFinished int       `json:"ttlSecondsAfterFinished"`
	ShutdownPolicy          string    `json:"shutdownPolicy"`
}

// checkPool returns an error for what a running pod of a pool cannot be given.
func (p *prepared) checkPool() error {
	switch {
	case !p.IsFromPool():
	case p.driver.options.Warm > 0:
		return sandbox.Errorf(sandbox.Invalid, "pods are prepared by a warm pool or by this process, not by both")
	case p.driver.options.Agents == AgentsNever:
		return sandbox.Errorf(sandbox.Invalid, "a warm pool has Sandboxes, and agents is %q", AgentsNever)
	case len(p.Spec.Volumes) > 0:
		return podspec.Unsupported("volumes", "a pod of a warm pool runs already", "leave them out, or the pool")
	}
	return nil
}

// takePoolPod takes a pod from the warm pool. Unsupported: the pod isolates less than the policy requires.
func (i *instance) takePoolPod(ctx context.Context) error {
	pool, name := i.driver.options.WarmPool, "agent-sandbox-"+i.SandboxID
	i.driver.options.Trace("kube", "create SandboxClaim "+name+" on pool "+pool+" in namespace "+i.cluster.Namespace)
	annotations := map[string]string{names.AnnotationName: i.Spec.Name}
	o := &cluster.Object{Metadata: cluster.ObjectMetadata{Name: name, Labels: map[string]string{names.LabelManaged: names.Manager, names.LabelID: i.SandboxID}, Annotations: annotations}, Spec: claimSpec{
		WarmPoolRef: reference{pool}, AdditionalPodMetadata: cluster.ObjectMetadata{Annotations: map[string]string{names.AnnotationName: i.Spec.Name, names.LabelID: i.SandboxID}},
		Lifecycle: claimLifecycle{time.Now().Add(time.Duration(i.LifetimeSeconds()) * time.Second).UTC().Truncate(time.Second), int(cluster.RestTime.Seconds()), "Delete"},
	}}
	if err := i.cluster.CreateObject(ctx, i.agents.Claims, o); err != nil {
		return errors.Join(err, i.cluster.WithdrawObject(ctx, i.agents.Claims, name, err))
	}
	i.owner = &cluster.Ref{Kind: i.agents.Claims, Name: name, UID: o.Metadata.UID}
	given, err := i.cluster.AwaitSandbox(ctx, *i.owner)
	if err != nil {
		return err
	}
	i.driver.options.Trace("kube", "the pool assigned Sandbox "+given)
	box, err := i.cluster.FindObject(ctx, i.agents.Sandboxes, given)
	if err != nil {
		return err
	}
	if owner := cluster.ControllerOf(box.Metadata.OwnerReferences); owner != i.owner.UID {
		return sandbox.Errorf(sandbox.Unavailable, "Sandbox %s, which the pool assigned, belongs to another claim", cluster.Line(given))
	}
	at := given
	if other := box.Metadata.Annotations[podNameAnnotation]; other != "" {
		at = other
	}
	found, err := i.cluster.AwaitPod(ctx, cluster.Ref{Kind: i.agents.Sandboxes, Name: given, UID: box.Metadata.UID}, at)
	if err != nil {
		return err
	}
	i.pod = found
	return i.Verify(found)
}

// Template renders, as a List in JSON, the SandboxTemplate and the SandboxWarmPool that an administrator applies to a cluster for
// sandboxes of spec. It asks the cluster whether its pods have user namespaces. Invalid: Options.WarmPool is empty.
func (d *Driver) Template(ctx context.Context, spec sandbox.Spec) ([]byte, error) {
	name := d.options.WarmPool
	if name == "" {
		return nil, sandbox.Errorf(sandbox.Invalid, "no warm pool is named for the template")
	}
	p, err := d.prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	pod, err := p.Render()
	if err != nil {
		return nil, err
	}
	of := func(kind string, spec any) cluster.Object {
		return cluster.Object{APIVersion: cluster.ClaimGroup + "/v1beta1", Kind: kind, Metadata: cluster.ObjectMetadata{Name: name, Labels: map[string]string{names.LabelManaged: names.Manager}}, Spec: spec}
	}
	items := []cluster.Object{
		of("SandboxTemplate", templateSpec{podTemplate{Spec: pod.Spec}, "Unmanaged"}),
		of("SandboxWarmPool", poolSpec{1, reference{name}}),
	}
	return json.MarshalIndent(map[string]any{"apiVersion": "v1", "kind": "List", "items": items}, "", "  ")
}

// templateSpec is the spec of a SandboxTemplate. NetworkPolicies are left to the administrator: the pod itself enforces the network
// mode.
type templateSpec struct {
	PodTemplate             podTemplate `json:"podTemplate"`
	NetworkPolicyManagement string      `json:"networkPolicyManagement"`
}

type poolSpec struct {
	Replicas           int       `json:"replicas"`
	SandboxTemplateRef reference `json:"sandboxTemplateRef"`
}
