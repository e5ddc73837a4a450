package curl

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// address is a URL as curl reads it, which is more lenient than RFC 3986 and has been for long.
type address struct {
	scheme         string // lower case
	user, password string // decoded
	hasUser        bool
	host           string // without the brackets of IPv6; ASCII
	port           uint16
	path           string // begins with a slash
	query          string // with its question mark; "" for none
	fragment       string // with its sharp; "" for none
	shownHost      string // as it was written
}

var defaultPorts = map[string]uint16{"http": 80, "https": 443}

// maxURL is the most bytes of a URL.
const maxURL = 1 << 20

// parseAddress reads a URL. guess is the scheme of one that has none; "" has it guessed.
func parseAddress(text, guess string, asIs bool) (*address, *fault) {
	if text == "" || len(text) > maxURL || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return nil, errBadURL
	}
	a := &address{}
	rest := text
	if i := schemeEnd(text); i > 0 {
		a.scheme, rest = strings.ToLower(text[:i]), text[i+1:]
	}
	switch a.scheme {
	case "":
		a.scheme = guess
		if a.scheme == "" {
			a.scheme = "http"
			for _, p := range []string{"ftp", "dict", "ldap", "imap", "smtp", "pop3"} {
				if len(rest) > len(p) && strings.EqualFold(rest[:len(p)+1], p+".") {
					a.scheme = p
				}
			}
		}
	case "file":
		return a.file(rest)
	default:
		slashes := len(rest) - len(strings.TrimLeft(rest, "/"))
		if slashes < 1 || slashes > 3 {
			return nil, errBadURL
		}
		rest = rest[slashes:]
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if f := a.authority(rest[:end]); f != nil {
		return nil, f
	}
	a.tail(rest[end:], asIs)
	return a, nil
}

// schemeEnd returns the index of the scheme's colon, 0 without a scheme.
func schemeEnd(s string) int {
	for i := range len(s) {
		c := s[i]
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		switch {
		case letter, i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case c == ':' && i > 0 && i+1 < len(s) && s[i+1] == '/':
			return i
		default:
			return 0
		}
	}
	return 0
}

func (a *address) file(rest string) (*address, *fault) {
	if path, ok := strings.CutPrefix(rest, "//"); ok && !strings.HasPrefix(path, "/") {
		host, after, found := strings.Cut(path, "/")
		if !found || host != "localhost" && host != "127.0.0.1" {
			return nil, errBadURL
		}
		rest = "/" + after
	} else if ok {
		rest = path
	}
	if !strings.HasPrefix(rest, "/") {
		return nil, errBadURL
	}
	a.tail(rest, true)
	return a, nil
}

// authority reads "user:password@host:port".
func (a *address) authority(s string) *fault {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		user, password, _ := strings.Cut(s[:i], ":")
		a.user, a.password, a.hasUser = unescape(user), unescape(password), true
		s = s[i+1:]
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return errBadURL
		}
		addr, err := netip.ParseAddr(strings.ReplaceAll(s[1:end], "%25", "%"))
		if err != nil || !addr.Is6() {
			return errBadURL
		}
		a.host, a.shownHost, port = addr.String(), s[:end+1], s[end+1:]
		if port != "" && port[0] != ':' {
			return errBadURL
		}
		port = strings.TrimPrefix(port, ":")
	} else {
		if i := strings.LastIndexByte(s, ':'); i >= 0 {
			host, port = s[:i], s[i+1:]
		}
		a.shownHost = host
		var f *fault
		if a.host, f = hostName(host); f != nil {
			return f
		}
	}
	a.port = defaultPorts[a.scheme]
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return errBadURL
	}
	a.port = uint16(n)
	return nil
}

// hostName returns a name as it is asked for.
func hostName(s string) (string, *fault) {
	if strings.Contains(s, "%") {
		s = unescape(s)
	}
	if s == "" || strings.ContainsAny(s, " \r\n\t/:#?!@{}[]\\$'\"^`*<>=;,&()+%|") {
		return "", errBadURL
	}
	for _, c := range []byte(s) {
		if c < 0x80 {
			continue
		}
		ascii, err := idna.Lookup.ToASCII(s)
		if err != nil {
			return "", failed(codeURL, "Failed to convert %s to ACE", s)
		}
		return ascii, nil
	}
	return numericHost(s), nil
}

