package hosts

import (
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Policy lists the hosts that a sandbox may reach, as people write it. The zero value permits none.
//
// A rule is "[METHODS] [SCHEME://]HOST[:PORT[-PORT]][/PATH]":
//
//	example.com                          ports 80 and 443; not its subdomains
//	*.example.com                        its subdomains, of any depth; not example.com itself
//	example.com:22                       that port, with any protocol
//	example.com:8000-8100                these ports
//	https://example.com                  port 443, TLS only; http:// is port 80, plain HTTP only
//	tcp://example.com:443                that port, without checking the protocol
//	10.1.2.3, 10.0.0.0/8, [fd00::1]:443  addresses: the only way to reach private ones
//	GET,HEAD https://example.com/pub/**  these requests only; * is within a segment, ** any segments
//
// In Deny a host without a scheme or port means all its ports.
type Policy struct {
	Allow []string // empty: nothing
	Deny  []string // beats Allow, also a more specific rule

	// Any permits rules that name no particular host: "*", "*.com", "0.0.0.0/0".
	// They still do not reach special addresses.
	Any bool
	// PrivateHosts are names ("corp.internal", "*.corp.internal"), allowed by Allow, that may
	// resolve to private addresses (RFC 1918, RFC 4193, RFC 6598); never to loopback,
	// link-local, metadata or the host's own addresses.
	PrivateHosts []string
	// Inspect are names whose TLS is inspected although no rule needs it. It needs Inspectable.
	Inspect []string
	// Inspectable permits rules about what is inside TLS: the proxy has a CA to inspect with.
	Inspectable bool
}

// Rules is a compiled [Policy]. It is immutable and safe for concurrent use.
type Rules struct {
	allow, deny      []rule
	private, inspect []rule
	inspectable      bool
}

// Compile checks the policy. An error has code Invalid, or Unsupported for a rule that
// needs Inspectable, and names the rule by list and index, on one line.
func Compile(p Policy) (*Rules, error) {
	r := &Rules{inspectable: p.Inspectable}
	for _, list := range []struct {
		name string
		in   []string
		out  *[]rule
		kind listKind
	}{
		{"allow", p.Allow, &r.allow, allowList},
		{"deny", p.Deny, &r.deny, denyList},
		{"private_hosts", p.PrivateHosts, &r.private, nameList},
		{"inspect", p.Inspect, &r.inspect, nameList},
	} {
		for i, text := range list.in {
			u, err := parseRule(text, list.kind)
			if err == nil && list.kind != denyList && list.name != "inspect" && !p.Any {
				err = u.checkWidth()
			}
			if err != nil {
				return nil, sandbox.Errorf(sandbox.Invalid, "network.%s[%d]: rule %s: %w", list.name, i, Quote(text), err)
			}
			if u.isInspected() && !p.Inspectable {
				return nil, sandbox.Errorf(sandbox.Unsupported,
					"network.%s[%d]: rule %s: methods and paths inside TLS cannot be seen without a CA", list.name, i, Quote(text)).
					WithHint("write http:// for plain HTTP, drop the method and path, or give a CA to inspect with")
			}
			*list.out = append(*list.out, u)
		}
	}
	if len(p.Inspect) > 0 && !p.Inspectable {
		return nil, sandbox.Errorf(sandbox.Unsupported, "network.inspect: TLS cannot be inspected without a CA")
	}
	return r, nil
}

// IsInspectable reports whether the rules were compiled for a proxy that can inspect TLS.
func (r *Rules) IsInspectable() bool { return r.inspectable }
