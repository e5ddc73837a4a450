package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// fence is a NetworkPolicy that lets nothing through: no rule follows the kinds of traffic that it is about.
type fence struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		PodSelector metav1.LabelSelector `json:"podSelector"`
		PolicyTypes []string             `json:"policyTypes"`
	} `json:"spec"`
}

// newFence is the one of a pod, with which it goes: nobody connects to it, and without a network it connects to nobody.
func newFence(pod *corev1.Pod, mode sandbox.NetworkMode) *fence {
	f := &fence{
		TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			// The fence of a pod that had this name before may still be there.
			Name: pod.Name + "-" + string(mode) + "-" + string(pod.UID), Labels: map[string]string{labelManaged: manager, labelID: pod.Labels[labelID]},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
		},
	}
	f.Spec.PodSelector.MatchLabels = map[string]string{labelID: pod.Labels[labelID]}
	f.Spec.PolicyTypes = []string{"Ingress"}
	if mode == sandbox.NetworkNone {
		f.Spec.PolicyTypes = append(f.Spec.PolicyTypes, "Egress")
	}
	return f
}

// begun returns when the pod runs and its fence is made, which takes no time of its own. Without the right to make one there
// is none: what has to hold anywhere is held inside.
func (i *instance) begun(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	made := make(chan error, 1)
	go func() { made <- i.enclose(ctx) }()
	err := i.cluster.await(ctx, i.pod)
	if err != nil {
		cancel()
	}
	if i.mounted && sandbox.CodeOf(err) == sandbox.Unsupported { // its first program was not found
		err = sandbox.Errorf(sandbox.Unsupported, "image %s does not have the guest at %s", i.driver.options.GuestImage, GuestVolumePath).
			WithHint("build it as build/deploy/guest.Dockerfile says")
	}
	if ferr := <-made; err == nil {
		err = ferr
	}
	return err
}

// fence makes the one of a network mode.
func (i *instance) fence(ctx context.Context, mode sandbox.NetworkMode) error {
	at := i.cluster.rest.Post().AbsPath("/apis/networking.k8s.io/v1").Namespace(i.cluster.namespace).Resource("networkpolicies")
	return i.cluster.send(ctx, at, newFence(i.pod, mode), nil, "create a NetworkPolicy")
}

// enclose makes the pod's fence, if we may.
func (i *instance) enclose(ctx context.Context) error {
	if i.unfenced {
		return nil
	}
	err := i.fence(ctx, i.plan.Network.Mode)
	switch sandbox.CodeOf(err) {
	case sandbox.Denied, sandbox.NotFound, sandbox.Exhausted: // no right, no such API, a quota
		i.driver.options.Trace("kube", "no NetworkPolicy: "+err.Error())
		return nil
	default:
		return err
	}
}
