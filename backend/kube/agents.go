package kube

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Values of Options.Agents.
const (
	AgentsNever  = "never"
	AgentsAlways = "always"
)

// podNameAnnotation has the name of a Sandbox's pod, when it is another one than the Sandbox's.
const podNameAnnotation = cluster.SandboxGroup + "/pod-name"

// sandboxSpec is the part of a Sandbox that is ours to say.
type sandboxSpec struct {
	PodTemplate    podTemplate `json:"podTemplate"`
	Service        bool        `json:"service"`
	ShutdownTime   time.Time   `json:"shutdownTime,omitzero"`
	ShutdownPolicy string      `json:"shutdownPolicy,omitempty"`
}

type podTemplate struct {
	Metadata cluster.ObjectMetadata `json:"metadata"`
	Spec     corev1.PodSpec         `json:"spec"`
}

// choose returns what the cluster has that the sandbox is to be made of; no versions: a pod of its own.
func (p *prepared) choose(ctx context.Context) (cluster.Kinds, error) {
	mode := p.driver.options.Agents
	switch mode {
	case AgentsNever:
		return cluster.Kinds{}, nil
	case "", AgentsAlways:
	default:
		return cluster.Kinds{}, sandbox.Errorf(sandbox.Invalid, "agents %q is neither empty nor %q nor %q", mode, AgentsNever, AgentsAlways)
	}
	demanded := mode == AgentsAlways || p.IsFromPool()
	found, err := p.cluster.FindKinds(ctx)
	switch {
	case err != nil && !demanded:
		return cluster.Kinds{}, nil // whoever makes the pod is told
	case err != nil:
		return cluster.Kinds{}, err
	case demanded && found.Sandboxes.Version == "":
		return cluster.Kinds{}, sandbox.Errorf(sandbox.Unavailable, "the cluster has no Sandboxes (%s)", cluster.SandboxGroup).
			WithHint("install kubernetes-sigs/agent-sandbox there, or let pods be made")
	case p.IsFromPool() && found.Claims.Version == "":
		return cluster.Kinds{}, sandbox.Errorf(sandbox.Unavailable, "the cluster has no warm pools (%s)", cluster.ClaimGroup).
			WithHint("install the extensions of kubernetes-sigs/agent-sandbox there, or name no pool")
	}
	return found, nil
}

// makePod makes the pod, or that of which a controller makes it.
func (i *instance) makePod(ctx context.Context) error {
	if i.IsFromPool() {
		return i.claimPod(ctx)
	}
	if i.agents.Sandboxes.Version != "" {
		err := i.makeSandbox(ctx)
		if i.made != nil || i.driver.options.Agents == AgentsAlways || !cluster.IsCreateForbidden(err) {
			return err
		}
		i.driver.options.Trace("kube", "make a pod instead: "+err.Error())
	}
	pod, err := i.create(ctx)
	if err != nil {
		return err
	}
	i.pod = pod
	return nil
}

// makeSandbox makes a Sandbox, and waits for its pod.
func (i *instance) makeSandbox(ctx context.Context) error {
	i.GuestMounted = false // only of a pod that we make it is known whether the API server takes the volume
	pod, err := i.Render()
	if err != nil {
		return err
	}
	i.driver.options.Trace("kube", "create Sandbox "+pod.Name+" in namespace "+i.cluster.Namespace)
	meta := cluster.ObjectMetadata{Name: pod.Name, Labels: pod.Labels, Annotations: pod.Annotations}
	o := &cluster.Object{Metadata: meta, Spec: sandboxSpec{
		PodTemplate:  podTemplate{Metadata: cluster.ObjectMetadata{Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec},
		ShutdownTime: time.Now().Add(time.Duration(i.LifetimeSeconds()) * time.Second).UTC().Truncate(time.Second), ShutdownPolicy: "Delete",
	}}
	if err := i.cluster.CreateObject(ctx, i.agents.Sandboxes, o); err != nil {
		return errors.Join(err, i.cluster.WithdrawObject(ctx, i.agents.Sandboxes, pod.Name, err))
	}
	i.made = &cluster.Ref{Kind: i.agents.Sandboxes, Name: pod.Name, UID: o.Metadata.UID}
	found, err := i.cluster.AwaitPod(ctx, *i.made, pod.Name)
	if err != nil {
		return err
	}
	i.pod = found
	return nil
}

// deleteMade deletes what was made.
func (i *instance) deleteMade(ctx context.Context) error {
	switch {
	case i.made != nil:
		return i.cluster.DeleteObject(ctx, i.made.Kind, i.made.Name, i.made.UID)
	case i.pod != nil:
		return i.cluster.DeletePod(ctx, i.pod.Name, i.pod.UID)
	}
	return nil
}
