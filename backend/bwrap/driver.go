//go:build linux

package bwrap

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap/host"
	"github.com/seed434b0696/agent-sandbox/backend/bwrap/limits"
	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/program"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Driver is the bwrap backend. It is safe for concurrent use.
type Driver struct {
	options Options
	guest   func() (string, error) // its path, cached
}

// New returns a driver. It cannot fail: Create and Check return errors.
func New(options Options) *Driver {
	if options.DataDir == "" {
		if home, err := os.UserHomeDir(); err == nil {
			options.DataDir = filepath.Join(home, ".local/share/agent-sandbox")
		}
	}
	if options.Stages == "" {
		options.Stages = stage.In(options.DataDir)
	}
	if options.Trace == nil {
		options.Trace = func(string, string) {}
	}
	if options.Denied == nil {
		options.Denied = func(sandbox.Denial) {}
	}
	return &Driver{options: options, guest: program.Located(options.Guest, options.DataDir)}
}

// Name is "bwrap".
func (d *Driver) Name() string { return "bwrap" }

// Check tries what this host can enforce. It takes some tens of milliseconds.
func (d *Driver) Check(ctx context.Context) (sandbox.Report, error) {
	return host.Check(ctx, d.options.Bwrap)
}

// Create resolves spec and rejects what this host cannot enforce. It runs nothing, and writes nothing but agent-sandbox's own
// directories; Start does.
func (d *Driver) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Instance, error) {
	if err := policy.CheckHostRoot(spec); err != nil {
		return nil, err
	}
	plan, err := policy.ResolveToRun(spec)
	if err != nil {
		return nil, err
	}
	if spec.State != "" && !filepath.IsAbs(spec.State) {
		return nil, sandbox.Errorf(sandbox.Invalid, "state directory %q is not absolute", spec.State)
	}
	d.trace(plan)
	if err := plan.CheckLimitsOfDisk(); err != nil {
		return nil, err
	}
	if err := plan.CheckNoRequests(); err != nil {
		return nil, err
	}
	if err := checkStage(spec, plan); err != nil {
		return nil, err
	}
	if err := checkTmp(plan, nil); err != nil {
		return nil, err
	}
	tool, err := d.findTool(ctx, plan)
	if err != nil {
		return nil, err
	}
	if err := guard.Available(); err != nil {
		return nil, err
	}
	guestPath, err := d.guest()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "the guest binary: %w", err)
	}
	held, err := limits.New(plan.Limits)
	if err != nil {
		return nil, err
	}
	if err := held.Close(); err != nil {
		return nil, err
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	return &instance{
		driver: d, id: hex.EncodeToString(id[:]), spec: spec, plan: plan, fresh: plan,
		tool: tool, guest: guestPath, created: time.Now(), running: map[*process]struct{}{}, over: make(chan struct{}),
	}, nil
}

// Open fails with NotFound: a sandbox of this driver does not outlive its process.
func (d *Driver) Open(_ context.Context, id string) (sandbox.Instance, error) {
	return nil, sandbox.Errorf(sandbox.NotFound, "no sandbox %q", id)
}

// List is empty: a sandbox of this driver does not outlive its process.
func (d *Driver) List(context.Context) ([]sandbox.Info, error) { return nil, nil }
