package host

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewSpec returns the spec of the sandbox that the flags and the configuration describe.
func NewSpec(a *console.App, h Host, o *Options) (sandbox.Spec, error) {
	sources := PolicySources(a, h, o)
	layers, err := policy.Load(sources)
	if err != nil {
		return sandbox.Spec{}, err
	}
	if o.Agent != nil {
		layers = slices.Insert(layers, len(layers)-1, *o.Agent)
	}
	if trace := o.Trace(a); trace != nil {
		traceLayers(trace, sources, layers)
	}
	return sandbox.Spec{
		Workspace: h.Workspace, Home: h.Home, Env: a.Env, Layers: layers,
		Container: sandbox.Container{Image: o.image, Firewall: o.Firewall},
	}, nil
}

// WritableBy returns where commands in a sandbox of these options can create files.
func WritableBy(a *console.App, o *Options) (hostfile.Writable, error) {
	h, err := Locate(a.Env, o.Cwd)
	if err != nil {
		return nil, err
	}
	quiet := *o
	quiet.debug, quiet.verbose = false, 0
	spec, err := NewSpec(a, h, &quiet)
	if err != nil {
		return nil, err
	}
	return WritableIn(spec)
}

// WritableHere returns where commands in a sandbox of the configuration can create files. Commands of this program that use no
// sandbox call it. The result has the workspace also when there is no valid configuration.
func WritableHere(a *console.App) hostfile.Writable {
	dir, err := WorkDir("")
	if err != nil {
		return nil // there is no directory in which a sandbox could have run
	}
	configured, _ := WritableBy(a, &Options{}) // see above
	return hostfile.Below(dir).Or(configured)
}

// WritableIn returns where commands in a sandbox of spec can create files.
func WritableIn(spec sandbox.Spec) (hostfile.Writable, error) {
	plan, err := policy.Resolve(spec)
	if err != nil {
		return nil, err
	}
	return func(path string) bool {
		access, _ := plan.Access(path)
		return access == policy.ReadWrite
	}, nil
}

// PolicySources returns the sources of the policy: the files of the user and of the workspace, and the flags.
func PolicySources(a *console.App, h Host, o *Options) policy.Sources {
	return policy.Sources{
		Home: h.Home, ConfigHome: console.Lookup(a.Env, "XDG_CONFIG_HOME"), Dir: h.Workspace,
		ConfigFile: o.config, Flags: o.policy, Trust: &policy.Trust{Dir: h.TrustDir()},
	}
}

func traceLayers(trace func(phase, line string), sources policy.Sources, layers []sandbox.Layer) {
	trace("version", console.CurrentBuild().String())
	read := map[string]bool{}
	for _, l := range layers {
		read[l.File] = true
		if l.File != "" {
			trust := "trusted"
			if !l.Trusted {
				trust = "not trusted: it can only tighten"
			}
			trace("config-load", fmt.Sprintf("%s: %s (%s)", l.Name, l.File, trust))
		}
	}
	for _, file := range policy.ConfigFiles(sources) {
		if !read[file] && file != sources.Trust.Dir {
			trace("config-load", "not there: "+file)
		}
	}
	for _, l := range layers {
		text, err := json.Marshal(l.Policy)
		if err == nil {
			trace("config-merge", fmt.Sprintf("%s: %s", l.Name, text))
		}
	}
}

// ConfiguredBackend returns the backend of the configuration, or "". An untrusted
// project must not choose its own isolation.
func ConfiguredBackend(layers []sandbox.Layer) string {
	name := ""
	for _, l := range layers {
		if l.Policy.Backend != "" && l.Trusted {
			name = l.Policy.Backend
		}
	}
	return name
}
