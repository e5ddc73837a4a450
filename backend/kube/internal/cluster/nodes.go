package cluster

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// unknownHandler stands for the handler of a runtime class that the credentials do not allow to read. No node has it.
const unknownHandler = "\x00"

// FindRuntimeHandler returns the name by which nodes know a runtime class; empty for the default class "". NotFound: the cluster
// has no such class.
func (c *Cluster) FindRuntimeHandler(ctx context.Context, class string) (string, error) {
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
		return "", sandbox.Errorf(sandbox.NotFound, "the cluster has no runtime class %q", class).WithHint("'kubectl get runtimeclasses' lists the classes")
	default:
		return found.Handler, err
	}
}

// ListNodes returns the nodes of the cluster; none when they cannot be listed. A feature is used only if all nodes are known to
// have it: a pod that asks for a feature that its node lacks never starts.
func (c *Cluster) ListNodes(ctx context.Context) []corev1.Node {
	nodes := &corev1.NodeList{}
	if err := c.rest.Get().Resource("nodes").Do(ctx).Into(nodes); err != nil {
		return nil
	}
	return nodes.Items
}

// AllHaveUserNamespaces reports whether every node is known to run pods of a runtime handler in user namespaces. It is false
// without nodes.
func AllHaveUserNamespaces(nodes []corev1.Node, handler string) bool {
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

// First versions in which nodes mount an image as a volume by default.
var (
	kubeletMounts    = version.MustParseGeneric("1.35")
	containerdMounts = version.MustParseGeneric("2.1")
	crioMounts       = version.MustParseGeneric("1.31")
)

// AllMountImages reports whether every node is known to mount images as volumes. It is false without nodes.
func AllMountImages(nodes []corev1.Node) bool {
	return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return !canMountImages(n.Status.NodeInfo) })
}

func canMountImages(about corev1.NodeSystemInfo) bool {
	runtime, release, _ := strings.Cut(about.ContainerRuntimeVersion, "://")
	from := map[string]*version.Version{"containerd": containerdMounts, "cri-o": crioMounts}[runtime]
	return from != nil && isAtLeast(release, from) && isAtLeast(about.KubeletVersion, kubeletMounts)
}

// isAtLeast reports whether a version that a node reports is from or a later one.
func isAtLeast(told string, from *version.Version) bool {
	v, err := version.ParseGeneric(told)
	return err == nil && v.AtLeast(from)
}
