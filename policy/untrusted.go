package policy

import (
	"maps"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// checkLayers refuses layers that are wrong on every host, and untrusted ones that
// loosen what the layers before them set. Path rules of untrusted layers are judged
// where paths are resolved, except sockets, of which they may list none.
func checkLayers(layers []sandbox.Layer) error {
	for _, l := range layers {
		if err := layer.Check(l); err != nil {
			return err
		}
	}
	return checkTightens(layers)
}

// checkTightens refuses an untrusted layer that does more than tighten, at the
// first line where it does. Unchanged repetitions are allowed:
//
//   - network only to "none", to more that is denied, or from "host" to a list
//   - no secrets: they run commands of the host and choose which hosts get a value
//   - docker, userns and debuggers only to false
//   - backend not at all: another backend may isolate less
//   - commands only to false, or to the command's preset where it runs freely
//   - env only deny; limits only lower; no sockets, no requests
//   - filesystem.tmp only to "fresh": with "keep" commands find files of earlier runs
//   - assistants not at all: workspaces of all projects are removed by it
func checkTightens(layers []sandbox.Layer) error {
	for i, l := range layers {
		if l.Trusted {
			continue
		}
		if keys := findLoosened(layers[:i], &l); len(keys) > 0 {
			first := slices.MinFunc(keys, func(a, b string) int { return l.Lines[a] - l.Lines[b] })
			return notTighterError(l, first)
		}
	}
	return nil
}

// notTighterError is the error for a key of an untrusted layer that loosens.
func notTighterError(l sandbox.Layer, key string) *sandbox.Error {
	err := layer.Errorf(l, key, "a project file may only tighten the policy")
	err.Code = sandbox.Denied
	if l.File == "" {
		return err
	}
	return err.WithHint("read it, then run: agent-sandbox trust %s", shellword.Quote(l.File))
}

// findLoosened returns the keys with which l allows more than the layers below.
func findLoosened(below []sandbox.Layer, l *sandbox.Layer) []string {
	p := &l.Policy
	var keys []string
	add := func(key string, yes bool) {
		if yes {
			keys = append(keys, key)
		}
	}
	was := mergeSettings(below)
	is := was
	is.apply(l)
	add("backend", is.backend != was.backend)
	keys = append(keys, was.network.loosened(l)...)
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		add("secrets."+name, true)
	}
	add("docker", is.docker && !was.docker)
	add("userns", is.userns && !was.userns)
	add("debuggers", is.debuggers && !was.debuggers)
	for i := range p.Filesystem.Sockets {
		add(jsonc.IndexKey("filesystem.sockets", i), true)
	}
	add("filesystem.tmp", is.keepTmp && !was.keepTmp)
	rules := commandRules(below)
	for _, name := range slices.Sorted(maps.Keys(p.Commands)) {
		add("commands."+name, !isTighterRule(name, rules[name].rule, p.Commands[name]))
	}
	for i := range p.Env.Pass {
		add(jsonc.IndexKey("env.pass", i), true)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env.Set)) {
		add("env.set."+name, true)
	}
	add("assistants.workspace_retention", p.Assistants.WorkspaceRetention != 0)
	add("assistants.cleanup_schedule", p.Assistants.CleanupSchedule != "")
	add("requests.memory", p.Requests.Memory != 0)
	add("requests.cpu", p.Requests.CPU != 0)
	return append(keys, raisedLimits(resolveLimits(below).Limits, p.Limits)...)
}

// isTighterRule reports whether an untrusted layer may change a command's rule from was to is.
func isTighterRule(name string, was, is sandbox.CommandRule) bool {
	free := was == "" || was == "true"
	switch {
	case is == "false", is == was, is == "true" && free:
		return true
	}
	return free && string(is) == "@"+name
}
