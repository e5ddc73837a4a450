package firewall

import (
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// MetaURL is the address at which GitHub publishes its addresses (docs: "REST API endpoints for meta data").
const MetaURL = "https://api.github.com/meta"

// Rules define what a network namespace may reach. The zero value allows nothing.
type Rules struct {
	// Allow are presets ([PresetNames]) and rules of [hosts.Policy] that name a host, an
	// address or a range, and ports (80 and 443 when there are none). A rule that only a
	// proxy can hold is Unsupported. Names may not lead to private, link-local or the
	// host's own addresses; only a rule for the address opens those.
	Allow []string

	// MetaURL is asked for GitHub's ranges when @github is allowed; empty: [MetaURL].
	MetaURL string
	// RequireRanges makes an unreachable MetaURL an error; otherwise it is a warning.
	RequireRanges bool

	// Reach are tried after set-up, and must answer; Refuse must not. Both are TCP.
	// Without them a set of reserved addresses is tried, and the filter has to have
	// counted each.
	Reach, Refuse []netip.AddrPort

	Resolver *net.Resolver // asked for names; nil: the host's
	Client   *http.Client  // fetches MetaURL; nil: one without a proxy, that follows no redirect
}

// compiled holds the names and addresses of the rules, before any name is resolved.
type compiled struct {
	rules     *hosts.Rules
	endpoints []hosts.Endpoint
	github    bool
}

func (r Rules) compile() (compiled, error) {
	var c compiled
	var allow []string
	for i, text := range r.Allow {
		if text == "" || text[0] != '@' {
			allow = append(allow, text)
			continue
		}
		hosts, ok := Preset(text)
		if !ok {
			return c, sandbox.Errorf(sandbox.Invalid, "firewall[%d]: unknown preset: %.40q", i, text).
				WithHint("the presets are %s", presetList())
		}
		c.github = c.github || text == "@github" || text == "@default"
		allow = append(allow, hosts...)
	}
	slices.Sort(allow)
	var err error
	if c.rules, err = hosts.Compile(hosts.Policy{Allow: slices.Compact(allow)}); err != nil {
		return c, err
	}
	c.endpoints, err = c.rules.Endpoints()
	return c, err
}
