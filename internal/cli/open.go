package cli

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// open builds the sandbox that the flags and the configuration describe, on a stage
// unless its name is empty.
func (a *app) open(ctx context.Context, o *options, stage string, refused *denials) (*sandbox.Sandbox, error) {
	h, err := locate(a.env, o.cwd)
	if err != nil {
		return nil, err
	}
	spec, err := a.spec(h, o)
	if err != nil {
		return nil, err
	}
	spec.Stage, spec.Resident = stage, o.resident
	name := o.backend
	if name == "" {
		name = backendOf(spec.Layers)
	}
	hooks := hooks{denied: refused.add, record: refused.record, cluster: o.cluster}
	if o.debug {
		hooks.trace = a.err.debug
	}
	d, err := newDriver(name, h, hooks)
	if err != nil {
		return nil, err
	}
	box, err := sandbox.Create(ctx, d, spec)
	if sandbox.CodeOf(err) == sandbox.Unavailable {
		return nil, a.unavailable(ctx, d, err)
	}
	return box, err
}

// unavailable names the reason why nothing can run here, and the ways out.
func (a *app) unavailable(ctx context.Context, d sandbox.Driver, err error) error {
	if inside() {
		return sandbox.Errorf(sandbox.Unavailable, "%w", err).
			WithHint("this is inside a sandbox already, and user namespaces are closed in it; open them outside with --userns")
	}
	report, cerr := d.Check(ctx)
	if cerr != nil {
		return err
	}
	for _, f := range report.Findings {
		if f.Needed && f.State == sandbox.Impossible {
			e := sandbox.Errorf(sandbox.Unavailable, "%s cannot run here: %s: %s", d.Name(), f.Rule, f.Detail)
			if f.Fix != "" {
				return e.WithHint("%s; 'agent-sandbox doctor' tells more", f.Fix)
			}
			return e.WithHint("'agent-sandbox doctor' tells more")
		}
	}
	return err
}
