//go:build kube

package inventory

import (
	"cmp"
	"context"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Pod is the state of a sandbox's pod.
type Pod struct{ kube.PodStatus }

// QueryPod asks the cluster for the pod of a sandbox; nil: it has none.
func QueryPod(ctx context.Context, k Sandbox) (*Pod, error) {
	d, ok := k.Lifecycle.(*kube.PersistentDriver)
	if !ok {
		return nil, nil //nolint:nilnil // nil says that the sandbox has no pod, as documented
	}
	st, err := d.PodStatus(ctx, k.ID)
	if sandbox.CodeOf(err) == sandbox.Closed {
		return nil, nil //nolint:nilnil // the same: a stopped sandbox has no pod
	}
	if err != nil {
		return nil, err
	}
	return &Pod{st}, nil
}

// Tables returns the pod, its conditions and its containers for people.
func (p *Pod) Tables() [][][]string {
	tables := [][][]string{{
		{"POD", "NODE", "PHASE", "REASON"},
		{p.Name, cmp.Or(p.Node, "none"), p.Phase, reason(p.Reason, p.Message)},
	}}
	rows := [][]string{{"CONDITION", "STATUS", "REASON"}}
	for _, c := range p.Conditions {
		rows = append(rows, []string{c.Type, c.Status, reason(c.Reason, c.Message)})
	}
	tables = append(tables, rows)
	rows = [][]string{{"CONTAINER", "STATE", "RESTARTS", "REASON"}}
	for _, c := range p.Containers {
		state := c.State
		if c.State == "terminated" {
			state += " with " + strconv.Itoa(c.ExitCode)
		}
		rows = append(rows, []string{c.Name, state, strconv.Itoa(c.Restarts), reason(c.Reason, c.Message)})
	}
	return append(tables, rows)
}

func reason(word, text string) string {
	if word == "" || text == "" {
		return cmp.Or(word, text)
	}
	return word + ": " + text
}

// newPodLifecycle returns the lifecycle of persistent pods.
func newPodLifecycle(h host.Host, k host.DriverOptions, l Lifetime) (persist.Lifecycle, error) {
	if l.Warm > 0 {
		return nil, sandbox.Errorf(sandbox.Unsupported, "kube prepares no sandboxes ahead").WithHint("leave --warm out")
	}
	return &kube.PersistentDriver{Inner: host.NewPods(h, k), Idle: l.Idle, TTL: l.TTL, Env: h.Env}, nil
}
