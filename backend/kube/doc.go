// Package kube runs sandboxes as pods of a Kubernetes cluster.
//
// A pod is rendered so that a namespace which enforces the "restricted" Pod Security Standard takes it. The guest is
// sent into it over an exec stream, which then carries the session (package guest/session): no Service, no port, no
// network path to the pod is needed, and what a user may do is what the cluster's RBAC says about pods and pods/exec.
//
// The workspace is a copy of the host's, which goes with the pod, or a persistent volume claim. What a pod cannot hold
// is refused with the field's name.
package kube
