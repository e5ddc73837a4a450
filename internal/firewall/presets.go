package firewall

import (
	"slices"
	"strings"
)

// Preset returns the rules that a preset stands for; ok is false when there is none of
// that name. @default is all the others. @github also opens the ranges that GitHub
// publishes, on the ports 22 and 443. Package registries have no preset, because projects use different ones.
func Preset(name string) (rules []string, ok bool) {
	switch name {
	case "@default":
		for _, leaf := range leaves() {
			more, _ := Preset(leaf)
			rules = append(rules, more...)
		}
		return rules, true
	case "@anthropic":
		return tls("api.anthropic.com", "platform.claude.com", "claude.ai"), true
	case "@github":
		hosts := tls("github.com", "api.github.com", "uploads.github.com", "codeload.github.com",
			"raw.githubusercontent.com", "objects.githubusercontent.com")
		return append(hosts, "github.com:22"), true
	case "@openai":
		return tls("api.openai.com", "auth.openai.com", "chatgpt.com"), true
	case "@openrouter":
		return tls("openrouter.ai"), true
	case "@sentry":
		return tls("sentry.io"), true
	case "@statsig":
		return tls("api.statsig.com", "statsig.anthropic.com", "statsig.com"), true
	}
	return nil, false
}

// PresetNames returns the names of all presets, sorted.
func PresetNames() []string {
	out := append(leaves(), "@default")
	slices.Sort(out)
	return out
}

func leaves() []string {
	return []string{"@anthropic", "@github", "@openai", "@openrouter", "@sentry", "@statsig"}
}

func presetList() string { return strings.Join(PresetNames(), " ") }

// tls opens the port for TLS; a packet filter does not see whether that is spoken.
func tls(hosts ...string) []string {
	out := make([]string, len(hosts))
	for i, h := range hosts {
		out[i] = h + ":443"
	}
	return out
}
