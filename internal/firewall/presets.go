package firewall

import (
	"slices"
	"strings"
)

// Preset returns the rules of a preset; ok is false if there is no preset of that name. @default is all the
// others. @github also opens the ranges that GitHub publishes, on the ports 22 and 443. Package registries
// have no preset, because projects use different ones.
func Preset(name string) (rules []string, ok bool) {
	switch name {
	case "@default":
		for _, leaf := range baseNames() {
			more, _ := Preset(leaf)
			rules = append(rules, more...)
		}
		return rules, true
	case "@anthropic":
		return tlsRules("api.anthropic.com", "platform.claude.com", "claude.ai"), true
	case "@github":
		hosts := tlsRules("github.com", "api.github.com", "uploads.github.com", "codeload.github.com",
			"raw.githubusercontent.com", "objects.githubusercontent.com")
		return append(hosts, "github.com:22"), true
	case "@openai":
		return tlsRules("api.openai.com", "auth.openai.com", "chatgpt.com"), true
	case "@openrouter":
		return tlsRules("openrouter.ai"), true
	case "@sentry":
		return tlsRules("sentry.io"), true
	case "@statsig":
		return tlsRules("api.statsig.com", "statsig.anthropic.com", "statsig.com"), true
	}
	return nil, false
}

// PresetNames returns the names of all presets, sorted.
func PresetNames() []string {
	out := append(baseNames(), "@default")
	slices.Sort(out)
	return out
}

func baseNames() []string {
	return []string{"@anthropic", "@github", "@openai", "@openrouter", "@sentry", "@statsig"}
}

func presetList() string { return strings.Join(PresetNames(), " ") }

// tlsRules opens port 443 of the hosts. A packet filter cannot check whether programs speak TLS there.
func tlsRules(hosts ...string) []string {
	out := make([]string, len(hosts))
	for i, h := range hosts {
		out[i] = h + ":443"
	}
	return out
}
