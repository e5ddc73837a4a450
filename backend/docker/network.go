package docker

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// bundlePath is the file of the authorities that commands trust when TLS is inspected.
const bundlePath = "/etc/ssl/agent-sandbox/authorities.pem"

// proxyRelay is the name of the guest's relay to the proxy.
const proxyRelay = "proxy"

// network connects a sandbox to the proxy and to published ports. The container itself has only loopback: the guest listens
// there for the proxy, and dials there for published ports. A nil network has neither.
type network struct {
	gateway *proxy.Gateway // nil: the plan needs none
	ports   *proxy.Ports
	failed  func(error)

	context context.Context //nolint:containedctx // ends with close
	cancel  context.CancelFunc
	served  sync.WaitGroup
}

// openNetwork creates what the plan needs, nil if it needs nothing. The caller closes it.
func (p *prepared) openNetwork(ctx context.Context) (n *network, err error) {
	proxied := proxy.IsNeeded(p.plan)
	if !proxied && len(p.plan.Publish) == 0 && len(p.spec.Firewall) == 0 {
		return nil, nil //nolint:nilnil // a nil network is valid
	}
	n = &network{failed: func(err error) { p.driver.options.Trace("network", err.Error()) }}
	n.context, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			n.close()
			n = nil
		}
	}()
	for _, port := range p.plan.Publish {
		if port.Port == guestnet.ProxyPort {
			return n, sandbox.Errorf(sandbox.Invalid, "port %d inside belongs to the sandbox's proxy and cannot be published", port.Port).
				WithHint("let the server inside listen on another port")
		}
	}
	// Before the gateway, which may ask the user for a passphrase: a port may be in use.
	if n.ports, err = proxy.Publish(ctx, p.plan); err != nil {
		return n, err
	}
	if !proxied {
		return n, nil
	}
	n.gateway, err = proxy.Open(ctx, p.plan, proxy.Options{
		Addr: guestnet.ProxyAddr, Bundle: bundlePath, HostEnv: p.spec.Env, Redirect: true, Denied: p.driver.options.Denied,
	})
	if err != nil {
		return n, err
	}
	for _, x := range n.gateway.Dropped {
		p.driver.options.Trace("env", x.Name+" is left out: "+x.Why)
	}
	return n, nil
}

// environ returns env with the variables of the gateway.
func (n *network) environ(env []string) []string {
	if n == nil || n.gateway == nil {
		return env
	}
	return n.gateway.Environ(env)
}

// files returns the files that commands see instead of those of the host.
func (n *network) files() []proxy.File {
	if n == nil || n.gateway == nil {
		return nil
	}
	return n.gateway.Files
}

// relays returns the addresses at which the guest listens.
func (n *network) relays() []session.Relay {
	if n == nil || n.gateway == nil || !n.gateway.IsProxied() {
		return nil
	}
	return []session.Relay{{Name: proxyRelay, Listen: guestnet.ProxyAddr}}
}

// redirect returns the relay to which connections of commands are redirected; empty: none are.
func (n *network) redirect() string {
	if len(n.relays()) == 0 {
		return ""
	}
	return proxyRelay
}

// run runs f in a goroutine whose context ends with close.
func (n *network) run(f func(ctx context.Context)) {
	n.served.Go(func() { f(n.context) })
}

// serve carries connections over the session until close.
func (n *network) serve(s *session.Connection) {
	if n == nil {
		return
	}
	ctx := n.context
	if n.gateway != nil && n.gateway.IsProxied() {
		l := s.Listener(proxyRelay)
		s.Permit(func(to netip.AddrPort) error {
			_, err := n.gateway.Redirect(to) // the guest states the destination of each connection, which needs no announcement
			return err
		})
		n.served.Go(func() {
			if err := n.gateway.Serve(ctx, l); err != nil && ctx.Err() == nil {
				n.failed(err)
			}
		})
	}
	n.served.Go(func() {
		err := n.ports.Serve(ctx, func(ctx context.Context, port uint16) (net.Conn, error) {
			return s.Dial(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
		})
		if err != nil {
			n.failed(err)
		}
	})
}

// close ends all connections and goroutines and waits for them.
func (n *network) close() {
	if n == nil {
		return
	}
	n.cancel()
	if n.ports != nil {
		n.ports.Close()
	}
	n.served.Wait()
}
