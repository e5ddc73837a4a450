package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// unknownHandler is the runtime handler of a class that we may not look at.
const unknownHandler = "\x00"

// handler is the name by which nodes know a runtime class. The class that nobody names has none.
func (c *cluster) handler(ctx context.Context, class string) (string, error) {
	if class == "" {
		return "", nil
	}
	var found struct {
		Handler string `json:"handler"`
	}
	err := c.send(ctx, c.rest.Get().AbsPath("/apis/node.k8s.io/v1").Resource("runtimeclasses").Name(class), nil, &found, "look at the runtime class")
	switch sandbox.CodeOf(err) {
	case sandbox.Denied:
		return unknownHandler, nil
	case sandbox.NotFound:
		return "", sandbox.Errorf(sandbox.NotFound, "the cluster has no runtime class %q", class).WithHint("'kubectl get runtimeclasses' lists what there is")
	default:
		return found.Handler, err
	}
}

// nodes are those that pods may come to. Whoever may not look at them sees none, and does without what not all are known to
// have: a pod that asks for what its node lacks never starts.
func (c *cluster) nodes(ctx context.Context) []corev1.Node {
	nodes := &corev1.NodeList{}
	if err := c.rest.Get().Resource("nodes").Do(ctx).Into(nodes); err != nil {
		return nil
	}
	return nodes.Items
}

func allHaveUserNamespaces(nodes []corev1.Node, handler string) bool {
	for i := range nodes {
		if !hasUserNamespaces(&nodes[i], handler) {
			return false
		}
	}
	return len(nodes) > 0
}

func hasUserNamespaces(n *corev1.Node, handler string) bool {
	for _, h := range n.Status.RuntimeHandlers {
		if h.Name == handler {
			return h.Features != nil && h.Features.UserNamespaces != nil && *h.Features.UserNamespaces
		}
	}
	return false
}
