package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// Host is a host in its one canonical form: a name in lower-case ASCII without a
// trailing dot, or an IP address. Hosts are equal, with ==, exactly when they are
// the same host. The zero value is invalid.
type Host struct {
	name string
	addr netip.Addr
}

const (
	maxName  = 253 // RFC 1035 §2.3.4, in its text form
	maxLabel = 63
)

// names maps as browsers and curl do (UTS #46, non-transitional), so that rules match the name that the resolver looks up.
var names = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.StrictDomainName(false))

// ParseHost reads a host as in a request, without a port. IPv6 may be in
// brackets. Every form of an IPv4 address that inet_aton(3) and browsers accept is an
// address, never a name: 127.1, 0177.0.0.1, 0x7f000001, 2130706433. The error is plain
// text that quotes s.
func ParseHost(s string) (Host, error) {
	h, err := parseHost(s)
	if err != nil {
		return Host{}, fmt.Errorf("host %s: %w", Quote(s), err)
	}
	return h, nil
}

func parseHost(s string) (Host, error) {
	if strings.HasPrefix(s, "[") {
		inner, ok := strings.CutSuffix(s[1:], "]")
		if !ok || !strings.Contains(inner, ":") {
			return Host{}, errors.New("brackets are for IPv6 addresses")
		}
		return parseIPv6(inner)
	}
	if strings.Count(s, ":") > 1 {
		return parseIPv6(s)
	}
	name, err := canonicalName(s)
	if err != nil {
		return Host{}, err
	}
	if hasNumericEnd(name) {
		addr, err := parseIPv4(name)
		return Host{addr: addr}, err
	}
	return Host{name: name}, nil
}

// parseIPv6 turns IPv4-mapped addresses into IPv4: connect(2) treats them alike.
func parseIPv6(s string) (Host, error) {
	if strings.Contains(s, "%") {
		return Host{}, errors.New("an IPv6 zone is not allowed")
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return Host{}, errors.New("not an IPv6 address")
	}
	return Host{addr: addr.Unmap()}, nil
}

// canonicalName returns s in lower-case ASCII, or an error when it has anything that
// one parser might read differently from another.
func canonicalName(s string) (string, error) {
	if s == "" {
		return "", errors.New("it is empty")
	}
	if len(s) > 4*maxName {
		return "", errors.New("it is too long")
	}
	if err := checkHostBytes(s); err != nil {
		return "", err
	}
	// The mapping would take every broken sequence for the same character.
	if !utf8.ValidString(s) {
		return "", errors.New("it is not UTF-8")
	}
	name := strings.ToLower(s)
	if !IsASCII(s) || strings.Contains(name, "xn--") {
		mapped, err := names.ToASCII(s)
		if err != nil {
			return "", errors.New("not a valid international name")
		}
		name = strings.ToLower(mapped)
		// Mapping may make new ASCII, such as full-width digits and dots.
		if err := checkHostBytes(name); err != nil || !IsASCII(name) {
			return "", errors.New("not a valid international name")
		}
	}
	name = strings.TrimSuffix(name, ".")
	if len(name) > maxName {
		return "", fmt.Errorf("it is longer than %d bytes", maxName)
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" {
			return "", errors.New("it has an empty label")
		}
		if len(label) > maxLabel {
			return "", fmt.Errorf("it has a label longer than %d bytes", maxLabel)
		}
		if label[0] == '-' || label[len(label)-1] == '-' {
			return "", errors.New("a label begins or ends with a hyphen")
		}
	}
	return name, nil
}

// checkHostBytes refuses the ASCII bytes that no host name has. With a NUL byte, a matcher would see the whole name and a proxy
// written in C only the part before it.
func checkHostBytes(s string) error {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 0x80, 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '-', c == '_', c == '.':
		case c == 0:
			return errors.New("it has a NUL byte")
		case c < 0x20 || c == 0x7f:
			return errors.New("it has a control character")
		case c == ' ':
			return errors.New("it has a space")
		case c == '@':
			return errors.New("it has user information")
		default:
			return fmt.Errorf("it has the character %q", c)
		}
	}
	return nil
}

// IsASCII reports whether s has only ASCII bytes.
func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// hasNumericEnd is the WHATWG test for "this is an IPv4 address or nothing".
func hasNumericEnd(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return true
	}
	hex, ok := strings.CutPrefix(last, "0x")
	return ok && strings.Trim(hex, "0123456789abcdef") == ""
}

// parseIPv4 reads one to four parts, each decimal, octal (0…) or hexadecimal (0x…);
// the last one fills the remaining bytes, as inet_aton(3) has it.
func parseIPv4(s string) (netip.Addr, error) {
	bad := errors.New("not an IPv4 address")
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, bad
	}
	var v uint64
	for i, p := range parts {
		// ParseUint also takes _ and 0o and 0b, which inet_aton does not.
		base := 10
		switch {
		case strings.HasPrefix(p, "0x"):
			base, p = 16, p[2:]
		case len(p) > 1 && p[0] == '0':
			base, p = 8, p[1:]
		}
		n, err := strconv.ParseUint(p, base, 32)
		if err != nil {
			return netip.Addr{}, bad
		}
		if i == len(parts)-1 {
			rest := uint(8 * (5 - len(parts)))
			if n >= 1<<rest {
				return netip.Addr{}, bad
			}
			v = v<<rest | n
			break
		}
		if n > 255 {
			return netip.Addr{}, bad
		}
		v = v<<8 | n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), nil
}

// ParseHostPort reads "host:port" or, when port is not 0, a host alone, which then
// has that port. IPv6 with a port needs brackets.
func ParseHostPort(s string, port uint16) (Host, uint16, error) {
	host, digits, ok := s, "", false
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") && (strings.Count(s, ":") == 1 || s[0] == '[') {
		host, digits, ok = s[:i], s[i+1:], true
	}
	h, err := ParseHost(host)
	if err != nil {
		return Host{}, 0, err
	}
	if !ok {
		if port == 0 {
			return Host{}, 0, fmt.Errorf("host %s: the port is missing", Quote(s))
		}
		return h, port, nil
	}
	n, err := parsePort(digits)
	if err != nil {
		return Host{}, 0, fmt.Errorf("host %s: %w", Quote(s), err)
	}
	return h, n, nil
}

func parsePort(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil || n == 0 || len(s) > 5 || s[0] == '+' {
		return 0, fmt.Errorf("%s is not a port", Quote(s))
	}
	return uint16(n), nil
}

// OfAddr returns the host that is an address. An IPv4-mapped IPv6 address is its IPv4 address.
func OfAddr(addr netip.Addr) Host { return Host{addr: addr.Unmap()} }

// IsAddr reports whether h is an IP address.
func (h Host) IsAddr() bool { return h.addr.IsValid() }

// Addr returns the address, or the zero Addr when h is a name.
func (h Host) Addr() netip.Addr { return h.addr }

// Name returns the name, or "" when h is an address.
func (h Host) Name() string { return h.name }

// String returns the name or the address, IPv6 without brackets.
func (h Host) String() string {
	if h.IsAddr() {
		return h.addr.String()
	}
	return h.name
}

// Join writes host and port as in a URL and in an --allow flag.
func (h Host) Join(port uint16) string {
	if h.addr.Is6() {
		return "[" + h.String() + "]:" + strconv.Itoa(int(port))
	}
	return h.String() + ":" + strconv.Itoa(int(port))
}

// Quote returns hostile text on one line, in ASCII, and shortened.
func Quote(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return strconv.QuoteToASCII(s)
}
