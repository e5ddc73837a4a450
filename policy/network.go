package policy

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// EphemeralCA is the value of a network's ca for an authority that is created for one run.
const EphemeralCA = layer.EphemeralCA

// NetworkRule is one entry of a plan's network, and where it was written.
type NetworkRule struct {
	List   string // its key: "allow", "deny", "private_hosts", "inspect", "publish", "ca" or "upstream"
	Rule   string // as in Plan.Network, but for an upstream proxy without a login
	Layer  string // the name of the layer
	Source string // FILE:LINE or a flag
}

// Publish is a port of the sandbox's loopback that is published on the host.
type Publish struct {
	Host uint16 // the port on the host's 127.0.0.1
	Port uint16 // the port inside
}

func (p Publish) String() string { return fmt.Sprintf("%d:%d", p.Host, p.Port) }

// ParsePublish reads "[HOSTPORT:]PORT"; without HOSTPORT both are the same.
func ParsePublish(s string) (Publish, bool) {
	host, port, ok := layer.ParsePorts(s)
	return Publish{Host: host, Port: port}, ok
}

// networkRule is a NetworkRule with what an error about it needs.
type networkRule struct {
	NetworkRule

	layer *sandbox.Layer
	index int
}

// network is the network of all layers merged. It may hold rules with a mode other than
// allow: they take effect when a later layer allows something.
type network struct {
	mode         sandbox.NetworkMode
	source       string // where the mode was set
	layer        string
	rules        []networkRule
	any          bool
	ca, upstream string
	caLayer      *sandbox.Layer // the layer that set ca; nil: none
	upLayer      *sandbox.Layer // the layer that set upstream; nil: none
	borrowed     bool           // what is allowed comes from an untrusted layer
}

// apply puts a layer on top: a mode replaces what is below, lists are added to those
// that are there.
//
// A layer that is not trusted may close the network, deny, or list what is left of
// the host's network. It must not open anything together with a layer above it: its
// "none" does not remove the denials of lower layers, and later layers do not extend its list.
func (n *network) apply(l *sandbox.Layer) {
	w := &l.Policy.Network
	switch {
	case w.Mode == "":
		return
	case l.Trusted && w.Mode != sandbox.NetworkAllow:
		*n = network{}
	case w.Mode == sandbox.NetworkNone:
		n.closeAgain()
	case !l.Trusted && n.mode == sandbox.NetworkHost && w.Mode == sandbox.NetworkAllow:
		n.add(l, layer.ListAllow, layer.ListDeny, layer.ListPrivate, layer.ListPublish)
		n.any, n.borrowed = w.Any, true
	case !l.Trusted:
		n.add(l, layer.ListDeny)
		return // the mode stays
	default:
		if n.mode != sandbox.NetworkAllow || n.borrowed {
			n.closeAgain()
		}
		n.add(l, layer.ListAllow, layer.ListDeny, layer.ListPrivate, layer.ListInspect, layer.ListPublish)
		n.any = n.any || w.Any
		if w.CA != "" {
			n.ca, n.caLayer = w.CA, l
		}
		if w.Upstream != "" {
			n.upstream, n.upLayer = w.Upstream, l
		}
	}
	n.mode, n.source, n.layer = w.Mode, layer.Source(*l, modeKey(l)), l.Name
}

// modeKey returns the key of a layer that sets its network's mode. A file has one such key; flags have several.
func modeKey(l *sandbox.Layer) string {
	if l.File != "" || l.Policy.Network.Mode != sandbox.NetworkAllow {
		return "network"
	}
	for _, list := range layer.NetworkLists(&l.Policy.Network) {
		if len(list.Entries) > 0 {
			return "network." + list.Name
		}
	}
	return "network.ca"
}

// closeAgain removes the rules that open something; those that deny or inspect stay.
func (n *network) closeAgain() {
	var closing []networkRule
	for _, r := range n.rules {
		if r.List == layer.ListDeny || r.List == layer.ListInspect {
			closing = append(closing, r)
		}
	}
	n.rules, n.any, n.borrowed = closing, false, false
}

func (n *network) add(l *sandbox.Layer, lists ...string) {
	rules := slices.Clip(n.rules) // copies of n share them
	for _, list := range layer.NetworkLists(&l.Policy.Network) {
		if !slices.Contains(lists, list.Name) {
			continue
		}
		for i, text := range list.Entries {
			if n.has(list.Name, text) {
				continue
			}
			rules = append(rules, networkRule{
				NetworkRule: NetworkRule{List: list.Name, Rule: text, Layer: l.Name, Source: layer.Source(*l, layer.NetworkKey(list.Name, i))},
				layer:       l, index: i,
			})
			n.rules = rules
		}
	}
}

func (n *network) has(list, text string) bool {
	return slices.ContainsFunc(n.rules, func(r networkRule) bool { return r.List == list && r.Rule == text })
}

