package kube

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const claims = "persistentvolumeclaims"

// objectName is that of the claim of a sandbox that lives on, and of the pod in which it runs.
func objectName(name string) string { return "agent-sandbox-" + name }

func (c *cluster) createClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaim, error) {
	made := &corev1.PersistentVolumeClaim{}
	err := c.rest.Post().Namespace(c.namespace).Resource(claims).Body(claim).Do(ctx).Into(made)
	return made, c.wrap(err, "create a volume claim")
}

func (c *cluster) findClaim(ctx context.Context, name string) (*corev1.PersistentVolumeClaim, error) {
	found := &corev1.PersistentVolumeClaim{}
	err := c.rest.Get().Namespace(c.namespace).Resource(claims).Name(objectName(name)).Do(ctx).Into(found)
	return found, c.wrap(err, "look at the volume claim")
}

// listClaims are those of all sandboxes that live on, also of those that are being made or removed.
func (c *cluster) listClaims(ctx context.Context) ([]corev1.PersistentVolumeClaim, error) {
	list := &corev1.PersistentVolumeClaimList{}
	err := c.rest.Get().Namespace(c.namespace).Resource(claims).VersionedParams(&metav1.ListOptions{LabelSelector: persistentSelector}, c.params).Do(ctx).Into(list)
	return list.Items, c.wrap(err, "list volume claims")
}

// annotate changes annotations of that very claim; one with a nil value is removed.
func (c *cluster) annotate(ctx context.Context, claim *corev1.PersistentVolumeClaim, changes map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": claim.UID, "annotations": changes}})
	if err != nil {
		return err
	}
	err = c.rest.Patch(types.MergePatchType).Namespace(c.namespace).Resource(claims).Name(claim.Name).Body(patch).Do(ctx).Error()
	return c.wrap(err, "change the volume claim")
}

// deleteClaim removes that very claim; version, if any, is that which it still has to have. One that is gone is fine.
// It stays, as one that is being deleted, until no pod uses it.
func (c *cluster) deleteClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim, version string) error {
	options := &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &claim.UID}}
	if version != "" {
		options.Preconditions.ResourceVersion = &version
	}
	err := c.rest.Delete().Namespace(c.namespace).Resource(claims).Name(claim.Name).Body(options).Do(ctx).Error()
	err = c.wrap(err, "delete the volume claim")
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// claimGone returns when a claim that is being deleted is no more.
func (c *cluster) claimGone(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deleteTime, sandbox.Errorf(sandbox.Timeout, "the cluster has not removed the volume claim %s in %s", claim.Name, deleteTime).
		WithHint("'kubectl describe pvc %s' tells who uses it", claim.Name))
	defer cancel()
	for {
		now := &corev1.PersistentVolumeClaim{}
		err := c.rest.Get().Namespace(c.namespace).Resource(claims).Name(claim.Name).Do(ctx).Into(now)
		err = c.wrap(err, "look at the volume claim")
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case sandbox.CodeOf(err) == sandbox.NotFound, err == nil && now.UID != claim.UID:
			return nil
		case err != nil:
			return err
		}
		if err := c.change(ctx, claims, claim.Name, now.ResourceVersion); err != nil {
			return err
		}
	}
}

// change returns when there is news of an object.
func (c *cluster) change(ctx context.Context, resource, name, version string) error {
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

// claimVolume is a pod's volume that a claim stands for.
func claimVolume(name, claim string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	}}
}

// newClaim asks for the storage of a sandbox.
func (o Options) newClaim(name string, annotations map[string]string) *corev1.PersistentVolumeClaim {
	size := o.StorageSize
	if size == 0 {
		size = DefaultStorage
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: objectName(name), Labels: persistentLabels(name), Annotations: annotations},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
				corev1.ResourceStorage: *resource.NewQuantity(size, resource.BinarySI),
			}},
		},
	}
	if o.StorageClass != "" {
		claim.Spec.StorageClassName = &o.StorageClass
	}
	return claim
}

// bindTime is how long a claim may wait for a volume that somebody says he makes.
const bindTime = time.Minute

// binding ends ctx, with the reason as its cause, when a claim gets no volume.
func (c *cluster) binding(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bound context.Context, stop context.CancelFunc) {
	bound, end := context.WithCancelCause(ctx)
	events, err := c.watch(bound, "events", "involvedObject.uid="+string(claim.UID), "")
	if err != nil { // whoever may not see events waits longer
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
				if !is || !unbound(event) {
					continue
				}
				if said == nil || waits(said) && !waits(event) {
					said = event
					if !waits(event) {
						late.Reset(patience)
					}
				}
			case <-late.C:
				if said == nil {
					return
				}
				if now, err := c.findClaim(bound, strings.TrimPrefix(claim.Name, objectName(""))); err == nil && now.Status.Phase == corev1.ClaimPending {
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

// unbound reports whether an event is about a claim that has no volume yet.
func unbound(e *corev1.Event) bool {
	return e.Type == corev1.EventTypeWarning || e.Reason == "FailedBinding" || waits(e)
}

// waits reports whether somebody is said to be at work on it.
func waits(e *corev1.Event) bool { return e.Reason == "ExternalProvisioning" }

func unboundError(claim *corev1.PersistentVolumeClaim, e *corev1.Event) error {
	class := "the default storage class"
	if n := claim.Spec.StorageClassName; n != nil {
		class = "storage class " + *n
	}
	return sandbox.Errorf(sandbox.Unavailable, "there is no volume of %s for the sandbox: %s: %s", line(class), line(e.Reason), line(e.Message)).
		WithHint("'kubectl get storageclass' shows those that there are; a provisioner has to run for it")
}
