package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// scheme names the protocols that a rule permits on its ports.
type scheme string

const (
	anyScheme scheme = ""      // TLS with the right name, HTTP on port 80, anything on ports but 443
	httpOnly  scheme = "http"  // plain HTTP
	tlsOnly   scheme = "https" // TLS with the right name
	rawTCP    scheme = "tcp"   // not inspected
)

// portRange is inclusive at both ends.
type portRange struct{ first, last uint16 }

var (
	webPorts = []portRange{{80, 80}, {443, 443}}
	allPorts = []portRange{{1, 65535}}
)

// rule is one line of a policy.
type rule struct {
	text    string
	every   bool         // "*"
	suffix  string       // ".example.com" for "*.example.com"
	name    string       // an exact name
	prefix  netip.Prefix // an address or range
	ports   []portRange
	scheme  scheme
	methods []string // upper case; empty: all
	path    *pathPattern
}

type listKind int

const (
	allowList listKind = iota
	denyList
	nameList
)

func parseRule(text string, kind listKind) (rule, error) {
	r := rule{text: text}
	rest := text
	if i := strings.IndexByte(rest, ' '); i >= 0 {
		var err error
		if r.methods, err = parseMethods(rest[:i]); err != nil {
			return rule{}, err
		}
		rest = strings.TrimLeft(rest[i:], " ")
	}
	if before, after, ok := strings.Cut(rest, "://"); ok {
		r.scheme, rest = scheme(before), after
		if !slices.Contains([]scheme{httpOnly, tlsOnly, rawTCP}, r.scheme) {
			return rule{}, fmt.Errorf("the scheme %s is not http, https or tcp", Quote(before))
		}
	}
	authority, path := splitPath(rest, r.scheme == httpOnly || r.scheme == tlsOnly)
	var err error
	if path != "" {
		if r.path, err = parsePathPattern(path); err != nil {
			return rule{}, err
		}
	}
	if r.scheme == rawTCP && (len(r.methods) > 0 || r.path != nil) {
		return rule{}, errors.New("tcp:// has no methods and paths")
	}
	if err := r.parseAuthority(authority, kind); err != nil {
		return rule{}, err
	}
	if kind == nameList && (r.isRequestRule() || r.scheme != anyScheme || r.prefix.IsValid() || strings.Contains(authority, ":")) {
		return rule{}, errors.New("only a name or *.name may stand here")
	}
	return r, nil
}

func parseMethods(s string) ([]string, error) {
	if s == "*" {
		return nil, nil
	}
	methods := strings.Split(s, ",")
	for _, m := range methods {
		if !httpguts.ValidHeaderFieldName(m) || strings.ToUpper(m) != m {
			return nil, fmt.Errorf("%s is not an HTTP method in upper case", Quote(m))
		}
	}
	return methods, nil
}

// splitPath distinguishes the slash of a path from that of an address range, which web URLs do
// not have.
func splitPath(s string, web bool) (authority, path string) {
	i := strings.IndexByte(s, '/')
	if i < 0 {
		return s, ""
	}
	authority, path = s[:i], s[i:]
	if _, err := netip.ParseAddr(strings.TrimPrefix(authority, "[")); web || err != nil {
		return authority, path
	}
	bits := strings.TrimLeft(path[1:], "0123456789")
	if len(bits) < len(path)-1 && (bits == "" || bits == "]" || bits[0] == ':' || strings.HasPrefix(bits, "]:")) {
		return s, ""
	}
	return authority, path
}

func (r *rule) parseAuthority(s string, kind listKind) error {
	host, ports := splitPorts(s)
	switch {
	case ports != "":
		p, err := parsePorts(ports)
		if err != nil {
			return err
		}
		r.ports = []portRange{p}
	case r.scheme == httpOnly:
		r.ports = []portRange{{80, 80}}
	case r.scheme == tlsOnly:
		r.ports = []portRange{{443, 443}}
	case r.scheme == rawTCP:
		return errors.New("tcp:// needs a port")
	case kind == denyList, kind == nameList:
		r.ports = allPorts
	default:
		r.ports = webPorts
	}
	return r.parseHost(host)
}

