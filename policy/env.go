package policy

import (
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/variable"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// resolveEnv decides which variables of host, "K=V" entries, a command sees. Both
// results are sorted by name.
//
// All of the host's variables pass, except those whose name or value looks like a secret, those that make a loader or an
// interpreter run code, and those that point at services of the host; package variable holds the lists. TMPDIR is /tmp, and so
// are TEMP and TMP where the host has them. Then the layers apply, lowest first, and in each of them first pass, then deny, then
// set: deny beats pass of its own layer, a later layer beats an earlier one. A pattern is a name or a beginning followed by *. A
// loader variable passes only by its exact name, because people who write "*" do not think of loader variables.
//
// The layers have been through checkLayer. PATH keeps its absolute directories
// only, and is a standard one when none is left: a program planted in the working
// directory must not be found under a common name.
func resolveEnv(layers []sandbox.Layer, host []string) (env []string, dropped []Dropped) {
	vars, dropped := hostVars(host, mergeSettings(layers).docker)
	for _, l := range layers {
		applyEnvLayer(vars, l)
	}
	path := ""
	if v, ok := vars["PATH"]; ok && v.why == "" {
		path = v.value
	}
	vars["PATH"] = &envVar{value: absolutePath(path)}
	for name, v := range vars {
		if v.why != "" {
			dropped = append(dropped, Dropped{Name: name, Why: v.why})
		} else {
			env = append(env, name+"="+v.value)
		}
	}
	byName := func(a, b string) int {
		a, _, _ = strings.Cut(a, "=")
		b, _, _ = strings.Cut(b, "=")
		return strings.Compare(a, b)
	}
	slices.SortFunc(env, byName)
	sortDropped(dropped)
	return env, slices.Compact(dropped)
}

// sortDropped sorts variables by name.
func sortDropped(list []Dropped) {
	sort.Slice(list, func(i, j int) bool { return list[i].Name+"\x00"+list[i].Why < list[j].Name+"\x00"+list[j].Why })
}

// envVar is a variable while the layers are applied to it.
type envVar struct {
	value  string
	why    string // the reason to drop it; empty: it passes
	loader bool   // passes by its exact name only
}

// hostVars judges the host's variables as if there were no rules.
func hostVars(host []string, docker bool) (map[string]*envVar, []Dropped) {
	vars := map[string]*envVar{}
	var dropped []Dropped
	for _, entry := range host {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || !variable.IsName(name) || strings.ContainsRune(value, 0) {
			dropped = append(dropped, Dropped{Name: jsonc.Clip(name), Why: "not a NAME=value entry"})
			continue
		}
		why := variable.Judge(name, value, docker)
		vars[name] = &envVar{value: value, why: why, loader: why == variable.Loader}
	}
	for _, name := range []string{"TMPDIR", "TEMP", "TMP"} {
		if vars[name] != nil || name == "TMPDIR" {
			vars[name] = &envVar{value: "/tmp"}
		}
	}
	return vars, dropped
}

func applyEnvLayer(vars map[string]*envVar, l sandbox.Layer) {
	rules := l.Policy.Env
	for name, v := range vars {
		for _, p := range rules.Pass {
			if variable.Match(p, name) && (!v.loader || p == name) {
				v.why = ""
			}
		}
		for i, p := range rules.Deny {
			if variable.Match(p, name) {
				v.why = "env.deny in " + layer.Source(l, jsonc.IndexKey("env.deny", i))
				break
			}
		}
	}
	for name, value := range rules.Set {
		vars[name] = &envVar{value: value}
	}
}

// absolutePath drops the entries of a PATH that depend on the working directory.
func absolutePath(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(d string) bool { return !filepath.IsAbs(d) })
	if len(dirs) == 0 {
		return defaultPath
	}
	return strings.Join(dirs, ":")
}

// lookupEnv returns the value of a variable in a resolved environment, or "".
func lookupEnv(env []string, name string) string {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

// OfflineEnv returns the environment of commands that have no network: npm repeats each request for 70 s, and looks for a newer npm after
// its work, unless variables say otherwise. Those that the user has set stay.
func OfflineEnv(env []string) []string {
	env = slices.Clip(env)
	for _, kv := range []string{"npm_config_fetch_retries=0", "npm_config_update_notifier=false"} {
		name := kv[:strings.IndexByte(kv, '=')+1]
		if !slices.ContainsFunc(env, func(own string) bool { return len(own) >= len(name) && strings.EqualFold(own[:len(name)], name) }) {
			env = append(env, kv)
		}
	}
	return env
}

// LastOfEach keeps the last of the NAME=VALUE entries of each name, in the order of their first.
func LastOfEach(env []string) []string {
	at := map[string]int{}
	var out []string
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if i, ok := at[name]; ok {
			out[i] = kv
			continue
		}
		at[name] = len(out)
		out = append(out, kv)
	}
	return out
}
