package layer

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The lists of a network, as a file calls them.
const (
	ListAllow   = "allow"
	ListDeny    = "deny"
	ListPrivate = "private_hosts"
	ListInspect = "inspect"
	ListPublish = "publish"
)

// NetworkList is one list of a layer.
type NetworkList struct {
	Name    string
	Entries []string
}

// NetworkLists returns the lists of n in the order of its fields.
func NetworkLists(n *sandbox.Network) []NetworkList {
	return []NetworkList{
		{ListAllow, n.Allow}, {ListDeny, n.Deny}, {ListPrivate, n.PrivateHosts}, {ListInspect, n.Inspect}, {ListPublish, n.Publish},
	}
}

// NetworkKey is the key of entry i of a list of the network.
func NetworkKey(list string, i int) string { return jsonc.IndexKey("network."+list, i) }

// ParsePorts reads "[HOSTPORT:]PORT"; without HOSTPORT both are the same.
func ParsePorts(s string) (host, port uint16, ok bool) {
	before, after, both := strings.Cut(s, ":")
	if !both {
		after = before
	}
	host, hostOK := parsePort(before)
	port, portOK := parsePort(after)
	return host, port, hostOK && portOK
}

func parsePort(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && strconv.FormatUint(n, 10) == s && n > 0
}

// maxNetworkRules bounds each list of a layer: every connection is compared with the whole list.
const maxNetworkRules = 4096

// checkNetwork checks everything that does not depend on other layers.
func checkNetwork(l sandbox.Layer) *sandbox.Error {
	n := &l.Policy.Network
	switch n.Mode {
	case sandbox.NetworkAllow:
	case "", sandbox.NetworkNone, sandbox.NetworkHost:
		bare := sandbox.Network{Mode: n.Mode}
		for _, list := range NetworkLists(n) {
			if len(list.Entries) > 0 {
				return Errorf(l, "network."+list.Name, "found a list with the mode %q, expected the mode %q", n.Mode, sandbox.NetworkAllow)
			}
		}
		if bare.Any != n.Any || bare.CA != n.CA || bare.Upstream != n.Upstream {
			return Errorf(l, "network", "found any, ca or upstream with the mode %q, expected the mode %q", n.Mode, sandbox.NetworkAllow)
		}
		return nil
	default:
		return Errorf(l, "network", "found %s, expected %s", jsonc.Clip(string(n.Mode)), ExpectedNetwork)
	}
	for _, list := range NetworkLists(n) {
		if len(list.Entries) > maxNetworkRules {
			return Errorf(l, "network."+list.Name, "found %d entries, expected at most %d", len(list.Entries), maxNetworkRules)
		}
		for i, text := range list.Entries {
			if list.Name == ListPublish {
				continue
			}
			// Other layers may set the CA and "any".
			if err := CheckRule(l, list.Name, i, text, true, true); err != nil {
				return err
			}
		}
	}
	if err := checkPublish(l); err != nil {
		return err
	}
	if written := l.Lines["network.ca"] > 0; (n.CA == "" && written) || strings.ContainsRune(n.CA, 0) {
		return Errorf(l, "network.ca", `found %s, expected "ephemeral" or the path of a PEM file`, jsonc.Clip(n.CA))
	}
	if written := l.Lines["network.upstream"] > 0; (n.Upstream != "" || written) && !isUpstreamURL(n.Upstream) {
		// Not repeated: it may hold a password.
		return Errorf(l, "network.upstream", "found another address, expected http://[USER:PASSWORD@]HOST:PORT")
	}
	return nil
}

// CheckRule checks one rule of a list. The network permits any host if anyHost, and rules about what is inside TLS if
// inspectable.
func CheckRule(l sandbox.Layer, list string, i int, rule string, anyHost, inspectable bool) *sandbox.Error {
	p := hosts.Policy{Any: anyHost, Inspectable: inspectable}
	switch list {
	case ListAllow:
		p.Allow = []string{rule}
	case ListDeny:
		p.Deny = []string{rule}
	case ListPrivate:
		p.PrivateHosts = []string{rule}
	case ListInspect:
		p.Inspect = []string{rule}
	}
	_, err := hosts.Compile(p)
	if err == nil {
		return nil
	}
	// It names the list and the index there, which is not the one in the file.
	text := err.Error()
	for _, prefix := range []string{NetworkKey(list, 0) + ": ", "network." + list + ": "} {
		text = strings.TrimPrefix(text, prefix)
	}
	out := Errorf(l, NetworkKey(list, i), "%s", text)
	out.Code = sandbox.CodeOf(err)
	switch {
	case out.Code == sandbox.Unsupported && list != ListInspect:
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
		port, _, ok := ParsePorts(text)
		if !ok {
			return Errorf(l, NetworkKey(ListPublish, i), "found %s, expected PORT or HOSTPORT:PORT, each from 1 to 65535", jsonc.Clip(text))
		}
		if seen[port] {
			return Errorf(l, NetworkKey(ListPublish, i), "found port %d of the host a second time, expected it once", port)
		}
		seen[port] = true
	}
	return nil
}

func isUpstreamURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || u.Hostname() == "" || strings.ContainsRune(s, 0) {
		return false
	}
	if _, ok := parsePort(u.Port()); !ok && u.Port() != "" {
		return false
	}
	return (u.Path == "" || u.Path == "/") && u.RawQuery == "" && u.Fragment == ""
}
