package virtual

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/curl"
	"github.com/seed434b0696/agent-sandbox/internal/memory/loopback"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// networkOptions are the parts of a driver that a network needs.
type networkOptions struct {
	HostEnv  []string             // "K=V", where secrets come from
	Denied   func(sandbox.Denial) // receives denials, one at a time; nil: none
	Resolver *net.Resolver        // nil: the host's
}

// network is the access of one sandbox to the network, which only the programs of commands use. Connections to the allow-list's
// proxy are made in memory, so nothing listens on the host. A nil network is valid and gives no access.
type network struct {
	gateway *proxy.Gateway // nil: neither an allow-list nor secrets
	plan    *policy.Plan
	listen  *loopback.Listener
	roots   func() (*x509.CertPool, error) // nil: the system's

	cancel context.CancelFunc
	served sync.WaitGroup
}

// bundlePath is the path at which the gateway would store the trusted authorities. No process reads it.
const bundlePath = "/run/agent-sandbox/authorities.pem"

// openNetwork opens the network that a plan asks for; nil for none. It may run programs of the host that fetch secrets. The
// caller closes it.
func openNetwork(ctx context.Context, plan *policy.Plan, o networkOptions) (*network, error) {
	if plan.Network.Mode != sandbox.NetworkHost && !proxy.IsNeeded(plan) {
		return nil, nil //nolint:nilnil // A nil network is one.
	}
	n := &network{plan: plan, cancel: func() {}}
	if !proxy.IsNeeded(plan) {
		return n, nil
	}
	var err error
	n.gateway, err = proxy.Open(ctx, plan, proxy.Options{
		Addr: "127.0.0.1:3128", Bundle: bundlePath, HostEnv: o.HostEnv, Redacts: true, Resolver: o.Resolver, Denied: o.Denied,
	})
	if err != nil {
		return nil, err
	}
	if !n.gateway.IsProxied() {
		return n, nil
	}
	n.trust()
	n.listen = loopback.New()
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.cancel = cancel
	n.served.Go(func() {
		// Serve returns an error only when the listener ends, which close causes.
		_ = n.gateway.Serve(life, n.listen)
	})
	return n, nil
}

// trust loads the authorities that programs inside trust if TLS is inspected.
func (n *network) trust() {
	for _, f := range n.gateway.Files {
		if f.Path == bundlePath {
			n.roots = sync.OnceValues(func() (*x509.CertPool, error) {
				pool := x509.NewCertPool()
				if !pool.AppendCertsFromPEM(f.Data) {
					return nil, errors.New("the gateway's file contains no certificate")
				}
				return pool, nil
			})
		}
	}
}

// commands returns the programs that reach the network; none if the policy allows no connection.
func (n *network) commands() []shell.Command {
	if n == nil {
		return nil
	}
	var way curl.Way
	switch {
	case n.plan.Network.Mode == sandbox.NetworkHost:
		way.Dial = dialHost
	case n.listen != nil:
		way = curl.Way{Dial: n.dial, Proxied: true, Roots: n.roots}
	default:
		return nil
	}
	return []shell.Command{curl.Command(way), curl.Wget(way)}
}

// dialHost connects without a proxy, for the host's network, which refuses nothing.
func dialHost(ctx context.Context, host string, port uint16) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
}

// dial connects to the proxy, whatever the address is.
func (n *network) dial(ctx context.Context, _ string, _ uint16) (net.Conn, error) {
	return n.listen.Dial(ctx)
}

// environ returns the environment of commands: env with placeholders for secrets, and without variables that hold a secret's
// value. It lacks the variables that configure a proxy: the programs in memory connect to it directly.
func (n *network) environ(env []string) []string {
	if n == nil || n.gateway == nil {
		return env
	}
	secret := map[string]bool{}
	for _, s := range n.plan.Secrets {
		secret[s.Env] = true
	}
	ours := map[string]bool{}
	for _, kv := range n.gateway.Env {
		name, _, _ := strings.Cut(kv, "=")
		ours[name] = !secret[name]
	}
	var out []string
	for _, kv := range n.gateway.Environ(env) {
		if name, _, _ := strings.Cut(kv, "="); !ours[name] {
			out = append(out, kv)
		}
	}
	return out
}

// files returns replacements for files that hold secrets.
func (n *network) files() []proxy.File {
	if n == nil || n.gateway == nil {
		return nil
	}
	var out []proxy.File
	for _, f := range n.gateway.Files {
		if path.Dir(f.Path) != path.Dir(bundlePath) { // the file of authorities, and the same for Java
			out = append(out, f)
		}
	}
	return out
}

// dropped returns the variables that the environment lacks because they hold a secret.
func (n *network) dropped() []policy.Dropped {
	if n == nil || n.gateway == nil {
		return nil
	}
	return n.gateway.Dropped
}

// close ends all connections and waits for that. It may be called more than once.
func (n *network) close() {
	if n == nil {
		return
	}
	n.cancel()
	n.served.Wait()
}
