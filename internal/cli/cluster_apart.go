//go:build !kube

package cli

import (
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// clusterProgram is this program built with the driver of pods: the client of a cluster takes each start of whatever
// links it some milliseconds.
const clusterProgram = "agent-sandbox-kube"

// newCluster becomes that program, which begins anew: nothing has been started yet.
func newCluster(host, hooks) (sandbox.Driver, error) { return nil, becomeCluster() }

// newKeptCluster is as newCluster.
func newKeptCluster(host, hooks, life) (persist.Lifecycle, error) { return nil, becomeCluster() }

func becomeCluster() error {
	return sandbox.Errorf(sandbox.Unavailable, "kube: pods are made by a program of their own: %w", become(clusterProgram)).
		WithHint("install it beside this one: make install")
}
