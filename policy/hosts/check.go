package hosts

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// Verdict is an answer about one host, request or address.
type Verdict struct {
	Allowed bool
	Rule    string // the rule that decided, as written; empty when none matched
	Reason  string // one clause, for people and models
	Allow   string // what would allow it: a value of the --allow flag; empty when no flag can
}

// Check decides whether a connection to host and port may be opened at all. Rules
// with methods or paths count as if one of their requests were made.
func (r *Rules) Check(host Host, port uint16) Verdict {
	if host == (Host{}) {
		return Verdict{Reason: "no host was named"}
	}
	for i := range r.deny {
		if u := &r.deny[i]; u.isUnconditional() && u.deniesHost(host) && u.matchPort(port) {
			return u.deniedVerdict()
		}
	}
	for i := range r.allow {
		if u := &r.allow[i]; u.matchHost(host) && u.matchPort(port) {
			return u.allowedVerdict()
		}
	}
	return r.unlistedVerdict(host, port)
}

// Request is one HTTP request to decide about.
type Request struct {
	Host   Host
	Port   uint16
	TLS    bool
	Method string
	Path   string // raw, as sent, without the query
}

// CheckRequest decides whether one HTTP request may be made.
func (r *Rules) CheckRequest(q Request) Verdict {
	v, _ := r.DecideRequest(q)
	return v
}

// DecideRequest also reports whether methods and paths decided; headers that change
// them on the server are then not allowed.
func (r *Rules) DecideRequest(q Request) (v Verdict, requestRules bool) {
	var forms []string
	var formsErr error
	parsed := false
	path := func() ([]string, error) {
		if !parsed {
			forms, formsErr = pathForms(q.Path)
			parsed = true
		}
		return forms, formsErr
	}
	for i := range r.deny {
		u := &r.deny[i]
		if !u.deniesHost(q.Host) || !u.matchPort(q.Port) || !u.hasScheme(q.TLS) {
			continue
		}
		requestRules = requestRules || u.isRequestRule()
		if !u.matchMethod(strings.ToUpper(q.Method)) {
			continue
		}
		if u.path == nil {
			return u.deniedVerdict(), requestRules
		}
		f, err := path()
		if err != nil {
			return Verdict{Rule: u.text, Reason: err.Error()}, true
		}
		if slices.ContainsFunc(f, u.path.match) {
			return u.deniedVerdict(), true
		}
	}
	v = r.unlistedVerdict(q.Host, q.Port)
	for i := range r.allow {
		u := &r.allow[i]
		if !u.matchHost(q.Host) || !u.matchPort(q.Port) || !u.hasScheme(q.TLS) {
			continue
		}
		if !u.isRequestRule() {
			return u.allowedVerdict(), requestRules
		}
		v = Verdict{Rule: u.text, Reason: fmt.Sprintf("no rule for %s allows %s %s", q.Host, Quote(q.Method), Quote(q.Path)), Allow: r.suggestRule(q)}
	}
	for i := range r.allow {
		u := &r.allow[i]
		if !u.matchHost(q.Host) || !u.matchPort(q.Port) || !u.hasScheme(q.TLS) || !u.matchMethod(q.Method) {
			continue
		}
		if u.path == nil {
			return u.allowedVerdict(), true
		}
		f, err := path()
		if err != nil {
			return Verdict{Rule: u.text, Reason: err.Error()}, true
		}
		if u.path.matchAll(f) {
			return u.allowedVerdict(), true
		}
	}
	return v, true
}

func (p *pathPattern) matchAll(forms []string) bool {
	for _, f := range forms {
		if !p.match(f) {
			return false
		}
	}
	return true
}

func (r *Rules) suggestRule(q Request) string {
	if checkUnambiguous(q.Path+"/") != nil || strings.ContainsAny(q.Path, "*?# %'\"`$") || !IsASCII(q.Path) || len(q.Path) > 120 {
		return ""
	}
	s, port := "http", uint16(80)
	if q.TLS {
		s, port = "https", 443
	}
	authority := q.Host.Join(q.Port)
	if q.Port == port {
		authority = strings.TrimSuffix(authority, fmt.Sprintf(":%d", port))
	}
	return q.Method + " " + s + "://" + authority + q.Path
}

// CheckName decides whether a name may be looked up: some port of it is allowed. It returns that port, or 443 for a name that is not.
func (r *Rules) CheckName(host Host) (v Verdict, port uint16) {
	for i := range r.allow {
		u := &r.allow[i]
		if !u.matchHost(host) {
			continue
		}
		for _, ports := range u.ports {
			if v, port := r.firstAllowed(host, ports); v.Allowed {
				return v, port
			}
		}
	}
	return r.Check(host, 443), 443
}

// firstAllowed returns the lowest allowed port of a range: its first, or one that follows the ports of a rule that denies.
func (r *Rules) firstAllowed(host Host, within portRange) (Verdict, uint16) {
	candidates := []uint16{within.first}
	for i := range r.deny {
		for _, denied := range r.deny[i].ports {
			if denied.last < within.last && denied.last >= within.first {
				candidates = append(candidates, denied.last+1)
			}
		}
	}
	slices.Sort(candidates)
	for _, port := range candidates {
		if v := r.Check(host, port); v.Allowed {
			return v, port
		}
	}
	return Verdict{}, 0
}

