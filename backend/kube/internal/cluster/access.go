package cluster

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// ServerVersion returns the version of the API server.
func (c *Cluster) ServerVersion(ctx context.Context) (version.Info, error) {
	var about version.Info
	err := c.send(ctx, c.rest.Get().AbsPath("/version"), nil, &about, "ask for the version")
	return about, err
}

// Host returns the address of the API server.
func (c *Cluster) Host() string { return c.config.Host }

// NamespaceLabels returns the labels of the namespace.
func (c *Cluster) NamespaceLabels(ctx context.Context) (map[string]string, error) {
	found := &corev1.Namespace{}
	err := c.rest.Get().Resource("namespaces").Name(c.Namespace).Do(ctx).Into(found)
	return found.Labels, c.wrap(err, "read the namespace")
}

// IsAllowed reports whether the credentials allow request in the cluster's namespace. It overwrites request.Namespace.
func (c *Cluster) IsAllowed(ctx context.Context, request authorizationv1.ResourceAttributes) (bool, error) {
	request.Namespace = c.Namespace
	review := authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &request},
	}
	at := c.rest.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
	err := c.send(ctx, at, review, &review, "ask what is allowed")
	return review.Status.Allowed, err
}
