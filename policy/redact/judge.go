package redact

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/policy/internal/variable"
)

func compileLater(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

var (
	// address matches the parts of a URL. Package url refuses logins with characters such as $ and {, which tools accept.
	address = compileLater(`^((?:[a-z]+\+)?[A-Za-z][A-Za-z0-9.-]*)://(?:([^/?#]*)@)?([^/?#@]*)([^?#]*)$`)
	// server is the host of a URL, and its port.
	server = compileLater(`^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$`)
	// path matches the rest of a URL after the host.
	path = compileLater(`^[A-Za-z0-9._~!&'()*+,;=:@/%-]*$`)
	// word matches a value without an address.
	word = compileLater(`^[A-Za-z0-9 ._,:/@~^*+=<>|!()\[\]-]{0,300}$`)
	// run matches a piece of a value without separators.
	run = compileLater(`[A-Za-z0-9]{20,}`)
	// uuid is the form of the tokens of old registries.
	uuid = compileLater(`(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// isToken reports whether a text has the shape of a token: the beginning of a known one, a UUID, or twenty or more letters
// and digits in a row.
func isToken(s string) bool {
	if uuid().MatchString(s) {
		return true
	}
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t,;:=/@\"'", r) })
	if slices.ContainsFunc(words, isKnownToken) {
		return true
	}
	for _, w := range run().FindAllString(s, -1) {
		if strings.ContainsFunc(w, unicode.IsDigit) && strings.ContainsFunc(w, unicode.IsLetter) || len(w) >= 32 {
			return true
		}
	}
	return false
}

// isKnownToken reports whether a text begins like the tokens of a well-known service.
func isKnownToken(s string) bool { return variable.Judge("VALUE", s, true) == variable.SecretValue }

// isSecretName reports whether a key names something secret, as variables do.
func isSecretName(name string) bool {
	name = strings.NewReplacer("-", "_", ".", "_").Replace(name)
	return variable.Judge(strings.ToUpper(name), "value", true) == variable.SecretName
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == unicode.ReplacementChar })
}

// isPlain reports whether a text can be shown as it is: it is one line, has no login and no token.
func isPlain(s string) bool {
	return isPrintable(s) && word().MatchString(s) && !isToken(s) && !strings.Contains(s, "://")
}

// plain returns a text that can be shown as it is.
func plain(s string) (value, error) {
	if !isPlain(s) {
		return nil, errTokenShape
	}
	return literal(s), nil
}

// expander replaces references to variables in a text; ok is false when one of them is not set.
type expander func(text string) (expanded string, ok bool)

// secret makes a credential of a text with references to variables. A text that is a reference to an unset variable stays as it
// is, because it contains no secret.
func (f *File) secret(text string, expand expander, hosts ...string) value {
	if expand == nil || !strings.Contains(text, "${") {
		return f.add(text, hosts...)
	}
	expanded, ok := expand(text)
	switch {
	case ok:
		return f.add(expanded, hosts...)
	case reference().MatchString(text):
		return literal(text)
	}
	return f.add(text)
}

// reference matches a text that is one variable.
var reference = compileLater(`^\$\{[A-Za-z_][A-Za-z0-9_.]*\??\}$`)

// url reads an address. Its login becomes credentials that are bound to its host.
func (f *File) url(text string, expand expander) (value, error) {
	m := address().FindStringSubmatch(text)
	if m == nil {
		return nil, errAddress
	}
	scheme, login, host, rest := m[1], m[2], m[3], m[4]
	switch {
	case host == "" && strings.EqualFold(scheme, "file") && login == "":
	case !server().MatchString(host):
		return nil, errAddress
	}
	if !path().MatchString(rest) || isToken(rest) || isToken(host) {
		return nil, errAddress
	}
	out := literal(scheme + "://")
	if login != "" {
		v, err := f.login(login, expand, bindings(scheme, host)...)
		if err != nil {
			return nil, err
		}
		out = append(append(out, v...), part{text: "@"})
	}
	return append(out, part{text: host + rest}), nil
}

// login reads the part of an address before the @. A name without a password is a token, except for short names.
func (f *File) login(text string, expand expander, hosts ...string) (value, error) {
	user, password, hasPassword := strings.Cut(text, ":")
	name, err := url.PathUnescape(user)
	if err != nil {
		return nil, errAddress
	}
	secret, err := url.PathUnescape(password)
	if err != nil {
		return nil, errAddress
	}
	var out value
	switch {
	case hasPassword && password != "" && isPlain(name), !hasPassword && userName().MatchString(name):
		out = literal(url.User(name).String())
	default:
		out = f.secret(name, expand, hosts...)
	}
	if hasPassword {
		out = append(append(out, part{text: ":"}), f.secret(secret, expand, hosts...)...)
	}
	return out, nil
}

// userName is a name that a login without a password may consist of, as in ssh://git@host.
var userName = compileLater(`^[a-z]{1,12}$`)

// bindings returns the hosts to which a credential of an address is bound; none for other protocols than HTTP.
func bindings(scheme, host string) []string {
	if _, after, ok := strings.Cut(scheme, "+"); ok { // sparse+https
		scheme = after
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" || !server().MatchString(host) {
		return nil
	}
	host = strings.ToLower(host)
	if h, port, err := net.SplitHostPort(host); err == nil && (scheme == "https" && port == "443" || scheme == "http" && port == "80") {
		host = h
		if strings.Contains(h, ":") {
			host = "[" + h + "]"
		}
	}
	return []string{scheme + "://" + host}
}

// bindAddress returns the bindings of an address; none if it is not one.
func bindAddress(text string) []string {
	m := address().FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	return bindings(m[1], m[3])
}