func (r *rule) parseHost(s string) error {
	inner := strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if strings.Contains(inner, "/") {
		return r.parsePrefix(inner)
	}
	if s == "*" {
		r.every = true
		return nil
	}
	name, wild := strings.CutPrefix(s, "*.")
	if strings.Contains(name, "*") {
		return errors.New("a * may only stand for all subdomains, at the start: *.example.com")
	}
	h, err := parseHost(name)
	switch {
	case err != nil:
		return err
	case wild && h.IsAddr():
		return errors.New("an address has no subdomains")
	case wild:
		r.suffix = "." + h.Name()
	case h.IsAddr():
		r.prefix = netip.PrefixFrom(h.Addr(), h.Addr().BitLen())
	default:
		r.name = h.Name()
	}
	return nil
}

func (r *rule) parsePrefix(s string) error {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return errors.New("not an address range")
	}
	if p.Addr().Is4In6() {
		return errors.New("write IPv4 ranges as IPv4")
	}
	if p != p.Masked() {
		return fmt.Errorf("the range begins at %s", p.Masked())
	}
	r.prefix = p
	return nil
}

// splitPorts splits "host:ports" where the colon is not a part of an IPv6 address.
func splitPorts(s string) (host, ports string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.HasSuffix(s, "]") {
		return s, ""
	}
	if strings.Count(s, ":") > 1 && !strings.HasPrefix(s, "[") {
		return s, ""
	}
	return s[:i], s[i+1:]
}

func parsePorts(s string) (portRange, error) {
	first, last, ranged := strings.Cut(s, "-")
	a, err := parsePort(first)
	if err != nil || !ranged {
		return portRange{a, a}, err
	}
	b, err := parsePort(last)
	if err == nil && b < a {
		err = fmt.Errorf("the ports %d-%d are upside down", a, b)
	}
	return portRange{a, b}, err
}

// checkWidth refuses what would let a sandbox reach an unrelated host by mistake. Shared
// suffixes below a top-level domain (co.uk) are not known here.
func (r *rule) checkWidth() error {
	const fix = "; say that any host is meant, or name it"
	switch {
	case r.every:
		return errors.New("it allows every host" + fix)
	case r.suffix != "" && strings.Count(r.suffix, ".") == 1:
		return errors.New("it allows a whole top-level domain" + fix)
	case r.prefix.IsValid() && !r.isNarrow():
		return errors.New("it allows a great part of all addresses" + fix)
	}
	return nil
}

// isNarrow reports whether an address rule is about a place rather than about the
// internet: only such a rule opens special addresses.
func (r *rule) isNarrow() bool {
	if r.prefix.Addr().Is4() {
		return r.prefix.Bits() >= 8
	}
	return r.prefix.Bits() >= 7
}

// isRequestRule reports whether the rule restricts single requests.
func (r *rule) isRequestRule() bool { return len(r.methods) > 0 || r.path != nil }

// isUnconditional reports whether the rule applies to every protocol and request on its ports.
func (r *rule) isUnconditional() bool {
	return !r.isRequestRule() && (r.scheme == anyScheme || r.scheme == rawTCP)
}

// isInspected reports whether the rule's requests may be inside TLS.
func (r *rule) isInspected() bool { return r.isRequestRule() && r.scheme != httpOnly }

func (r *rule) matchHost(h Host) bool {
	switch {
	case r.every:
		return true
	case r.prefix.IsValid():
		return h.IsAddr() && r.prefix.Contains(h.Addr())
	case h.IsAddr():
		return false
	case r.suffix != "":
		return strings.HasSuffix(h.Name(), r.suffix) && len(h.Name()) > len(r.suffix)
	}
	return r.name == h.Name()
}

func (r *rule) matchPort(port uint16) bool {
	return slices.ContainsFunc(r.ports, func(p portRange) bool { return p.first <= port && port <= p.last })
}

func (r *rule) matchMethod(method string) bool {
	return len(r.methods) == 0 || slices.Contains(r.methods, method)
}
