package host

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Create builds the sandbox that the flags and the configuration describe, on a stage
// unless its name is empty.
func Create(ctx context.Context, a *console.App, o *Options, stage string, refused *Denials) (*sandbox.Sandbox, error) {
	h, err := Locate(a.Env, o.Cwd)
	if err != nil {
		return nil, err
	}
	spec, err := NewSpec(a, h, o)
	if err != nil {
		return nil, err
	}
	spec.Stage, spec.Resident = stage, o.Resident
	name := o.Backend
	if name == "" {
		name = ConfiguredBackend(spec.Layers)
	}
	if !o.Preview {
		CreateCaches(spec, name)
	}
	hooks := DriverOptions{Denied: refused.Add, record: refused.record, left: o.TmpLeft, Cluster: o.Cluster, Trace: o.Trace(a), Notice: a.Err.Say}
	d, err := NewDriver(name, h, hooks)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Create(ctx, d, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return nil, ExplainUnavailable(ctx, a, d, err)
	}
	return box, err
}

// ExplainUnavailable explains why no backend works on this host, and what the user can do.
func ExplainUnavailable(ctx context.Context, a *console.App, d sandbox.Driver, err error) error {
	if IsInside() {
		return sandbox.Errorf(sandbox.Unavailable, "%w", err).
			WithHint("this process runs in a sandbox without user namespaces; allow them outside with --userns")
	}
	report, cerr := d.Check(ctx)
	if cerr != nil {
		return err
	}
	for _, f := range report.Findings {
		if f.Needed && f.State == sandbox.Impossible {
			e := sandbox.Errorf(sandbox.Unavailable, "%s cannot run here: %s: %s", d.Name(), f.Rule, f.Detail)
			if f.Fix != "" {
				return e.WithHint("%s; see 'agent-sandbox doctor'", f.Fix)
			}
			return e.WithHint("see 'agent-sandbox doctor'")
		}
	}
	return err
}
