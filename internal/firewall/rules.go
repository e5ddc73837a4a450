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
	// Allow are presets ([PresetNames]) and rules of [hosts.Policy] that name a host, an address or a range, and ports
	// (80 and 443 when there are none). A rule that only a proxy can enforce is Unsupported. A name must not resolve
	// to private, link-local or the host's own addresses; only a rule for the address opens those.
	Allow []string

	// MetaURL is the address that publishes GitHub's ranges, for @github; empty: [MetaURL].
	MetaURL string
	// RequireRanges makes an unreachable MetaURL an error; otherwise it is a warning.
	RequireRanges bool

	// Apply tests both lists with TCP: the addresses of Reach must answer, those of Refuse must not. It always tests a
	// set of reserved addresses as well, and the filter must have counted each attempt.
	Reach, Refuse []netip.AddrPort

	Resolver *net.Resolver // resolves the names; nil: the host's resolver
	Client   *http.Client  // fetches MetaURL; nil: a client without proxy that follows no redirect
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
