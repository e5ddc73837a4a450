package policy

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/policy/internal/variable"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxNetworkRules bounds each list of a layer: every connection looks at all of it.
const maxNetworkRules = 4096

// checkNetwork checks what does not depend on other layers.
func checkNetwork(l sandbox.Layer) *sandbox.Error {
	n := &l.Policy.Network
	switch n.Mode {
	case sandbox.NetworkAllow:
	case "", sandbox.NetworkNone, sandbox.NetworkHost:
		bare := sandbox.Network{Mode: n.Mode}
		for _, list := range networkLists(n) {
			if len(list.entries) > 0 {
				return layerErrorf(l, "network."+list.name, "found a list with the mode %q, expected the mode %q", n.Mode, sandbox.NetworkAllow)
			}
		}
		if bare.Any != n.Any || bare.CA != n.CA || bare.Upstream != n.Upstream {
			return layerErrorf(l, "network", "found any, ca or upstream with the mode %q, expected the mode %q", n.Mode, sandbox.NetworkAllow)
		}
		return nil
	default:
		return layerErrorf(l, "network", "found %s, expected %s", clip(string(n.Mode)), expectedNetwork)
	}
	for _, list := range networkLists(n) {
		if len(list.entries) > maxNetworkRules {
			return layerErrorf(l, "network."+list.name, "found %d entries, expected at most %d", len(list.entries), maxNetworkRules)
		}
		for i, text := range list.entries {
			if list.name == listPublish {
				continue
			}
			// Whether a CA is there and any host is meant, other layers may say.
			if err := checkRule(l, list.name, i, text, true, true); err != nil {
				return err
			}
		}
	}
	if err := checkPublish(l); err != nil {
		return err
	}
	if written := l.Lines["network.ca"] > 0; (n.CA == "" && written) || strings.ContainsRune(n.CA, 0) {
		return layerErrorf(l, "network.ca", `found %s, expected "ephemeral" or the path of a PEM file`, clip(n.CA))
	}
	if written := l.Lines["network.upstream"] > 0; (n.Upstream != "" || written) && !upstreamURL(n.Upstream) {
		// Not repeated: it may hold a password.
		return layerErrorf(l, "network.upstream", "found another address, expected http://[USER:PASSWORD@]HOST:PORT")
	}
	return nil
}

// checkRule checks one rule of a list. The network permits any host if anyHost, and rules about what is inside TLS if
// inspectable.
func checkRule(l sandbox.Layer, list string, i int, rule string, anyHost, inspectable bool) *sandbox.Error {
	p := hosts.Policy{Any: anyHost, Inspectable: inspectable}
	switch list {
	case listAllow:
		p.Allow = []string{rule}
	case listDeny:
		p.Deny = []string{rule}
	case listPrivate:
		p.PrivateHosts = []string{rule}
	case listInspect:
		p.Inspect = []string{rule}
	}
	_, err := hosts.Compile(p)
	if err == nil {
		return nil
	}
	// It names the list and the index there, which is not the one in the file.
	text := err.Error()
	for _, prefix := range []string{networkKey(list, 0) + ": ", "network." + list + ": "} {
		text = strings.TrimPrefix(text, prefix)
	}
	out := layerErrorf(l, networkKey(list, i), "%s", text)
	out.Code = sandbox.CodeOf(err)
	switch {
	case out.Code == sandbox.Unsupported && list != listInspect:
		return out.WithHint(`write http:// for plain HTTP, drop the method and path, or add --ca ephemeral ("ca": "ephemeral")`)
	case out.Code == sandbox.Unsupported:
		return out.WithHint(`add --ca ephemeral ("ca": "ephemeral")`)
	case !anyHost:
		return out.WithHint(`add "any": true if any host is meant`)
	}
	return out
}

func checkPublish(l sandbox.Layer) *sandbox.Error {
	seen := map[uint16]bool{}
	for i, text := range l.Policy.Network.Publish {
		port, ok := ParsePublish(text)
		if !ok {
			return layerErrorf(l, networkKey(listPublish, i), "found %s, expected PORT or HOSTPORT:PORT, each from 1 to 65535", clip(text))
		}
		if seen[port.Host] {
			return layerErrorf(l, networkKey(listPublish, i), "found port %d of the host a second time, expected it once", port.Host)
		}
		seen[port.Host] = true
	}
	return nil
}

func upstreamURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || strings.ContainsRune(s, 0) {
		return false
	}
	if _, ok := parsePort(u.Port()); !ok && u.Port() != "" {
		return false
	}
	return (u.Path == "" || u.Path == "/") && u.RawQuery == "" && u.Fragment == ""
}