// CheckAddr decides whether an address that host resolved to, or is, may be connected
// to. It does not ask whether the host itself is allowed. own reports the host's own
// addresses; nil: none are known.
func (r *Rules) CheckAddr(host Host, addr netip.Addr, port uint16, own func(netip.Addr) bool) Verdict {
	addr = addr.Unmap()
	as := OfAddr(addr)
	for i := range r.deny {
		// The protocol is not known yet, and the name is not resolved again.
		if u := &r.deny[i]; u.prefix.IsValid() && !u.isRequestRule() && u.deniesHost(as) && u.matchPort(port) {
			return u.deniedVerdict()
		}
	}
	c := classify(addr)
	if c == public && own != nil && own(addr) {
		c = ownHost
	}
	if c == public {
		return Verdict{Allowed: true, Reason: "a public address"}
	}
	for i := range r.allow {
		u := &r.allow[i]
		if !u.prefix.IsValid() || !u.isNarrow() || !u.matchHost(as) || !u.matchPort(port) {
			continue
		}
		if c != metadata || u.prefix.IsSingleIP() {
			return u.allowedVerdict()
		}
	}
	if c == private && !host.IsAddr() && (own == nil || !own(addr)) {
		for i := range r.private {
			if r.private[i].matchHost(host) {
				return r.private[i].allowedVerdict()
			}
		}
	}
	kind := "a " + string(c) + " address"
	if c == ownHost {
		kind = "one of this host's own addresses"
	}
	return Verdict{Reason: fmt.Sprintf("%s is %s, which only a rule for the address allows", addr, kind), Allow: as.allowRule(port)}
}

// deniesHost also looks at the IPv4 addresses that an IPv6 address carries.
func (r *rule) deniesHost(h Host) bool {
	if r.matchHost(h) {
		return true
	}
	if h.IsAddr() && r.prefix.IsValid() {
		return slices.ContainsFunc(EmbeddedIPv4(h.Addr()), r.prefix.Contains)
	}
	return false
}

func (r *rule) hasScheme(tls bool) bool {
	switch r.scheme {
	case httpOnly:
		return !tls
	case tlsOnly:
		return tls
	default:
		return true
	}
}

func (r *rule) allowedVerdict() Verdict {
	return Verdict{Allowed: true, Rule: r.text, Reason: "a rule allows it"}
}

func (r *rule) deniedVerdict() Verdict {
	return Verdict{Rule: r.text, Reason: "the rule " + Quote(r.text) + " denies it"}
}

func (r *Rules) unlistedVerdict(host Host, port uint16) Verdict {
	v := Verdict{Reason: fmt.Sprintf("no rule allows %s on port %d", host, port), Allow: host.allowRule(port)}
	if len(r.allow) == 0 {
		v.Reason = "the allow-list is empty"
	}
	return v
}

// allowRule is the shortest rule that allows host and port.
func (h Host) allowRule(port uint16) string {
	if port != 80 && port != 443 {
		return h.Join(port)
	}
	return h.String()
}

// Protocols are the protocols permitted on a tunnel.
type Protocols struct {
	Raw   bool // forwarded without reading it
	TLS   bool // TLS with the right server name
	HTTP  bool // plain HTTP, request by request
	Other bool // anything else
}

// TunnelProtocols returns the protocols that are permitted to host and port over CONNECT or SOCKS.
func (r *Rules) TunnelProtocols(host Host, port uint16) Protocols {
	var s Protocols
	for i := range r.allow {
		u := &r.allow[i]
		if !u.matchHost(host) || !u.matchPort(port) {
			continue
		}
		switch u.scheme {
		case rawTCP:
			s.Raw = true
		case tlsOnly:
			s.TLS = true
		case httpOnly:
			s.HTTP = true
		default:
			s.TLS = true
			s.HTTP = s.HTTP || port == 80 || u.isRequestRule()
			s.Other = s.Other || (port != 443 && port != 80 && !u.isRequestRule())
		}
	}
	// A rule about the protocol cannot be enforced on bytes that the proxy does not read.
	for i := range r.deny {
		u := &r.deny[i]
		if !u.deniesHost(host) || !u.matchPort(port) {
			continue
		}
		switch {
		case u.isRequestRule():
			s.Raw, s.Other, s.HTTP = false, false, s.HTTP || port != 443
		case u.scheme == tlsOnly:
			s.Raw, s.TLS = false, false
		case u.scheme == httpOnly:
			s.Raw, s.Other, s.HTTP = false, false, false
		}
	}
	return s
}

// Inspects reports whether TLS to host and port is to be inspected for the rules' sake.
func (r *Rules) Inspects(host Host, port uint16) bool {
	if !r.inspectable {
		return false
	}
	for _, list := range [][]rule{r.allow, r.deny} {
		for i := range list {
			if u := &list[i]; u.isInspected() && u.deniesHost(host) && u.matchPort(port) {
				return true
			}
		}
	}
	for i := range r.inspect {
		if r.inspect[i].matchHost(host) {
			return true
		}
	}
	return false
}
