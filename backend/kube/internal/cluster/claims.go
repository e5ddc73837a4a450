package cluster

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ClaimResource is the API's name for volume claims.
const ClaimResource = "persistentvolumeclaims"

// CreateClaim creates a volume claim and returns it as the cluster stored it. Exists: the name is in use.
func (c *Cluster) CreateClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaim, error) {
	made := &corev1.PersistentVolumeClaim{}
	err := c.rest.Post().Namespace(c.Namespace).Resource(ClaimResource).Body(claim).Do(ctx).Into(made)
	return made, c.wrap(err, "create a volume claim")
}

// FindClaim returns the volume claim of the sandbox with that ID, or NotFound.
func (c *Cluster) FindClaim(ctx context.Context, name string) (*corev1.PersistentVolumeClaim, error) {
	found := &corev1.PersistentVolumeClaim{}
	err := c.rest.Get().Namespace(c.Namespace).Resource(ClaimResource).Name(names.ObjectName(name)).Do(ctx).Into(found)
	return found, c.wrap(err, "look at the volume claim")
}

// ListClaims returns the volume claims of all persistent sandboxes, including those being created or removed.
func (c *Cluster) ListClaims(ctx context.Context) ([]corev1.PersistentVolumeClaim, error) {
	list := &corev1.PersistentVolumeClaimList{}
	err := c.rest.Get().Namespace(c.Namespace).Resource(ClaimResource).VersionedParams(&metav1.ListOptions{LabelSelector: names.PersistentSelector}, c.params).Do(ctx).Into(list)
	return list.Items, c.wrap(err, "list volume claims")
}

// AnnotateClaim changes annotations of the claim with claim's name and UID. A nil value removes the annotation.
func (c *Cluster) AnnotateClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, changes map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": claim.UID, "annotations": changes}})
	if err != nil {
		return err
	}
	err = c.rest.Patch(types.MergePatchType).Namespace(c.Namespace).Resource(ClaimResource).Name(claim.Name).Body(patch).Do(ctx).Error()
	return c.wrap(err, "change the volume claim")
}

// DeleteClaim deletes the claim with claim's name and UID; without error when it is gone. If version is not empty and no longer
// the claim's resource version, it fails with Exists. The cluster removes the claim when no pod uses it any more.
func (c *Cluster) DeleteClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, version string) error {
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &claim.UID}}
	if version != "" {
		options.Preconditions.ResourceVersion = &version
	}
	err := c.rest.Delete().Namespace(c.Namespace).Resource(ClaimResource).Name(claim.Name).Body(options).Do(ctx).Error()
	err = c.wrap(err, "delete the volume claim")
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// AwaitClaimGone waits until the cluster has removed a claim that is being deleted.
func (c *Cluster) AwaitClaimGone(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	ctx, cancel := context.WithTimeoutCause(ctx, DeleteTime, sandbox.Errorf(sandbox.Timeout, "the cluster has not removed the volume claim %s in %s", claim.Name, DeleteTime).
		WithHint("'kubectl describe pvc %s' shows the pods that use it", claim.Name))
	defer cancel()
	for {
		now := &corev1.PersistentVolumeClaim{}
		err := c.rest.Get().Namespace(c.Namespace).Resource(ClaimResource).Name(claim.Name).Do(ctx).Into(now)
		err = c.wrap(err, "look at the volume claim")
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case sandbox.CodeOf(err) == sandbox.NotFound, err == nil && now.UID != claim.UID:
			return nil
		case err != nil:
			return err
		}
		if err := c.AwaitChange(ctx, ClaimResource, claim.Name, now.ResourceVersion); err != nil {
			return err
		}
	}
}

// AwaitChange waits for the next change of an object after a resource version.
func (c *Cluster) AwaitChange(ctx context.Context, resource, name, version string) error {
	w, err := c.watch(ctx, resource, "metadata.name="+name, version)
	if err != nil {
		return err
	}
	defer w.Stop()
	select {
	case <-w.ResultChan():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// bindTime limits how long a claim waits for a volume that a provisioner announced.
const bindTime = time.Minute

// WatchBinding returns a context that ends, with the reason as its cause, when a claim gets no volume. The caller calls stop.
func (c *Cluster) WatchBinding(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bound context.Context, stop context.CancelFunc) {
	bound, end := context.WithCancelCause(ctx)
	events, err := c.watch(bound, "events", "involvedObject.uid="+string(claim.UID), "")
	if err != nil { // without the right to see events the caller waits longer
		return bound, func() { end(nil) }
	}
	go func() {
		defer events.Stop()
		late := time.NewTimer(bindTime)
		defer late.Stop()
		var said *corev1.Event
		for {
			select {
			case e, ok := <-events.ResultChan():
				event, is := e.Object.(*corev1.Event)
				if !ok {
					return
				}
				if !is || !isUnbound(event) {
					continue
				}
				if said == nil || isProvisioning(said) && !isProvisioning(event) {
					said = event
					if !isProvisioning(event) {
						late.Reset(Patience)
					}
				}
			case <-late.C:
				if said == nil {
					return
				}
				if now, err := c.FindClaim(bound, strings.TrimPrefix(claim.Name, names.ObjectName(""))); err == nil && now.Status.Phase == corev1.ClaimPending {
					end(unboundError(claim, said))
				}
				return
			case <-bound.Done():
				return
			}
		}
	}()
	return bound, func() { end(nil) }
}

// isUnbound reports whether an event is about a claim that has no volume yet.
func isUnbound(e *corev1.Event) bool {
	return e.Type == corev1.EventTypeWarning || e.Reason == "FailedBinding" || isProvisioning(e)
}

// isProvisioning reports whether an event means that a provisioner is creating the volume.
func isProvisioning(e *corev1.Event) bool { return e.Reason == "ExternalProvisioning" }

func unboundError(claim *corev1.PersistentVolumeClaim, e *corev1.Event) error {
	class := "the default storage class"
	if n := claim.Spec.StorageClassName; n != nil {
		class = "storage class " + *n
	}
	return sandbox.Errorf(sandbox.Unavailable, "no volume of %s for the sandbox: %s: %s", Line(class), Line(e.Reason), Line(e.Message)).
		WithHint("'kubectl get storageclass' shows those that there are; a provisioner has to run for it")
}
