//go:build !linux

package bwrap

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Driver is the bwrap backend, which needs Linux.
type Driver struct{}

// New returns a driver whose Create fails.
func New(Options) *Driver { return &Driver{} }

// Name is "bwrap".
func (*Driver) Name() string { return "bwrap" }

// Check reports that nothing can be enforced.
func (*Driver) Check(context.Context) (sandbox.Report, error) {
	return sandbox.Report{Backend: "bwrap", Findings: []sandbox.Finding{{
		Rule: "Linux", State: sandbox.Impossible, Needed: true,
		Detail: "bubblewrap needs the namespaces of Linux", Fix: "run agent-sandbox on Linux",
	}}}, nil
}

// Create fails with Unavailable.
func (*Driver) Create(context.Context, sandbox.Spec) (sandbox.Instance, error) {
	return nil, sandbox.Errorf(sandbox.Unavailable, "bubblewrap needs Linux").WithHint("run agent-sandbox on Linux")
}

// Open fails with NotFound.
func (*Driver) Open(_ context.Context, id string) (sandbox.Instance, error) {
	return nil, sandbox.Errorf(sandbox.NotFound, "no sandbox %q", id)
}

// List is empty.
func (*Driver) List(context.Context) ([]sandbox.Info, error) { return nil, nil }