// variableName is what every program can read a variable by.
var variableName = compileLater(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ownVariables are variables whose value is ours to choose: a placeholder there
// would break the sandbox and not protect anything.
var ownVariables = []string{
	"PATH", "HOME", "PWD", "SHELL", "USER", "LOGNAME", "TMPDIR", "TEMP", "TMP", "NODE_USE_ENV_PROXY", "NODE_EXTRA_CA_CERTS",
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO",
}

func ownVariable(name string) bool {
	return slices.Contains(ownVariables, name) || strings.HasSuffix(strings.ToLower(name), "_proxy") ||
		variable.IsLoader(name)
}

func checkSecrets(l sandbox.Layer) *sandbox.Error {
	for _, name := range slices.Sorted(maps.Keys(l.Policy.Secrets)) {
		s := l.Policy.Secrets[name]
		for _, check := range []func(sandbox.Layer, string, sandbox.Secret) *sandbox.Error{
			checkSecretName, checkSecretSource, checkSecretHosts,
		} {
			if err := check(l, name, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkSecretName(l sandbox.Layer, name string, s sandbox.Secret) *sandbox.Error {
	key := "secrets." + name
	written := func(field string) bool { return l.Lines[key+"."+field] > 0 }
	const expected = "found %s, expected a variable's name"
	switch {
	case !variable.IsName(name) || len(name) > 255:
		return layerErrorf(l, key, "found %s, expected a name", clip(name))
	case (s.Env != "" || written("env")) && (!variableName().MatchString(s.Env) || ownVariable(s.Env)):
		return layerErrorf(l, key+".env", expected+" that is not the sandbox's own", clip(s.Env))
	case (s.File == "" && written("file")) || strings.ContainsRune(s.File, 0):
		return layerErrorf(l, key+".file", "found %s, expected a path", clip(s.File))
	case s.File != "" || s.Env != "" && hasSource(s):
		return nil // the name is a label
	case !variableName().MatchString(name) || ownVariable(name):
		return layerErrorf(l, key, expected+" that is not the sandbox's own, or env or file", clip(name))
	}
	return nil
}

func hasSource(s sandbox.Secret) bool {
	return s.FromEnv != "" || s.FromFile != "" || len(s.FromCommand) > 0
}

func checkSecretSource(l sandbox.Layer, name string, s sandbox.Secret) *sandbox.Error {
	key := "secrets." + name
	var found []string
	for _, f := range []struct {
		field string
		set   bool
	}{{"from_env", s.FromEnv != ""}, {"from_file", s.FromFile != ""}, {"from_command", len(s.FromCommand) > 0}} {
		switch {
		case f.set:
			found = append(found, f.field)
		case l.Lines[key+"."+f.field] > 0:
			return layerErrorf(l, key+"."+f.field, "found nothing in it, expected where the value comes from")
		}
	}
	nul := func(text string) bool { return strings.ContainsRune(text, 0) }
	switch {
	case len(found) > 1:
		return layerErrorf(l, key+"."+found[1], "found %s, expected one of them", strings.Join(found, " and "))
	case s.FromEnv != "" && !variable.IsName(s.FromEnv):
		return layerErrorf(l, key+".from_env", "found %s, expected a variable's name", clip(s.FromEnv))
	case nul(s.FromFile):
		return layerErrorf(l, key+".from_file", "found %s, expected a path", clip(s.FromFile))
	case len(s.FromCommand) > 0 && s.FromCommand[0] == "", slices.ContainsFunc(s.FromCommand, nul):
		// Not repeated: an argument may be a password.
		return layerErrorf(l, key+".from_command", "found an empty program or a NUL character, expected a program and its arguments")
	}
	return nil
}

func checkSecretHosts(l sandbox.Layer, name string, s sandbox.Secret) *sandbox.Error {
	key := "secrets." + name
	if len(s.Hosts) == 0 {
		return layerErrorf(l, key, "found no hosts, expected those that get the value")
	}
	for i, text := range s.Hosts {
		if why := secretHost(text); why != "" {
			return layerErrorf(l, indexKey(key+".hosts", i), "%s: %s", clip(text), why)
		}
	}
	if written := l.Lines[key+".header"] > 0; (s.Header != "" || written) && !httpguts.ValidHeaderFieldName(s.Header) {
		return layerErrorf(l, key+".header", "found %s, expected the name of a header field", clip(s.Header))
	}
	return nil
}

// secretHost says what is wrong with a host that a secret is bound to, or "".
func secretHost(text string) string {
	scheme, host, ok := strings.Cut(text, "://")
	if !ok {
		scheme, host = "https", text
	}
	if scheme != "http" && scheme != "https" || strings.ContainsAny(host, " /") {
		return "a secret is bound to https or http hosts, without methods and paths"
	}
	if _, err := hosts.ParseBinding(scheme + "://" + host); err != nil {
		return err.Error()
	}
	return ""
}
