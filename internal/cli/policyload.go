package cli

import (
	"encoding/json"
	"fmt"

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
