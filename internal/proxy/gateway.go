package proxy

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options configure a [Gateway].
type Options struct {
	Addr     string               // HOST:PORT at which commands reach the proxy
	Bundle   string               // path inside of the trusted authorities, if TLS is inspected
	HostEnv  []string             // "K=V"; the values of secrets may come from it
	Redacts  bool                 // the host's home is inside at the same path: its configuration files can be shown without credentials
	HostRoot bool                 // the host's system is inside at the same path: its authorities can be replaced
	Redirect bool                 // connections that do not lead to the proxy come to [Gateway.Redirect]: commands get a name server
	Token    string               // see egress.Options
	Resolver *net.Resolver        // nil: the host's
	Denied   func(sandbox.Denial) // receives refusals, one at a time; nil: they are not reported
}

// File replaces the content of a file for commands. It is read-only.
type File struct {
	Path string // absolute; its directory exists inside, except for a directory of agent-sandbox
	Data []byte
	Mode uint32 // permission bits
}

// Gateway connects a sandbox to the network. It is safe for concurrent use.
type Gateway struct {
	Env     []string         // variables of the commands, "K=V"; see Environ
	Dropped []policy.Dropped // variables of the plan that hold a secret's value; see Environ
	Files   []File           // files to mount after all others

	plan  *policy.Plan
	proxy *egress.Proxy // nil: the plan has no allow-list
}

// IsNeeded reports whether a plan needs a gateway.
func IsNeeded(plan *policy.Plan) bool {
	return plan.Network.Mode == sandbox.NetworkAllow || len(plan.Secrets) > 0 || len(plan.Redacted) > 0
}

// Open fetches the values of the plan's secrets, which may run programs of the host, and
// creates the proxy without a listener. Errors never contain a secret's value. They
// contain the last line of a program's stderr, unless that line repeats the program's
// output. A value that cannot be masked is an Invalid error, one that cannot be fetched
// an Unavailable one, or Canceled when the program was interrupted.
func Open(ctx context.Context, plan *policy.Plan, o Options) (*Gateway, error) {
	g := &Gateway{plan: plan}
	found, err := fetchSecrets(ctx, plan, o.HostEnv)
	if err != nil {
		return nil, err
	}
	if err := g.mask(found); err != nil {
		return nil, err
	}
	if o.Redacts {
		found = append(found, g.redact(o.HostEnv)...)
	}
	if plan.Network.Mode != sandbox.NetworkAllow {
		return g, nil
	}
	if err := g.open(found, o); err != nil {
		return nil, err
	}
	return g, nil
}

// open makes the proxy.
func (g *Gateway) open(found []held, o Options) error {
	ca, err := loadAuthority(g.plan.Network.CA)
	if err != nil {
		return err
	}
	var bundle, store string
	var roots []byte
	if ca != nil {
		trusted, own, err := authorities(o.HostEnv)
		if err != nil {
			return err
		}
		bundle, roots = o.Bundle, own
		all := slices.Concat(trusted, own, ca.Cert)
		store = strings.TrimSuffix(bundle, ".pem") + ".jks"
		g.Files = append(g.Files, File{Path: bundle, Data: all, Mode: 0o444}, File{Path: store, Data: egress.KeyStore(all), Mode: 0o444})
		if o.HostRoot {
			g.coverBundles(all)
		}
	}
	options := egress.Options{CA: ca, Roots: roots, Upstream: g.plan.Upstream(), Token: o.Token, Resolver: o.Resolver}
	if options.Rules, err = hosts.Compile(g.plan.HostRules()); err != nil {
		return err
	}
	for _, s := range found {
		options.Secrets = append(options.Secrets, s.Secret)
	}
	if o.Denied != nil {
		options.Denied = func(e egress.Event) { o.Denied(g.denial(e)) }
	}
	if g.proxy, err = egress.New(options); err != nil {
		return err
	}
	if o.Redirect {
		g.coverResolver(o.HostRoot)
	}
	g.Env = append(egress.Environ(o.Addr, o.Token, bundle, store), g.Env...)
	return nil
}

// Environ returns the environment of a command: env, that of the plan, without the
// dropped variables and with the gateway's variables, which replace others of the same
// names.
func (g *Gateway) Environ(env []string) []string {
	out := map[string]bool{}
	for _, d := range g.Dropped {
		out[d.Name] = true
	}
	for _, kv := range g.Env {
		name, _, _ := strings.Cut(kv, "=")
		out[name] = true
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return out[name]
	})
	return append(env, g.Env...)
}

// IsProxied reports whether commands need a listener that [Gateway.Serve] serves.
func (g *Gateway) IsProxied() bool { return g.proxy != nil }

// Serve answers the connections of l until ctx ends, and closes it; see
// [egress.Proxy.Serve].
func (g *Gateway) Serve(ctx context.Context, l net.Listener) error { return g.proxy.Serve(ctx, l) }

// resolverFile is the configuration of resolvers (resolv.conf(5)).
const resolverFile = "/etc/resolv.conf"

// hostsFile has names and their addresses (hosts(5)); a file of more than maxHosts bytes, such as a list of blocked hosts, stays.
const (
	hostsFile = "/etc/hosts"
	maxHosts  = 1 << 20
)

// coverResolver makes the proxy the name server of commands, unless they cannot see the resolver's configuration. Of the host's
// /etc/hosts commands see the lines for loopback and for this host: the rules name hosts, and programs would connect to the addresses
// of the others.
func (g *Gateway) coverResolver(hostRoot bool) {
	const config = "options use-vc\nsearch .\n" // TCP, because only connections can be redirected
	text := []byte("nameserver " + egress.NameServer.Addr().String() + "\n" + config)
	if !hostRoot {
		g.Files = append(g.Files, File{Path: resolverFile, Data: text, Mode: 0o444})
		return
	}
	g.cover(resolverFile, text)
	data, err := os.ReadFile(hostsFile)
	if err != nil || len(data) > maxHosts {
		return
	}
	self, _ := os.Hostname() // after an error no line matches
	var own []byte
	for line := range bytes.Lines(data) {
		text, _, _ := strings.Cut(string(line), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		addr, err := netip.ParseAddr(fields[0])
		if err == nil && (addr.IsLoopback() || slices.Contains(fields[1:], self)) {
			own = append(own, line...)
		}
	}
	g.cover(hostsFile, own)
}

// NameOf returns the name to which an address in the sandbox is assigned; see [egress.Proxy.NameOf].
func (g *Gateway) NameOf(addr netip.Addr) (name string, ok bool) { return g.proxy.NameOf(addr) }

// Redirect redirects a connection that a program makes to another address; see [egress.Proxy.Redirect].
func (g *Gateway) Redirect(to netip.AddrPort) (expect func(from uint16) (forget func()), err error) {
	return g.proxy.Redirect(to)
}

// denial converts an event to a denial with the location of its rule.
func (g *Gateway) denial(e egress.Event) sandbox.Denial {
	op := "connect"
	if e.Kind == egress.KindMethod || e.Kind == egress.KindSecret || e.Kind == egress.KindMalformed {
		op = "request"
	}
	d := sandbox.Denial{
		Time: e.Time, Kind: sandbox.DeniedHost, Op: op, Target: denialTarget(e),
		Reason: e.Reason, Rule: e.Rule, Fix: e.Allow,
	}
	if e.Rule != "" {
		d.Source = g.plan.NetworkRule(e.Rule).Source
	}
	return d
}
