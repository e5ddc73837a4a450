//go:build !kube

package inventory

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
)

// Pod is the state of a sandbox's pod, which only the larger program knows.
type Pod struct{}

// QueryPod returns nil: only the larger program has pods.
func QueryPod(context.Context, Sandbox) (*Pod, error) { return nil, nil } //nolint:nilnil // nil says that the sandbox has no pod, as documented

// Tables returns nothing.
func (*Pod) Tables() [][][]string { return nil }

func newPodLifecycle(host.Host, host.DriverOptions, Lifetime) (persist.Lifecycle, error) {
	return nil, host.RequireEngines()
}
