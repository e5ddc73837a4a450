package kube

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
)

// PodReporter is implemented by instances that run in a pod.
type PodReporter interface {
	// PodStatus returns the state of the pod, as the cluster reports it. Closed: the sandbox is stopped and has no pod.
	PodStatus(ctx context.Context) (PodStatus, error)
}

// PodStatus is the state of a sandbox's pod.
type PodStatus struct {
	Name       string         `json:"name"`
	Namespace  string         `json:"namespace"`
	Node       string         `json:"node,omitempty"`
	Phase      string         `json:"phase"`
	Conditions []PodCondition `json:"conditions,omitempty"`
}

// PodCondition is one of the conditions of a pod.
type PodCondition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // "True", "False", "Unknown"
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// PodStatus implements [PodReporter].
func (k *persistentInstance) PodStatus(ctx context.Context) (PodStatus, error) {
	i, err := k.connection()
	if err != nil {
		return PodStatus{}, err
	}
	return i.PodStatus(ctx)
}

// PodStatus implements [PodReporter].
func (i *instance) PodStatus(ctx context.Context) (PodStatus, error) {
	pod, err := i.cluster.FindPod(ctx, i.pod.Name)
	if err != nil {
		return PodStatus{}, err
	}
	out := PodStatus{Name: pod.Name, Namespace: pod.Namespace, Node: pod.Spec.NodeName, Phase: string(pod.Status.Phase)}
	for _, c := range pod.Status.Conditions {
		out.Conditions = append(out.Conditions, PodCondition{Type: string(c.Type), Status: string(c.Status), Reason: cluster.Line(c.Reason), Message: cluster.Line(c.Message)})
	}
	return out, nil
}
