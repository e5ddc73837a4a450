package repo

import (
	"cmp"
	"net"
	"net/url"
	"slices"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Defaults returns the layer below those of the user, with the hosts that the tools of the image need. registry is the
// URL of the npm registry that the image's npm uses, or "".
func Defaults(registry string) sandbox.Layer {
	allow := []string{
		// Models and their accounts.
		"api.anthropic.com", "claude.ai", "console.anthropic.com", "platform.claude.com",
		"api.openai.com", "auth.openai.com", "chatgpt.com", "openrouter.ai",
		// Source code and packages.
		"github.com", "api.github.com", "codeload.github.com", "objects.githubusercontent.com", "raw.githubusercontent.com",
		// Telemetry of the tools.
		"sentry.io", "*.sentry.io", "statsig.com", "*.statsig.com", "statsig.anthropic.com",
	}
	if u, err := url.Parse(registry); err == nil && u.Hostname() != "" {
		host := u.Hostname()
		if p := u.Port(); p != "" {
			host = net.JoinHostPort(host, p)
		}
		allow = append(allow, host)
	}
	return sandbox.Layer{
		Name: "image", Trusted: true,
		Policy: sandbox.Policy{
			Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: allow},
			Env: sandbox.Env{Set: map[string]string{
				"HOME": "/home/node", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "EDITOR": "nano", "VISUAL": "nano",
				"CLAUDE_CONFIG_DIR": ClaudeHome, "CODEX_HOME": CodexHome, "HISTFILE": History + "/.bash_history",
				"NPM_CONFIG_PREFIX": "/usr/local/share/npm-global", "DISABLE_AUTOUPDATER": "1",
				"PATH":                "/usr/local/share/npm-global/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
				"NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt",
			}},
		},
	}
}

// Filter returns the rules of a repository's packet filter. With @default they include the npm registry that the image's npm
// uses, whose URL is registry, or "".
func Filter(rules []string, registry string) []string {
	u, err := url.Parse(registry)
	if err != nil || u.Hostname() == "" || !slices.Contains(rules, "@default") {
		return rules
	}
	port := cmp.Or(u.Port(), "443")
	if u.Scheme == "http" {
		port = cmp.Or(u.Port(), "80")
	}
	return append(slices.Clip(rules), net.JoinHostPort(u.Hostname(), port))
}
