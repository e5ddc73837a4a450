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

// podNameAnnotation has the name of a Sandbox's pod, if it is not the Sandbox's.
const podNameAnnotation = cluster.SandboxGroup + "/pod-name"

// sandboxSpec is the part of a Sandbox's spec that this driver sets.
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

// chooseKinds returns the kinds from which a controller creates the sandbox's pod; without versions: this driver creates it.
func (p *prepared) chooseKinds(ctx context.Context) (cluster.Kinds, error) {
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
		return cluster.Kinds{}, nil // the creation of the pod fails with the reason
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

// createPod creates the pod, or the object for which a controller creates it.
func (i *instance) createPod(ctx context.Context) error {
	if i.IsFromPool() {
		return i.takePoolPod(ctx)
	}
	if i.agents.Sandboxes.Version != "" {
		err := i.createSandbox(ctx)
		if i.owner != nil || i.driver.options.Agents == AgentsAlways || !cluster.IsCreateForbidden(err) {
			return err
		}
		i.driver.options.Trace("kube", "create a pod instead: "+err.Error())
	}
	pod, err := i.createDirectly(ctx)
	if err != nil {
		return err
	}
	i.pod = pod
	return nil
}

// createSandbox creates a Sandbox, and waits for its pod.
func (i *instance) createSandbox(ctx context.Context) error {
	i.GuestMounted = false // whether the API server supports the volume is known only of pods that this driver creates
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
	i.owner = &cluster.Ref{Kind: i.agents.Sandboxes, Name: pod.Name, UID: o.Metadata.UID}
	found, err := i.cluster.AwaitPod(ctx, *i.owner, pod.Name)
	if err != nil {
		return err
	}
	i.pod = found
	return nil
}

// deleteCreated deletes the pod, or the object for which a controller created it.
func (i *instance) deleteCreated(ctx context.Context) error {
	switch {
	case i.owner != nil:
		return i.cluster.DeleteObject(ctx, i.owner.Kind, i.owner.Name, i.owner.UID)
	case i.pod != nil:
		return i.cluster.DeletePod(ctx, i.pod.Name, i.pod.UID)
	}
	return nil
}
