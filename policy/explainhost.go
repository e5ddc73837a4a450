package policy

import (
	"net/http"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ExplainHost explains whether a network host can be reached: "name", which means
// port 443, "name:port", or the URL of a page, which is asked for with GET. A Unix
// socket of the host is "unix:/path". What a name stands for is not looked up, so
// a name that is allowed may still be refused for its address.
func (p *Plan) ExplainHost(name string) Explanation {
	if path, ok := strings.CutPrefix(name, "unix:"); ok {
		return p.explainSocket(strings.TrimPrefix(path, "//"))
	}
	to := parseDestination(name)
	e := Explanation{Kind: "host", Name: to.authority, Verdict: VerdictDenied, Layer: p.NetworkLayer, Source: p.NetworkSource}
	if p.Network.Mode == sandbox.NetworkHost {
		e.Verdict, e.Rule = VerdictAllowed, "network: host"
		e.Reason, e.Change = "the sandbox shares the host's network, unfiltered", "--network=none"
		return e
	}
	v := p.hostVerdict(to)
	if v.Allow != "" {
		e.Change = "--allow " + shellword.Quote(v.Allow)
	}
	if p.Network.Mode != sandbox.NetworkAllow {
		e.Rule, e.Reason = "network: none", "the sandbox has a loopback of its own and nothing else"
		return e
	}
	e.Reason = v.Reason
	if r := p.NetworkRule(v.Rule); r.Rule != "" {
		e.Rule, e.Layer, e.Source = r.Rule, r.Layer, r.Source
	}
	if v.Allowed {
		e.Verdict, e.Change = VerdictAllowed, "--deny "+shellword.Quote(to.authority)
	}
	return e
}

// hostVerdict decides by the plan's host rules. A network without an allow-list allows nothing.
func (p *Plan) hostVerdict(to destination) hosts.Verdict {
	rules, err := hosts.Compile(p.HostRules())
	if err != nil {
		return hosts.Verdict{Reason: err.Error()}
	}
	host, port, err := hosts.ParseHostPort(to.authority, to.port)
	if err != nil {
		return hosts.Verdict{Reason: err.Error()}
	}
	v := rules.Check(host, port)
	if v.Allowed && host.IsAddr() {
		if byAddr := rules.CheckAddr(host, host.Addr(), port, nil); !byAddr.Allowed {
			return byAddr
		}
	}
	if v.Allowed && to.web {
		return rules.CheckRequest(hosts.Request{Host: host, Port: port, TLS: to.tls, Method: http.MethodGet, Path: to.path})
	}
	return v
}

// destination is an address to explain, in parts.
type destination struct {
	authority string // "host" or "host:port", as written
	port      uint16 // when authority has none
	web, tls  bool   // a URL of HTTP
	path      string
}

// parseDestination splits an address as users paste it: usually the URL that failed.
func parseDestination(s string) destination {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		return destination{authority: s, port: 443}
	}
	d := destination{port: 443, path: "/"}
	switch scheme {
	case "http":
		d.port, d.web = 80, true
	case "https":
		d.web, d.tls = true, true
	case "ssh":
		d.port = 22
	case "git":
		d.port = 9418
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		rest, d.path = rest[:i], rest[i:]
	}
	d.authority = rest[strings.LastIndexByte(rest, '@')+1:] // without a login
	return d
}
