package kube

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// restTime is how long a pod that has ended stays for its maker to ask why.
const restTime = time.Minute

// sweep deletes the pods of ours that have ended, whose makers were killed. It is a courtesy: what holds nothing but a
// name costs nobody much, and whoever may not list pods leaves them.
func (c *cluster) sweep(ctx context.Context, sandboxes agentKind) {
	if sandboxes.version != "" {
		c.sweepSandboxes(ctx, sandboxes)
	}
	options := &metav1.ListOptions{LabelSelector: labelManaged + "=" + manager, FieldSelector: "status.phase!=Pending,status.phase!=Running,status.phase!=Unknown"}
	list := &corev1.PodList{}
	if c.rest.Get().Namespace(c.namespace).Resource("pods").VersionedParams(options, c.params).Do(ctx).Into(list) != nil {
		return
	}
	for i := range list.Items {
		// One that has a controller would come back.
		if pod := &list.Items[i]; controllerOf(pod.OwnerReferences) == "" && time.Since(endOf(pod)) > restTime {
			_ = c.deletePod(ctx, pod.Name, pod.UID) // the next one tries again
		}
	}
}

// endOf is when the last of a pod's containers ended; one that never ran ended when it was made.
func endOf(pod *corev1.Pod) time.Time {
	end := pod.CreationTimestamp.Time
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.FinishedAt.After(end) {
			end = t.FinishedAt.Time
		}
	}
	return end
}
