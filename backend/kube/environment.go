package kube

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// defaultPath is the search path of an image that names none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is a command's: that of the image, the policy's, and its own.
func (i *instance) environment(cmd sandbox.Cmd) []string {
	env := append([]string{"PATH=" + defaultPath}, i.imageEnv...)
	if i.copied() { // the top of a volume belongs to root, and git takes no repository of somebody else's
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+i.target())
	}
	return policy.LastOfEach(slices.Concat(env, []string{"HOME=" + homeDir}, i.policyEnv(), cmd.Env))
}

// imageVariables are those of an image among those of a container: the runtime, the kubelet and a shell add theirs.
func imageVariables(all []string) []string {
	added := []string{"HOME", "HOSTNAME", "TERM", "PWD", "OLDPWD", "SHLVL", "_"}
	return slices.DeleteFunc(all, func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		return !ok || name == "" || slices.Contains(added, name) || strings.HasPrefix(name, "KUBERNETES_")
	})
}

// policyEnv is the plan's environment with only those variables of the host that mean something in an image: locale,
// terminal, and what the policy passes or sets.
func (p *prepared) policyEnv() []string {
	set := map[string]string{}
	wanted := []string{"TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_*", "TZ"}
	policies := []sandbox.Policy{}
	for _, l := range p.spec.Layers {
		policies = append(policies, l.Policy)
	}
	for _, one := range append(policies, p.spec.Policy) {
		wanted = append(wanted, one.Env.Pass...)
		maps.Copy(set, one.Env.Set)
	}
	return slices.DeleteFunc(slices.Clone(p.plan.Env), func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		if v, ok := set[name]; ok && v == value {
			return false
		}
		return name == "HOME" || name == "PATH" || !slices.ContainsFunc(wanted, func(w string) bool {
			prefix, all := strings.CutSuffix(w, "*")
			return w == name || all && strings.HasPrefix(name, prefix)
		})
	})
}
