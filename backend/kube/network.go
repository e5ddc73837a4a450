package kube

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// awaitPod waits until the pod runs and its NetworkPolicy is created, at the same time. Without the right to create one there is
// none: seccomp in the pod enforces the policy in every cluster.
func (i *instance) awaitPod(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	made := make(chan error, 1)
	go func() { made <- i.createNetworkPolicy(ctx) }()
	err := i.cluster.AwaitRunning(ctx, i.pod)
	if err != nil {
		cancel()
	}
	if i.GuestMounted && sandbox.CodeOf(err) == sandbox.Unsupported { // its first program was not found
		err = sandbox.Errorf(sandbox.Unsupported, "image %s does not have the guest at %s", i.driver.options.GuestImage, GuestVolumePath).
			WithHint("build it as build/deploy/guest.Dockerfile says")
	}
	if ferr := <-made; err == nil {
		err = ferr
	}
	return err
}

// createNetworkPolicy creates the pod's NetworkPolicy, if the cluster allows it.
func (i *instance) createNetworkPolicy(ctx context.Context) error {
	if i.unfenced {
		return nil
	}
	err := i.cluster.CreateNetworkPolicy(ctx, i.pod, i.Plan.Network.Mode)
	switch sandbox.CodeOf(err) {
	case sandbox.Denied, sandbox.NotFound, sandbox.Exhausted: // no right, no such API, a quota
		i.driver.options.Trace("kube", "no NetworkPolicy: "+err.Error())
		return nil
	default:
		return err
	}
}
