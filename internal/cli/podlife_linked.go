//go:build kube

package cli

import (
	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newKeptCluster returns the lifecycle of persistent pods.
func newKeptCluster(h host, k hooks, l life) (persist.Lifecycle, error) {
	if l.warm > 0 {
		return nil, sandbox.Errorf(sandbox.Unsupported, "kube prepares no sandboxes ahead").WithHint("leave --warm out")
	}
	return &kube.Kept{Inner: newPods(h, k), Idle: l.idle, TTL: l.ttl, Env: h.env}, nil
}
