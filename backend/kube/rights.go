package kube

import (
	"context"
	"encoding/json"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// right is one resource with verbs that a Role has to allow.
type right struct {
	Group       string // of the API; empty: the core's
	Resource    string
	Subresource string
	Verbs       []string
	Without     string // the consequence of its absence; empty: no sandbox runs
}

// name returns the resource as Roles name it.
func (r right) name() string {
	if r.Subresource == "" {
		return r.Resource
	}
	return r.Resource + "/" + r.Subresource
}

// Names of the Roles that doctor prints.
const (
	roleNeeded   = "agent-sandbox"
	roleOptional = "agent-sandbox-optional"
)

// neededRights returns the rights without which no sandbox runs. An exec stream over a WebSocket is a GET, over SPDY a POST; since
// Kubernetes 1.35 the WebSocket needs the right to create, too.
func neededRights() []right {
	return []right{
		{Resource: "pods", Verbs: []string{"create", "get", "list", "watch", "delete"}},
		{Resource: "pods", Subresource: "exec", Verbs: []string{"create", "get"}},
	}
}

// optionalRights returns the rights without which a feature is missing.
func optionalRights() []right {
	return []right{
		{
			Group: "networking.k8s.io", Resource: "networkpolicies", Verbs: []string{"create"},
			Without: "no NetworkPolicy is created: without a network seccomp confines commands, and the cluster decides who may connect to a pod",
		},
		{Resource: "events", Verbs: []string{"list", "watch"}, Without: "the reason why a pod does not start is known only from its conditions"},
		{Resource: "persistentvolumeclaims", Verbs: []string{"create", "get", "list", "watch", "patch", "delete"}, Without: "no persistent sandboxes"},
		{Resource: "pods", Verbs: []string{"patch"}, Without: "prepared pods do not show the names of their sandboxes"},
		{Resource: "pods", Subresource: "log", Verbs: []string{"get"}, Without: "a guest that does not start cannot say why"},
		{Resource: "namespaces", Verbs: []string{"get"}, Without: "whether the namespace accepts less isolated pods is not known"},
	}
}

// agentRights returns the rights to Sandboxes and SandboxClaims; none in a cluster without them.
func (d *Driver) agentRights(ctx context.Context, c *cluster.Cluster) []right {
	found, err := c.FindKinds(ctx)
	if err != nil || found.Sandboxes.Version == "" || d.options.Agents == AgentsNever {
		return nil
	}
	all := []string{"create", "get", "list", "watch", "delete"}
	if d.options.WarmPool == "" {
		return []right{{Group: found.Sandboxes.Group, Resource: found.Sandboxes.Resource, Verbs: all, Without: "agent-sandbox creates pods, not Sandboxes"}}
	}
	return []right{
		{Group: found.Sandboxes.Group, Resource: found.Sandboxes.Resource, Verbs: []string{"get", "list", "watch"}, Without: "no pod of a warm pool is found"},
		{Group: found.Claims.Group, Resource: found.Claims.Resource, Verbs: all, Without: "no pod of a warm pool is taken"},
	}
}

// findRights reports for each right whether the credentials have it.
func findRights(ctx context.Context, c *cluster.Cluster, more ...right) ([]sandbox.Finding, error) {
	must, err := askFor(ctx, c, neededRights(), roleNeeded)
	if err != nil {
		return nil, err
	}
	may, err := askFor(ctx, c, append(optionalRights(), more...), roleOptional)
	for i := range may {
		if f := &may[i]; f.Rule == "networkpolicies" && f.State == sandbox.Enforced { // the network may not enforce it
			f.State, f.Detail = sandbox.Emulated, "one is made with each pod; whether the cluster's network enforces it was not tried"
			f.Fix = "'agent-sandbox doctor --backend kube --verify' tries it"
		}
	}
	return append(must, may...), err
}

// askFor reports on the rights of one Role. The fix is the whole Role, because it replaces one that exists.
func askFor(ctx context.Context, c *cluster.Cluster, rights []right, role string) ([]sandbox.Finding, error) {
	var found []sandbox.Finding
	for _, r := range rights {
		var lacks []string
		for _, verb := range r.Verbs {
			ok, err := c.IsAllowed(ctx, authorizationv1.ResourceAttributes{Verb: verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource})
			if err != nil {
				return nil, err
			}
			if !ok {
				lacks = append(lacks, verb)
			}
		}
		f := sandbox.Finding{Rule: r.name(), State: sandbox.Enforced, Needed: r.Without == "", Detail: "allowed: " + strings.Join(r.Verbs, ", ")}
		if len(lacks) > 0 {
			f.State, f.Detail = sandbox.Impossible, "not allowed: "+strings.Join(lacks, ", ")
			if r.Without != "" {
				f.Detail += "; " + r.Without
			}
			f.Fix = "kubectl apply -f - <<<'" + renderRole(role, c.Namespace, rights) + "', and bind it to you"
		}
		found = append(found, f)
	}
	return found, nil
}

// renderRole renders a Role with rights as one line of JSON.
func renderRole(name, namespace string, rights []right) string {
	type rule struct {
		APIGroups []string `json:"apiGroups"`
		Resources []string `json:"resources"`
		Verbs     []string `json:"verbs"`
	}
	var rules []rule
	for _, r := range rights {
		rules = append(rules, rule{[]string{r.Group}, []string{r.name()}, r.Verbs})
	}
	data, _ := json.Marshal(map[string]any{ // of strings only
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
		"metadata": map[string]string{"name": name, "namespace": namespace}, "rules": rules,
	})
	return string(data)
}
