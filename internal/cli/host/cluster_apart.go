//go:build !kube

package host

import (
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newCluster becomes the program that is built with the driver of pods.
func newCluster(Host, DriverOptions) (sandbox.Driver, error) { return nil, BecomeCluster() }

// BecomeCluster replaces this process, so nothing may have been started yet. It returns only when it fails.
func BecomeCluster() error {
	return sandbox.Errorf(sandbox.Unavailable, "kube: pods need a program of their own: %w", program.Become(program.Cluster)).
		WithHint("install it beside this one: make install")
}
