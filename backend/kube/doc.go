// Package kube runs sandboxes as pods of a Kubernetes cluster.
//
// A pod meets the "restricted" Pod Security Standard. The guest is sent over an exec stream, which then carries the session
// (package guest/session): no Service, port or network path to the pod is needed, and the cluster's RBAC for pods and pods/exec
// decides what a user may do.
//
// The workspace is a copy of the host's, which is deleted with the pod, or a persistent volume claim. A rule that a pod cannot
// enforce is an error with the field's name.
package kube
