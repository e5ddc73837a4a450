package cluster

import (
	"context"
	"encoding/json"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
)

// RestTime is the time for which an ended pod stays, so that the process that created it can ask why it ended.
const RestTime = time.Minute

// SweepEnded deletes our pods and Sandboxes that ended [RestTime] ago: the processes that created them were killed. It ignores
// errors: an ended pod costs the cluster little, and listing pods may be forbidden.
func (c *Cluster) SweepEnded(ctx context.Context, sandboxes Kind) {
	if sandboxes.Version != "" {
		c.sweepSandboxes(ctx, sandboxes)
	}
	options := &metav1.ListOptions{LabelSelector: names.LabelManaged + "=" + names.Manager, FieldSelector: "status.phase!=Pending,status.phase!=Running,status.phase!=Unknown"}
	list := &corev1.PodList{}
	if c.rest.Get().Namespace(c.Namespace).Resource("pods").VersionedParams(options, c.params).Do(ctx).Into(list) != nil {
		return
	}
	for i := range list.Items {
		// The controller of a pod would create it again.
		if pod := &list.Items[i]; ControllerOf(pod.OwnerReferences) == "" && time.Since(endTimeOf(pod)) > RestTime {
			_ = c.DeletePod(ctx, pod.Name, pod.UID) // the next one tries again
		}
	}
}

// endTimeOf returns when the last container of a pod ended; the creation time if none ran.
func endTimeOf(pod *corev1.Pod) time.Time {
	end := pod.CreationTimestamp.Time
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && t.FinishedAt.After(end) {
			end = t.FinishedAt.Time
		}
	}
	return end
}

// sweepSandboxes is SweepEnded for Sandboxes.
func (c *Cluster) sweepSandboxes(ctx context.Context, k Kind) {
	data, err := sendRaw(ctx, c.rest.Get().AbsPath(c.objectPath(k, "")...).Param("labelSelector", names.LabelManaged+"="+names.Manager), nil)
	var list struct{ Items []Object }
	if err != nil || json.Unmarshal(data, &list) != nil {
		return
	}
	for i := range list.Items {
		o := &list.Items[i]
		if end := o.condition(finishedCondition); end != nil && end.Status == metav1.ConditionTrue && time.Since(end.LastTransitionTime.Time) > RestTime {
			_ = c.DeleteObject(ctx, k, o.Metadata.Name, o.Metadata.UID) // the next one tries again
		}
	}
}
