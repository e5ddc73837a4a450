package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// PodReporter is implemented by instances that run in a pod. [PersistentDriver.PodStatus] also reports pods that have ended.
type PodReporter interface {
	// PodStatus returns the state of the pod, as the cluster reports it. Closed: the sandbox is stopped and has no pod.
	PodStatus(ctx context.Context) (PodStatus, error)
}

// PodStatus is the state of a sandbox's pod, as the cluster reports it. Texts are single lines.
type PodStatus struct {
	Name       string         `json:"name"`
	Namespace  string         `json:"namespace"`
	Node       string         `json:"node,omitempty"` // empty: no node has taken the pod
	Phase      string         `json:"phase"`          // "Pending", "Running", "Succeeded", "Failed", "Unknown"
	Reason     string         `json:"reason,omitempty"`
	Message    string         `json:"message,omitempty"`
	Started    time.Time      `json:"started,omitzero"`
	Conditions []PodCondition `json:"conditions,omitempty"`
	Containers []PodContainer `json:"containers,omitempty"`
}

// PodContainer is one of the containers of a pod.
type PodContainer struct {
	Name     string `json:"name"`
	State    string `json:"state"` // "waiting", "running", "terminated"
	Restarts int    `json:"restarts"`
	ExitCode int    `json:"exit_code,omitempty"` // of a terminated one
	Reason   string `json:"reason,omitempty"`    // such as "ImagePullBackOff", "OOMKilled"
	Message  string `json:"message,omitempty"`
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
	return podStatus(pod), nil
}

// PodStatus returns the state of the pod of a persistent sandbox, also of one that does not start or has ended. Closed: the sandbox has
// no pod, as after a stop. NotFound: no sandbox has that name.
func (d *PersistentDriver) PodStatus(ctx context.Context, name string) (PodStatus, error) {
	c, _, err := d.find(ctx, name)
	if err != nil {
		return PodStatus{}, err
	}
	pod, err := c.FindPod(ctx, names.ObjectName(name))
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return PodStatus{}, sandbox.Errorf(sandbox.Closed, "sandbox %s has no pod", name)
	}
	if err != nil {
		return PodStatus{}, err
	}
	return podStatus(pod), nil
}

func podStatus(pod *corev1.Pod) PodStatus {
	out := PodStatus{
		Name: pod.Name, Namespace: pod.Namespace, Node: pod.Spec.NodeName, Phase: string(pod.Status.Phase),
		Reason: cluster.Line(pod.Status.Reason), Message: cluster.Line(pod.Status.Message),
	}
	if pod.Status.StartTime != nil {
		out.Started = pod.Status.StartTime.Time
	}
	for _, c := range pod.Status.Conditions {
		out.Conditions = append(out.Conditions, PodCondition{Type: string(c.Type), Status: string(c.Status), Reason: cluster.Line(c.Reason), Message: cluster.Line(c.Message)})
	}
	for _, c := range pod.Status.ContainerStatuses {
		one := PodContainer{Name: c.Name, State: "waiting", Restarts: int(c.RestartCount)}
		switch {
		case c.State.Running != nil:
			one.State = "running"
		case c.State.Terminated != nil:
			end := c.State.Terminated
			one.State, one.ExitCode, one.Reason, one.Message = "terminated", int(end.ExitCode), cluster.Line(end.Reason), cluster.Line(end.Message)
		case c.State.Waiting != nil:
			one.Reason, one.Message = cluster.Line(c.State.Waiting.Reason), cluster.Line(c.State.Waiting.Message)
		}
		out.Containers = append(out.Containers, one)
	}
	return out
}