// numericHost writes an IPv4 address out that may have fewer parts, octal or hexadecimal numbers.
func numericHost(s string) string {
	parts := strings.SplitN(s, ".", 5)
	if len(parts) > 4 {
		return s
	}
	var n [4]uint64
	for i, p := range parts {
		if p == "" || p[0] < '0' || p[0] > '9' || strings.ContainsAny(p, "_oOb") {
			return s
		}
		v, err := strconv.ParseUint(p, 0, 32)
		if err != nil || i < len(parts)-1 && v > 255 || i == len(parts)-1 && v >= 1<<(8*(5-len(parts))) {
			return s
		}
		n[i] = v
	}
	ip := n[len(parts)-1]
	for i := range len(parts) - 1 {
		ip |= n[i] << (24 - 8*i)
	}
	return fmt.Sprintf("%d.%d.%d.%d", ip>>24&255, ip>>16&255, ip>>8&255, ip&255)
}

// tail reads path, query and fragment.
func (a *address) tail(s string, asIs bool) {
	s, a.fragment = cutAt(s, '#')
	s, a.query = cutAt(s, '?')
	a.path = s
	if !asIs {
		a.path = withoutDots(s)
	}
	if a.path == "" {
		a.path = "/"
	}
}

// cutAt returns the text before the byte, and the rest with it.
func cutAt(s string, c byte) (before, rest string) {
	if i := strings.IndexByte(s, c); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// withoutDots resolves "." and "..", RFC 3986 §5.2.4.
func withoutDots(path string) string {
	if !strings.Contains(path, "/.") {
		return path
	}
	out := make([]byte, 0, len(path)+2) // Names with a slash before each.
	for rest, more := strings.TrimPrefix(path, "/"), true; more; {
		var p string
		p, rest, more = strings.Cut(rest, "/")
		switch strings.ToLower(strings.ReplaceAll(strings.ToLower(p), "%2e", ".")) {
		case ".":
			if !more {
				out = append(out, '/') // bounded: by the path
			}
		case "..":
			out = out[:max(bytes.LastIndexByte(out, '/'), 0)]
			if !more {
				out = append(out, '/') // bounded: by the path
			}
		default:
			out = append(append(out, '/'), p...) // bounded: by the path
		}
	}
	return cmp.Or(string(out), "/")
}

// authorityText returns the value of a Host field.
func (a *address) authorityText() string {
	host := a.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if a.port == defaultPorts[a.scheme] {
		return host
	}
	return host + ":" + strconv.Itoa(int(a.port))
}

// text is the URL without user and fragment.
func (a *address) text() string { return a.scheme + "://" + a.authorityText() + a.path + a.query }

// effective is the URL as %{url_effective} shows it.
func (a *address) effective() string {
	if a.scheme == "file" {
		return "file://" + a.path + a.query + a.fragment
	}
	return a.text() + a.fragment
}

// origin returns the scheme, host and port of a connection.
func (a *address) origin() string { return fmt.Sprintf("%s://%s:%d", a.scheme, a.host, a.port) }

// resolve returns where a Location leads.
func (a *address) resolve(to string, asIs bool) (*address, *fault) {
	to = escapeLocation(to)
	if schemeEnd(to) > 0 {
		return parseAddress(to, "", asIs)
	}
	base := a.scheme + "://" + a.authorityText()
	if a.hasUser && !strings.HasPrefix(to, "//") {
		base = a.scheme + "://" + escape(a.user) + ":" + escape(a.password) + "@" + a.authorityText()
	}
	switch {
	case strings.HasPrefix(to, "//"):
		return parseAddress(a.scheme+":"+to, "", asIs)
	case strings.HasPrefix(to, "/"):
		return parseAddress(base+to, "", asIs)
	case strings.HasPrefix(to, "?"):
		return parseAddress(base+a.path+to, "", asIs)
	case strings.HasPrefix(to, "#"):
		return parseAddress(base+a.path+a.query+to, "", asIs)
	}
	dir := a.path[:strings.LastIndexByte(a.path, '/')+1]
	return parseAddress(base+dir+to, "", asIs)
}

// escapeLocation makes a URL of a Location field: blanks and bytes above 127 are escaped.
func escapeLocation(s string) string {
	var b strings.Builder
	query := false
	for i := range len(s) {
		c := s[i]
		query = query || c == '?'
		switch {
		case c == ' ' && query:
			b.WriteByte('+')
		case c <= ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "%%%02x", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape decodes %XX and leaves other text.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escape encodes all but letters, digits and "-._~".
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
