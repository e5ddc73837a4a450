//go:build !kube

package inventory

import (
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
)

func newPodLifecycle(host.Host, host.DriverOptions, Lifetime) (persist.Lifecycle, error) {
	return nil, host.RequireEngines()
}
