//go:build !kube

package cli

import "github.com/seed434b0696/agent-sandbox/internal/persist"

// newKeptCluster becomes the program that is built with the driver of pods.
func newKeptCluster(host, hooks, life) (persist.Lifecycle, error) { return nil, becomeCluster() }
