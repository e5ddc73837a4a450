package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// CreatePod creates a pod and returns it as the cluster stored it. With [metav1.DryRunAll] the cluster only checks it.
func (c *Cluster) CreatePod(ctx context.Context, pod *corev1.Pod, dryRun ...string) (*corev1.Pod, error) {
	made := &corev1.Pod{}
	options := &metav1.CreateOptions{DryRun: dryRun}
	err := c.rest.Post().Namespace(c.Namespace).Resource("pods").VersionedParams(options, c.params).Body(pod).Do(ctx).Into(made)
	return made, c.wrap(err, "create a pod")
}

// FindPod returns the pod with that name, or NotFound.
func (c *Cluster) FindPod(ctx context.Context, name string) (*corev1.Pod, error) {
	found := &corev1.Pod{}
	err := c.rest.Get().Namespace(c.Namespace).Resource("pods").Name(name).Do(ctx).Into(found)
	return found, c.wrap(err, "look at the pod")
}

// NamePod annotates a pod with its sandbox's name, for people. It does nothing without the right to change pods.
func (c *Cluster) NamePod(ctx context.Context, pod, name string) error {
	if name == "" {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{names.AnnotationName: name}}})
	if err != nil {
		return err
	}
	err = c.rest.Patch(types.MergePatchType).Namespace(c.Namespace).Resource("pods").Name(pod).Body(patch).Do(ctx).Error()
	if err = c.wrap(err, "name the pod"); sandbox.CodeOf(err) == sandbox.Denied {
		return nil
	}
	return err
}

// DeleteTime limits how long a deletion waits for the cluster.
const DeleteTime = 30 * time.Second

// WithdrawPod deletes a pod whose creation failed with err, if it may exist all the same. It deletes no other maker's pod of that
// name.
func (c *Cluster) WithdrawPod(ctx context.Context, pod *corev1.Pod, err error) error {
	if !IsUncertain(err) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), DeleteTime)
	defer cancel()
	found, err := c.FindPod(ctx, pod.Name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	if err != nil || found.Annotations[names.AnnotationMaker] != pod.Annotations[names.AnnotationMaker] {
		return err
	}
	return c.DeletePod(ctx, found.Name, found.UID)
}

// DeletePod deletes a pod without a grace period; without error when it is gone. If uid is not empty, it deletes only the pod with
// that UID.
func (c *Cluster) DeletePod(ctx context.Context, name string, uid types.UID) error {
	ctx, cancel := context.WithTimeout(ctx, DeleteTime)
	defer cancel()
	now := int64(0)
	options := &metav1.DeleteOptions{GracePeriodSeconds: &now}
	if uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	err := c.rest.Delete().Namespace(c.Namespace).Resource("pods").Name(name).Body(options).Do(ctx).Error()
	err = c.wrap(err, "delete the pod")
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// FindRunningPod returns the pod in which the commands of a persistent sandbox run, or NotFound: there is none, it has ended, or it
// is being deleted.
func (c *Cluster) FindRunningPod(ctx context.Context, name string) (*corev1.Pod, error) {
	pod, err := c.FindPod(ctx, names.ObjectName(name))
	if err != nil {
		return nil, err
	}
	if HasEnded(pod) || pod.DeletionTimestamp != nil || pod.Labels[names.LabelRole] != names.RoleSandbox {
		return nil, sandbox.Errorf(sandbox.NotFound, "sandbox %s has no running pod", name)
	}
	return pod, nil
}

// HasEnded reports whether all containers of a pod have ended.
func HasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// DeletePods deletes all pods of a persistent sandbox.
func (c *Cluster) DeletePods(ctx context.Context, name string) error {
	options := &metav1.ListOptions{LabelSelector: names.LabelManaged + "=" + names.Manager + "," + names.LabelRole + "," + names.LabelID + "=" + name}
	list := &corev1.PodList{}
	err := c.rest.Get().Namespace(c.Namespace).Resource("pods").VersionedParams(options, c.params).Do(ctx).Into(list)
	err = c.wrap(err, "list pods")
	for i := range list.Items {
		err = errors.Join(err, c.DeletePod(ctx, list.Items[i].Name, list.Items[i].UID))
	}
	return err
}

// maxLog limits how many bytes of a log are read.
const maxLog = 16 << 20

// ReadLog returns the output of the first process in a pod's sandbox container. Invalid: the API does not know yet that it runs.
func (c *Cluster) ReadLog(ctx context.Context, pod string) ([]byte, error) {
	limit := int64(maxLog)
	data, err := c.rest.Get().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("log").
		VersionedParams(&corev1.PodLogOptions{Container: names.Container, LimitBytes: &limit}, c.params).Do(ctx).Raw()
	return data, c.wrap(err, "read the pod's log")
}
