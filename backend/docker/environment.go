package docker

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/backend/docker/image"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// resolve returns the plan with only those variables of the host that have a meaning in an image: PATH, HOME and similar ones
// name files of the host. The rules were resolved with all of them: some locate files to protect, others are secrets.
func resolve(spec sandbox.Spec) (*policy.Plan, error) {
	if isOnVolume(spec) {
		spec.Dir = "" // the host has no such directory
	}
	plan, err := policy.ResolveToRun(spec)
	if err != nil {
		return nil, err
	}
	if err := plan.CheckLimitsOfDisk(); err != nil {
		return nil, err
	}
	hosts := map[string]bool{"TEMP": true, "TMP": true}
	for _, kv := range spec.Env {
		name, _, _ := strings.Cut(kv, "=")
		hosts[name] = name != "TMPDIR" // the sandbox has its own
	}
	set, pass := setBy(spec), newPassFilter(spec)
	out := func(name string) bool {
		_, ours := set[name]
		return hosts[name] && !ours && !pass(name)
	}
	plan.Env = slices.DeleteFunc(plan.Env, func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return out(name)
	})
	plan.Dropped = slices.DeleteFunc(plan.Dropped, func(d policy.Dropped) bool { return out(d.Name) })
	return plan, nil
}

// newPassFilter returns a function that reports whether a variable of the host has a meaning in an image or a policy passes it.
func newPassFilter(spec sandbox.Spec) func(name string) bool {
	wanted := []string{"HOME", "PATH", "TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_*", "TZ"}
	for _, l := range spec.Layers {
		wanted = append(wanted, l.Policy.Env.Pass...)
	}
	wanted = append(wanted, spec.Policy.Env.Pass...)
	return func(name string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool {
			prefix, all := strings.CutSuffix(w, "*")
			return w == name || all && strings.HasPrefix(name, prefix)
		})
	}
}

// environment returns the environment of a command: that of the image, then the user's, the policy's and its own variables.
func (p *prepared) environment(network []string, cmd sandbox.Cmd) []string {
	env := append(slices.Clone(p.image.Env), "HOME="+p.user.Home)
	if p.image.Path() == image.DefaultPath {
		env = append(env, "PATH="+image.DefaultPath)
	}
	env = policy.LastOfEach(slices.Concat(env, network, cmd.Env))
	if p.plan.Network.Mode == sandbox.NetworkNone && len(p.spec.Firewall) == 0 && len(p.spec.Env) > 0 {
		env = policy.OfflineEnv(env)
	}
	return env
}

// policyEnv returns the plan's environment without the host's PATH and HOME.
func (p *prepared) policyEnv() []string {
	return slices.DeleteFunc(slices.Clone(p.plan.Env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return (name == "PATH" || name == "HOME") && setBy(p.spec)[name] != value
	})
}

// setBy returns the variables that the policy sets itself.
func setBy(spec sandbox.Spec) map[string]string {
	out := map[string]string{}
	for _, l := range spec.Layers {
		maps.Copy(out, l.Policy.Env.Set)
	}
	maps.Copy(out, spec.Policy.Env.Set)
	return out
}
