package egress

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Secret is a value that the sandbox must not see. Commands use its placeholder. In requests to the hosts to which the
// secret is bound, the proxy replaces the placeholder in header fields by the value, also inside the Base64 of
// Authorization: Basic. It refuses requests to other hosts that contain the placeholder anywhere.
type Secret struct {
	Name        string // for messages
	Placeholder string // at least 16 letters, digits, - _ . ; see NewPlaceholder
	Value       string // never in an event, an error or an answer of the proxy

	// Hosts are rules without methods and paths: "api.example.com" means HTTPS on port 443. Plain HTTP, which sends the
	// value unencrypted, requires http://.
	Hosts []string
	// Header is the only field in which the value is inserted; empty: every field.
	Header string
	// Reads: the value is inserted only into requests that read from the host; the proxy refuses other requests with
	// the placeholder.
	Reads bool
}

// known prefixes of tokens: clients that check them accept the placeholder, and they reveal no more about the secret
// than its host.
var known = []string{
	"sk-ant-api03-", "sk-ant-oat01-", "sk-ant-", "sk-proj-", "sk-or-v1-", "sk-", "github_pat_", "ghp_", "gho_", "ghu_", "ghs_",
	"ghr_", "glpat-", "xoxb-", "xoxp-", "AKIA", "ASIA", "AIza", "npm_", "pypi-", "hf_", "gsk_", "dckr_pat_", "rk_live_", "sk_live_",
}

// NewPlaceholder returns an unguessable placeholder of value's shape. It keeps a well-known prefix (ghp_, sk-ant-) and
// the length, with at least 24 random characters. Without such a prefix it rounds the length up to a multiple of 8.
func NewPlaceholder(value string) string {
	prefix := ""
	for _, k := range known {
		if strings.HasPrefix(value, k) {
			prefix = k
			break
		}
	}
	n := len(value) - len(prefix)
	if prefix == "" {
		n = (n + 7) / 8 * 8
	}
	n = min(max(n, 24), 512)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz234567890123" // 64, near enough to even
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	for i := range b {
		b[i] = alphabet[b[i]&63]
	}
	return prefix + string(b)
}

type secret struct {
	Secret

	hosts []hosts.Binding
}

type secrets []secret

func newSecrets(list []Secret, ca bool) (secrets, error) {
	var out secrets
	for i, s := range list {
		where := fmt.Sprintf("secrets[%d] (%s)", i, hosts.Quote(s.Name))
		if len(s.Placeholder) < 16 || strings.Trim(s.Placeholder, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
			return nil, sandbox.Errorf(sandbox.Invalid, "%s: a placeholder has at least 16 letters, digits, - _ or .", where)
		}
		if s.Value == "" || strings.TrimSpace(s.Value) != s.Value || !httpguts.ValidHeaderFieldValue(s.Value) {
			return nil, sandbox.Errorf(sandbox.Invalid, "%s: the value is empty or does not fit into a header field", where)
		}
		if s.Header != "" && !httpguts.ValidHeaderFieldName(s.Header) {
			return nil, sandbox.Errorf(sandbox.Invalid, "%s: %s is not a header field's name", where, hosts.Quote(s.Header))
		}
		for _, o := range out {
			if strings.Contains(o.Placeholder, s.Placeholder) || strings.Contains(s.Placeholder, o.Placeholder) {
				return nil, sandbox.Errorf(sandbox.Invalid, "%s: its placeholder overlaps that of another secret", where)
			}
		}
		if strings.Contains(s.Value, s.Placeholder) {
			return nil, sandbox.Errorf(sandbox.Invalid, "%s: the placeholder is a part of the value", where)
		}
		bound := secret{Secret: s}
		for j, text := range s.Hosts {
			r, err := hosts.ParseBinding(text)
			if err != nil {
				return nil, sandbox.Errorf(sandbox.Invalid, "%s: hosts[%d]: %s: %w", where, j, hosts.Quote(text), err)
			}
			if r.IsTLS() && !ca {
				return nil, sandbox.Errorf(sandbox.Unsupported, "%s: hosts[%d]: %s: a secret cannot be put into TLS without a CA", where, j, hosts.Quote(text)).
					WithHint("give a CA to inspect with")
			}
			bound.hosts = append(bound.hosts, r)
		}
		out = append(out, bound)
	}
	return out, nil
}

func (s *secret) bound(o origin) bool {
	for i := range s.hosts {
		if s.hosts[i].Matches(o.host, o.port, o.tls) {
			return true
		}
	}
	return false
}

// isBound reports whether any secret may be inserted into requests to o.
func (s secrets) isBound(o origin) bool {
	for i := range s {
		if s[i].bound(o) {
			return true
		}
	}
	return false
}

