package podspec

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// defaultPath is the search path of an image that names none.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// CommandEnvironment returns the environment of a command: the variables of the image, then the policy's, then the command's own.
func (p *Design) CommandEnvironment(image []string, cmd sandbox.Cmd) []string {
	env := append([]string{"PATH=" + defaultPath}, image...)
	if p.IsCopied() { // the top of a volume belongs to root, and git rejects repositories of other users
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0="+p.target())
	}
	return policy.LastOfEach(slices.Concat(env, []string{"HOME=" + HomeDir}, p.policyEnv(), cmd.Env))
}

// ImageVariables returns the variables of an image from the environment of a container: without those that the runtime, the
// kubelet and a shell add.
func ImageVariables(all []string) []string {
	added := []string{"HOME", "HOSTNAME", "TERM", "PWD", "OLDPWD", "SHLVL", "_"}
	return slices.DeleteFunc(all, func(kv string) bool {
		name, _, ok := strings.Cut(kv, "=")
		return !ok || name == "" || slices.Contains(added, name) || strings.HasPrefix(name, "KUBERNETES_")
	})
}

// policyEnv returns the plan's environment, and of the host's variables only those that mean something in an image: locale,
// terminal, and those that the policy passes or sets.
func (p *Design) policyEnv() []string {
	set := map[string]string{}
	wanted := []string{"TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_*", "TZ"}
	policies := []sandbox.Policy{}
	for _, l := range p.Spec.Layers {
		policies = append(policies, l.Policy)
	}
	for _, one := range append(policies, p.Spec.Policy) {
		wanted = append(wanted, one.Env.Pass...)
		maps.Copy(set, one.Env.Set)
	}
	return slices.DeleteFunc(slices.Clone(p.Plan.Env), func(kv string) bool {
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
