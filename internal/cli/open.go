package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// spec describes the sandbox that the flags and the configuration ask for.
func (a *app) spec(h host, o *options) (sandbox.Spec, error) {
	sources := a.sources(h, o)
	layers, err := policy.Load(sources)
	if err != nil {
		return sandbox.Spec{}, err
	}
	if o.debug {
		a.debugLayers(sources, layers)
	}
	return sandbox.Spec{Workspace: h.workspace, Home: h.home, Env: a.env, Layers: layers, Image: o.image, Firewall: o.wall}, nil
}

func (a *app) sources(h host, o *options) policy.Sources {
	return policy.Sources{
		Home: h.home, ConfigHome: lookup(a.env, "XDG_CONFIG_HOME"), Dir: h.workspace,
		ConfigFile: o.config, Flags: o.policy, Trust: &policy.Trust{Dir: h.trustDir()},
	}
}

func (h host) trustDir() string { return filepath.Join(h.data, "trust") }

func (a *app) debugLayers(sources policy.Sources, layers []sandbox.Layer) {
	a.err.debug("version", currentBuild().String())
	read := map[string]bool{}
	for _, l := range layers {
		read[l.File] = true
		if l.File != "" {
			trust := "trusted"
			if !l.Trusted {
				trust = "not trusted: it can only tighten"
			}
			a.err.debug("config-load", fmt.Sprintf("%s: %s (%s)", l.Name, l.File, trust))
		}
	}
	for _, file := range policy.ConfigFiles(sources) {
		if !read[file] && file != sources.Trust.Dir {
			a.err.debug("config-load", "not there: "+file)
		}
	}
	for _, l := range layers {
		text, err := json.Marshal(l.Policy)
		if err == nil {
			a.err.debug("config-merge", fmt.Sprintf("%s: %s", l.Name, text))
		}
	}
}

// backendOf is the backend that the configuration names, or "". A project that
// nobody trusts must not choose its own wall.
func backendOf(layers []sandbox.Layer) string {
	name := ""
	for _, l := range layers {
		if l.Policy.Backend != "" && l.Trusted {
			name = l.Policy.Backend
		}
	}
	return name
}

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

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