// apply inserts values into header. It refuses a request with a placeholder of a secret for other hosts, before it
// inserts the first value.
func (s secrets) apply(method string, header http.Header, t target) *denial {
	for i := range s {
		switch {
		case !s[i].bound(t.origin):
			if s[i].inRequest(header, t) {
				return s[i].refuse(t.origin)
			}
		case s[i].Reads && !isReading(method, t) && s[i].inRequest(header, t):
			return s[i].refuseWriting(t.origin, method)
		}
	}
	for i := range s {
		if s[i].bound(t.origin) {
			s[i].put(header)
		}
	}
	return nil
}

// isReading reports whether a request reads from a registry or a repository. This includes some POST requests of git
// and npm.
func isReading(method string, t target) bool {
	switch method {
	case http.MethodGet, http.MethodHead:
		return !strings.Contains(t.query, "git-receive-pack") && !strings.Contains(t.path, "git-receive-pack")
	case http.MethodPost:
		return strings.HasSuffix(t.path, "/git-upload-pack") || strings.Contains(t.path, "/-/npm/v1/security/")
	}
	return false
}

func (s *secret) refuseWriting(o origin, method string) *denial {
	return deny(KindSecret, o.host, o.port, hosts.Verdict{
		Reason: "the credential of " + hosts.Quote(s.Name) + " is for reading, and " + hosts.Quote(method) + " may change something on the host; a secret of the configuration can be for both",
	})
}

func (s *secret) refuse(o origin) *denial {
	return deny(KindSecret, o.host, o.port, hosts.Verdict{
		Reason: "the placeholder of the secret " + hosts.Quote(s.Name) + " was on its way to " + o.scheme() + " on a host that it is not bound to",
	})
}

// inRequest searches the request target, also its decoded form, and all fields.
func (s *secret) inRequest(header http.Header, t target) bool {
	for _, part := range []string{t.path, t.query} {
		if s.in(part) {
			return true
		}
		if plain, err := url.QueryUnescape(part); err == nil && s.in(plain) {
			return true
		}
	}
	for name, values := range header {
		// Header names are canonicalized, so compare without regard to case.
		if strings.Contains(strings.ToLower(name), strings.ToLower(s.Placeholder)) {
			return true
		}
		for _, v := range values {
			if s.in(v) {
				return true
			}
			if plain, ok := decodeBasic(v); ok && s.in(plain) {
				return true
			}
		}
	}
	return false
}

func (s *secret) in(text string) bool { return strings.Contains(text, s.Placeholder) }

func (s *secret) put(header http.Header) {
	only := textproto.CanonicalMIMEHeaderKey(s.Header)
	for name, values := range header {
		if only != "" && name != only {
			continue
		}
		for i, v := range values {
			if plain, ok := decodeBasic(v); ok && s.in(plain) {
				plain = strings.ReplaceAll(plain, s.Placeholder, s.Value)
				values[i] = "Basic " + base64.StdEncoding.EncodeToString([]byte(plain))
				continue
			}
			values[i] = strings.ReplaceAll(v, s.Placeholder, s.Value)
		}
	}
}

// decodeBasic decodes "Basic BASE64", with or without padding.
func decodeBasic(v string) (string, bool) {
	kind, text, ok := strings.Cut(v, " ")
	if !ok || !strings.EqualFold(kind, "Basic") {
		return "", false
	}
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if plain, err := enc.DecodeString(text); err == nil {
			return string(plain), true
		}
	}
	return "", false
}

// scanner searches for placeholders in a body, also across the borders of its pieces.
type scanner struct {
	origin  origin
	secrets []*secret
	keep    int // bytes that may be the beginning of one
	tail    []byte
}

// scanner returns nil when a body to o cannot contain a forbidden placeholder.
func (s secrets) scanner(o origin) *scanner {
	sc := &scanner{origin: o}
	for i := range s {
		if !s[i].bound(o) {
			sc.secrets = append(sc.secrets, &s[i])
			sc.keep = max(sc.keep, len(s[i].Placeholder)-1)
		}
	}
	if len(sc.secrets) == 0 {
		return nil
	}
	return sc
}

// look checks the next piece. The caller must not send a refused piece, so that the end of a placeholder is never sent.
func (sc *scanner) look(p []byte) *denial {
	seen := append(sc.tail, p...)
	for _, s := range sc.secrets {
		if bytes.Contains(seen, []byte(s.Placeholder)) {
			return s.refuse(sc.origin)
		}
	}
	sc.tail = append(sc.tail[:0], seen[max(0, len(seen)-sc.keep):]...)
	return nil
}
