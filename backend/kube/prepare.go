package kube

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// prepared is a sandbox whose pod is decided and not created yet.
type prepared struct {
	podspec.Design

	driver   *Driver
	cluster  *cluster.Cluster
	program  guestProgram
	created  time.Time
	agents   cluster.Kinds // a controller creates the pod from one of them; none: this driver does
	unfenced bool          // no NetworkPolicy is created
}

// prepare decides everything about a sandbox, and returns Unsupported for what a pod cannot enforce. It creates nothing.
func (d *Driver) prepare(ctx context.Context, spec sandbox.Spec) (*prepared, error) {
	p := &prepared{driver: d, Design: podspec.Design{Spec: spec, Image: spec.Image, Options: d.options.pods()}, created: time.Now()}
	if p.IsOnVolume(spec.Dir) {
		spec.Dir = "" // the host has no such directory
	}
	var err error
	if p.Plan, err = policy.Resolve(spec); err != nil {
		return nil, err
	}
	if err := p.Plan.CheckLimitsOfDisk(); err != nil {
		return nil, err
	}
	if p.Image == "" {
		p.Image = d.options.Image
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	if err := p.checkPool(); err != nil {
		return nil, err
	}
	if p.UID, err = ownerOf(p.Plan.Workspace); err != nil {
		return nil, err
	}
	if p.SandboxID, err = newID(); err != nil {
		return nil, err
	}
	if p.program, err = d.program(); err != nil {
		return nil, err
	}
	p.GuestSize, p.GuestSum = len(p.program.data), p.program.sum
	if p.cluster, err = d.connect(); err != nil {
		return nil, err
	}
	handler, err := p.cluster.FindRuntimeHandler(ctx, d.options.RuntimeClass)
	if err != nil {
		return nil, err
	}
	asked := make(chan struct{})
	go func() { // beside the request below
		defer close(asked)
		nodes := p.cluster.ListNodes(ctx)
		p.UserNamespace = len(spec.Volumes) == 0 && cluster.AllHaveUserNamespaces(nodes, handler)
		p.GuestMounted = d.options.GuestImage != "" && cluster.AllMountImages(nodes) && !p.IsFromPool()
	}()
	p.agents, err = p.chooseKinds(ctx)
	<-asked
	return p, err
}

// ownerOf returns the UID of a workspace's owner, which is the same on a volume that host and pod share; never root.
func ownerOf(workspace string) (int64, error) {
	if workspace == "" {
		return podspec.DefaultUID, nil
	}
	info, err := os.Stat(workspace)
	if err != nil {
		return 0, sandbox.Errorf(sandbox.NotFound, "workspace: %w", err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 {
		return int64(st.Uid), nil
	}
	return podspec.DefaultUID, nil
}
