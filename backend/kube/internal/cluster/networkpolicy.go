package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// fence is a NetworkPolicy that denies all traffic of its types: it has no rules.
type fence struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		PodSelector metav1.LabelSelector `json:"podSelector"`
		PolicyTypes []string             `json:"policyTypes"`
	} `json:"spec"`
}

// newFence renders the policy of a pod: it denies connections to the pod and, without a network, from it. The pod owns it.
func newFence(pod *corev1.Pod, mode sandbox.NetworkMode) *fence {
	f := &fence{
		TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			// The policy of an earlier pod of this name may still exist.
			Name: pod.Name + "-" + string(mode) + "-" + string(pod.UID), Labels: map[string]string{names.LabelManaged: names.Manager, names.LabelID: pod.Labels[names.LabelID]},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
		},
	}
	f.Spec.PodSelector.MatchLabels = map[string]string{names.LabelID: pod.Labels[names.LabelID]}
	f.Spec.PolicyTypes = []string{"Ingress"}
	if mode == sandbox.NetworkNone {
		f.Spec.PolicyTypes = append(f.Spec.PolicyTypes, "Egress")
	}
	return f
}

// CreateNetworkPolicy creates the policy of a pod for a network mode. The cluster deletes it with the pod.
func (c *Cluster) CreateNetworkPolicy(ctx context.Context, pod *corev1.Pod, mode sandbox.NetworkMode) error {
	at := c.rest.Post().AbsPath("/apis/networking.k8s.io/v1").Namespace(c.Namespace).Resource("networkpolicies")
	return c.send(ctx, at, newFence(pod, mode), nil, "create a NetworkPolicy")
}
