//go:build kube

package inventory

import (
	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newPodLifecycle returns the lifecycle of persistent pods.
func newPodLifecycle(h host.Host, k host.DriverOptions, l Lifetime) (persist.Lifecycle, error) {
	if l.Warm > 0 {
		return nil, sandbox.Errorf(sandbox.Unsupported, "kube prepares no sandboxes ahead").WithHint("leave --warm out")
	}
	return &kube.PersistentDriver{Inner: host.NewPods(h, k), Idle: l.Idle, TTL: l.TTL, Env: h.Env}, nil
}
