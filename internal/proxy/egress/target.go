package egress

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// origin is the server of a request.
type origin struct {
	host hosts.Host
	port uint16
	tls  bool
}

func (o origin) scheme() string {
	if o.tls {
		return "https"
	}
	return "http"
}

// authority is the canonical Host field.
func (o origin) authority() string {
	s := o.host.Join(o.port)
	if o.tls && o.port == 443 {
		return strings.TrimSuffix(s, ":443")
	}
	if !o.tls && o.port == 80 {
		return strings.TrimSuffix(s, ":80")
	}
	return s
}

// target is the destination of a request, with its method and path.
type target struct {
	origin

	path     string // raw path with all necessary escapes
	query    string // raw
	hasQuery bool
}

// resolve parses the request target. within is the server at the other end of the tunnel
// through which the request came; nil: the request is for the proxy.
func (h *head) resolve(within *origin) (target, error) {
	var t target
	rest := h.target
	switch {
	case within != nil:
		t.origin = *within
		if !strings.HasPrefix(rest, "/") {
			return t, newMalformed(0, "the request target is not a path")
		}
	case len(rest) >= 7 && strings.EqualFold(rest[:7], "http://"):
		authority := rest[7:]
		if i := strings.IndexAny(authority, "/?#"); i >= 0 {
			authority, rest = authority[:i], authority[i:]
		} else {
			rest = ""
		}
		host, port, err := hosts.ParseHostPort(authority, 80)
		if err != nil {
			return t, newMalformed(0, "%v", err)
		}
		t.origin = origin{host: host, port: port}
	case len(rest) >= 8 && strings.EqualFold(rest[:8], "https://"):
		return t, newMalformed(0, "https is reached with CONNECT, not with a plain request")
	default:
		return t, newMalformed(0, "this is a proxy: the request needs a whole http:// address, or CONNECT")
	}
	if err := h.sameHost(t.origin); err != nil {
		return t, err
	}
	if strings.Contains(rest, "#") {
		return t, newMalformed(0, "the request target has a fragment")
	}
	t.path, t.query, t.hasQuery = strings.Cut(rest, "?")
	if t.path == "" {
		t.path = "/"
	}
	t.path = escapePath(t.path)
	if _, err := url.PathUnescape(t.path); err != nil {
		return t, newMalformed(0, "the path has a broken escape")
	}
	return t, nil
}

// sameHost requires that the Host field names the server to which the rules were applied:
// servers and caches disagree on which of the two counts.
func (h *head) sameHost(o origin) error {
	if h.host == "" && h.http10 {
		return nil
	}
	port := uint16(80)
	if o.tls {
		port = 443
	}
	if h.method == http.MethodConnect {
		port = o.port
	}
	host, got, err := hosts.ParseHostPort(h.host, port)
	if err != nil {
		return newMalformed(0, "the Host field: %v", err)
	}
	if host != o.host || got != o.port {
		d := deny(KindMalformed, o.host, o.port, hosts.Verdict{
			Reason: "the Host field " + hosts.Quote(h.host) + " is not the host that was asked for",
		})
		d.status = http.StatusBadRequest
		if o.tls {
			d.Kind, d.status = KindSNI, http.StatusMisdirectedRequest
		}
		return d
	}
	return nil
}

// escapePath escapes what url.URL would otherwise escape by decoding and encoding the
// whole path, which would turn an encoded slash into a slash.
func escapePath(raw string) string {
	const fine = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&'()*+,;=:@/%[]"
	var b strings.Builder
	for i := range len(raw) {
		if strings.IndexByte(fine, raw[i]) >= 0 {
			b.WriteByte(raw[i])
			continue
		}
		const hex = "0123456789ABCDEF"
		b.WriteByte('%')
		b.WriteByte(hex[raw[i]>>4])
		b.WriteByte(hex[raw[i]&15])
	}
	return b.String()
}

// url returns the URL for the transport, which sends t.path unchanged.
func (t target) url() *url.URL {
	plain, err := url.PathUnescape(t.path)
	if err != nil {
		plain = t.path
	}
	return &url.URL{
		Scheme: t.scheme(), Host: t.host.Join(t.port), Path: plain, RawPath: t.path,
		RawQuery: t.query, ForceQuery: t.hasQuery && t.query == "",
	}
}
