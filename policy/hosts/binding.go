package hosts

import (
	"errors"
	"strings"
)

// Binding is a host that a secret is bound to: a rule without methods and paths.
type Binding struct{ rule rule }

// ParseBinding reads "HOST[:PORT]" or a URL of one; a host without a scheme means https. The error is plain text.
func ParseBinding(text string) (Binding, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	r, err := parseRule(text, allowList)
	switch {
	case err != nil:
		return Binding{}, err
	case r.isRequestRule() || r.scheme == rawTCP:
		return Binding{}, errors.New("a secret is bound to https or http hosts, without methods and paths")
	}
	return Binding{r}, r.checkWidth()
}

// IsTLS reports whether the binding is only for requests inside TLS.
func (b Binding) IsTLS() bool { return b.rule.scheme == tlsOnly }

// Matches reports whether the secret may be sent to host and port, inside TLS or in the clear.
func (b Binding) Matches(host Host, port uint16, tls bool) bool {
	return b.rule.matchHost(host) && b.rule.matchPort(port) && b.rule.hasScheme(tls)
}
