//go:build !kube

package cli

import "github.com/seed434b0696/agent-sandbox/sandbox"

// clusterProgram is this program built with the driver of pods. The client of a cluster slows the start of each program
// that links it by some milliseconds.
const clusterProgram = "agent-sandbox-kube"

// newCluster becomes the program that is built with the driver of pods.
func newCluster(host, hooks) (sandbox.Driver, error) { return nil, becomeCluster() }

// becomeCluster replaces this process, so nothing may have been started yet. It returns only when it fails.
func becomeCluster() error {
	return sandbox.Errorf(sandbox.Unavailable, "kube: pods need a program of their own: %w", become(clusterProgram)).
		WithHint("install it beside this one: make install")
}
