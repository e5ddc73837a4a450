package hosts

import (
	"net/netip"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Endpoint is the destination that one allow rule opens, for isolation that knows addresses and ports but
// no protocols above TCP.
type Endpoint struct {
	Rule        string       // as written
	Host        Host         // a name or one address; the zero Host for a range
	Range       netip.Prefix // a range of addresses; the zero Prefix for a name
	First, Last uint16       // ports, inclusive at both ends
}

// Endpoints lists what the allow rules open, in their order, one for each range of
// ports. A rule that such isolation cannot enforce (subdomains, methods, paths, a scheme that
// is looked at) is Unsupported, and so is any deny rule.
func (r *Rules) Endpoints() ([]Endpoint, error) {
	const hint = "name hosts, addresses and ports alone, or use the proxy (--allow), which reads what is spoken"
	for i := range r.deny {
		return nil, sandbox.Errorf(sandbox.Unsupported, "rule %s: a deny rule needs the proxy", Quote(r.deny[i].text)).WithHint(hint)
	}
	var out []Endpoint
	for i := range r.allow {
		u := &r.allow[i]
		switch {
		case u.every, u.suffix != "":
			return nil, sandbox.Errorf(sandbox.Unsupported, "rule %s: the addresses of all subdomains cannot be known", Quote(u.text)).WithHint(hint)
		case u.isRequestRule(), u.scheme == httpOnly, u.scheme == tlsOnly:
			return nil, sandbox.Errorf(sandbox.Unsupported, "rule %s: only the proxy can check the protocol", Quote(u.text)).WithHint(hint)
		}
		e := Endpoint{Rule: u.text, Host: Host{name: u.name}, Range: u.prefix}
		if u.prefix.IsValid() && u.prefix.IsSingleIP() {
			e.Host = Host{addr: u.prefix.Addr()}
		}
		for _, p := range u.ports {
			e.First, e.Last = p.first, p.last
			out = append(out, e)
		}
	}
	return out, nil
}