// loosened returns the keys with which l, an untrusted layer on top of n, asks for
// more than n gives.
func (n *network) loosened(l *sandbox.Layer) []string {
	w := &l.Policy.Network
	if w.Mode == sandbox.NetworkHost && n.mode != sandbox.NetworkHost {
		return []string{"network"}
	}
	if w.Mode != sandbox.NetworkAllow {
		return nil
	}
	var keys []string
	host := n.mode == sandbox.NetworkHost
	for _, list := range layer.NetworkLists(w) {
		if list.Name == layer.ListDeny || host && list.Name != layer.ListInspect {
			continue
		}
		for i, text := range list.Entries {
			if n.mode != sandbox.NetworkAllow || !n.has(list.Name, text) {
				keys = append(keys, layer.NetworkKey(list.Name, i))
			}
		}
	}
	if w.Any && !n.any && !host {
		keys = append(keys, "network.any")
	}
	// An upstream proxy sees all traffic, and the owner of a CA's key can read it.
	if w.CA != "" && w.CA != n.ca {
		keys = append(keys, "network.ca")
	}
	if w.Upstream != "" && w.Upstream != n.upstream {
		keys = append(keys, "network.upstream")
	}
	return keys
}

// plan writes the result into p. It checks what needs all layers: whether a rule is too wide, and whether it needs a CA.
func (n *network) plan(p *Plan) error {
	p.Network = sandbox.Network{Mode: n.mode}
	p.NetworkLayer, p.NetworkSource = n.layer, n.source
	if n.mode != sandbox.NetworkAllow {
		return nil
	}
	p.Network.Any, p.Network.CA, p.Network.Upstream = n.any, n.ca, n.upstream
	for _, list := range layer.NetworkLists(&p.Network) {
		for _, r := range n.rules {
			if r.List != list.Name {
				continue
			}
			if err := n.check(r, p); err != nil {
				return err
			}
			if list.Name != layer.ListPublish {
				p.NetworkRules = append(p.NetworkRules, r.NetworkRule)
			}
		}
	}
	p.Network.Allow, p.Network.Deny = p.networkList(layer.ListAllow), p.networkList(layer.ListDeny)
	p.Network.PrivateHosts, p.Network.Inspect = p.networkList(layer.ListPrivate), p.networkList(layer.ListInspect)
	p.Network.Publish = p.networkList(layer.ListPublish)
	if n.caLayer != nil {
		p.addNetworkRule("ca", n.ca, n.caLayer)
	}
	if u, err := url.Parse(n.upstream); err == nil && n.upLayer != nil {
		u.User = nil
		p.addNetworkRule("upstream", u.String(), n.upLayer)
	}
	return nil
}

func (p *Plan) addNetworkRule(name, text string, l *sandbox.Layer) {
	p.NetworkRules = append(p.NetworkRules, NetworkRule{List: name, Rule: text, Layer: l.Name, Source: layer.Source(*l, "network."+name)})
}

// check judges one rule together with the others.
func (n *network) check(r networkRule, p *Plan) error {
	if r.List != layer.ListPublish {
		if err := layer.CheckRule(*r.layer, r.List, r.index, r.Rule, n.any, n.ca != ""); err != nil {
			return err
		}
		return nil
	}
	port, _ := ParsePublish(r.Rule)
	for _, other := range p.Publish {
		if other == port {
			return nil
		}
		if other.Host == port.Host {
			return layer.Errorf(*r.layer, layer.NetworkKey(r.List, r.index), "found port %d of the host for port %d, expected another: port %d has it already", port.Host, port.Port, other.Port)
		}
	}
	p.Publish = append(p.Publish, port)
	p.NetworkRules = append(p.NetworkRules, NetworkRule{List: r.List, Rule: port.String(), Layer: r.Layer, Source: r.Source})
	return nil
}

func (p *Plan) networkList(name string) []string {
	var out []string
	for _, r := range p.NetworkRules {
		if r.List == name {
			out = append(out, r.Rule)
		}
	}
	return out
}

// NetworkRule returns the source of the rule that decided a verdict of package hosts: rule is the Rule of a verdict or of a
// proxy's event. The result is the zero value when there is none.
func (p *Plan) NetworkRule(rule string) NetworkRule {
	for _, list := range []string{layer.ListDeny, layer.ListAllow, layer.ListPrivate} { // what is denied is not asked further
		for _, r := range p.NetworkRules {
			if r.List == list && r.Rule == rule {
				return r
			}
		}
	}
	return NetworkRule{}
}

// HostRules returns the host rules of the plan's network. Only the mode allow has any.
func (p *Plan) HostRules() hosts.Policy {
	n := &p.Network
	return hosts.Policy{Allow: n.Allow, Deny: n.Deny, Any: n.Any, PrivateHosts: n.PrivateHosts, Inspect: n.Inspect, Inspectable: n.CA != ""}
}

// Upstream returns the HTTP proxy that the sandbox's connections are made through; nil: none.
func (p *Plan) Upstream() *url.URL {
	if p.Network.Upstream == "" {
		return nil
	}
	u, _ := url.Parse(p.Network.Upstream) // the layers were checked: it parses
	return u
}
