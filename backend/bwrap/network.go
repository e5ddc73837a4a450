//go:build linux

package bwrap

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// network connects a command, whose network namespace has only loopback, to the proxy and to
// published ports. The guest creates the sockets inside and passes them to this process before
// the command starts, so no process inside forwards anything, and the sockets end with this
// process. A nil network is valid and does nothing.
type network struct {
	gateway *proxy.Gateway
	proxy   *guestnet.ProxyLink // nil: no allow-list
	inward  *guestnet.PortLink  // nil: nothing is published
	ports   *proxy.Ports
	cookie  atomic.Uint64 // of the network; 0: not known
	child   []*os.File    // inherited by the guest, in the order of options
	options []string      // of the guest's init, each followed by the number of its descriptor

	cancel context.CancelFunc
	served sync.WaitGroup
}

// openNetwork creates what the plan needs, nil if it needs nothing. The caller closes it.
func (i *instance) openNetwork(ctx context.Context, plan *policy.Plan) (n *network, err error) {
	if !proxy.IsNeeded(plan) {
		return nil, nil //nolint:nilnil // a nil network is valid
	}
	n = &network{cancel: func() {}}
	defer func() {
		if err != nil {
			n.close()
			n = nil
		}
	}()
	if err = checkPublish(plan); err != nil {
		return n, err
	}
	// Before the gateway, which may ask the user for a passphrase: a port may be in use.
	if n.ports, err = proxy.Publish(ctx, plan); err != nil {
		return n, err
	}
	n.gateway, err = proxy.Open(ctx, plan, proxy.Options{
		Addr: guestnet.ProxyAddr, Bundle: filepath.Join(layout.Root, "authorities.pem"),
		HostEnv: i.spec.Env, Redacts: true, HostRoot: true, Redirect: true, Denied: i.driver.options.Denied,
	})
	if err != nil {
		return n, err
	}
	for _, x := range n.gateway.Dropped {
		i.driver.options.Trace("env", x.Name+" is left out: "+x.Why)
	}
	var child *os.File
	if n.gateway.IsProxied() {
		if n.proxy, child, err = guestnet.NewProxyLink(); err != nil {
			return n, err
		}
		n.inherit("--net", child)
	}
	if len(plan.Publish) > 0 {
		if n.inward, child, err = guestnet.NewPortLink(); err != nil {
			return n, err
		}
		n.inherit("--ports", child)
	}
	return n, nil
}

// startOffline is Start without an allow-list, secrets, published ports and the agents, for file operations:
// they must not ask the user for a passphrase, and only one process can publish a port.
func (i *instance) startOffline(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	return i.startWith(ctx, cmd, stdio, func(plan *policy.Plan) *policy.Plan {
		off := plan.WithoutAgents()
		if proxy.IsNeeded(plan) {
			off.Network, off.Secrets, off.Publish = sandbox.Network{Mode: sandbox.NetworkNone}, nil, nil
		}
		return off
	})
}

// checkPublish rejects the proxy's port: every user of the host could reach the allowed hosts
// through it.
func checkPublish(plan *policy.Plan) error {
	for _, p := range plan.Publish {
		if p.Port == guestnet.ProxyPort {
			return sandbox.Errorf(sandbox.Invalid, "port %d inside belongs to the sandbox's proxy and cannot be published", p.Port).
				WithHint("let the server inside listen on another port")
		}
	}
	return nil
}

func (n *network) inherit(option string, child *os.File) {
	n.options, n.child = append(n.options, option), append(n.child, child)
}

// environment returns env with the variables of the gateway.
func (n *network) environment(env []string) []string {
	if n == nil {
		return env
	}
	return n.gateway.Environ(env)
}

// files returns the files that commands see instead of those of the host.
func (n *network) files() []proxy.File {
	if n == nil {
		return nil
	}
	return n.gateway.Files
}

// redirection redirects connections to other addresses to the proxy; nil without one.
func (n *network) redirection() *guard.Redirection {
	if n == nil || n.proxy == nil {
		return nil
	}
	return &guard.Redirection{
		Proxy: netip.MustParseAddrPort(guestnet.ProxyAddr), Network: n.cookie.Load,
		Permit: func(to netip.AddrPort) (func(uint16) func(), error) {
			expect, err := n.gateway.Redirect(to)
			if err != nil {
				err = unix.ENETUNREACH // as without a proxy
			}
			return expect, err
		},
	}
}

// name returns a refusal with the name of a host instead of the address that stands for it inside.
func (n *network) name(f guard.Refusal) guard.Refusal {
	if f.Kind != guard.RefusedAddress || n == nil || n.proxy == nil {
		return f
	}
	if to, err := netip.ParseAddrPort(f.Target); err == nil {
		if name, ok := n.gateway.NameOf(to.Addr()); ok {
			f.Target = net.JoinHostPort(name, strconv.Itoa(int(to.Port())))
		}
	}
	return f
}

// networkCookie returns the cookie of a listener's network; 0: the kernel does not tell (before Linux 5.14).
func networkCookie(l net.Listener) (cookie uint64) {
	s, ok := l.(syscall.Conn)
	if !ok {
		return 0
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return 0
	}
	err = raw.Control(func(fd uintptr) { cookie, _ = unix.GetsockoptUint64(int(fd), unix.SOL_SOCKET, unix.SO_NETNS_COOKIE) })
	if err != nil {
		return 0
	}
	return cookie
}

// init returns the guest's options; first is the number of the first descriptor of child.
func (n *network) init(first int) []string {
	if n == nil {
		return nil
	}
	var out []string
	for i, option := range n.options {
		out = append(out, option, strconv.Itoa(first+i))
	}
	return out
}

// inherited returns the guest's descriptors, in the order of init.
func (n *network) inherited() []*os.File {
	if n == nil {
		return nil
	}
	return n.child
}

// closeChildEnds closes the descriptors that only the guest needs.
func (n *network) closeChildEnds() {
	if n != nil {
		closeAll(n.child)
		n.child = nil
	}
}

// serve starts goroutines that serve until close. It calls failed if the network cannot be
// created before the command starts, or ends early.
func (n *network) serve(ctx context.Context, failed func(error)) {
	if n == nil {
		return
	}
	ctx, n.cancel = context.WithCancel(ctx)
	if n.proxy != nil {
		n.served.Go(func() {
			if err := n.serveProxy(ctx); err != nil && ctx.Err() == nil {
				failed(sandbox.Errorf(sandbox.Unavailable, "the network of the sandbox: %w", err))
			}
		})
	}
	if n.inward != nil {
		n.served.Go(func() {
			if err := n.ports.Serve(ctx, n.inward.Dial); err != nil {
				failed(err)
			}
		})
	}
}

func (n *network) serveProxy(ctx context.Context) error {
	l, err := n.proxy.Listener(ctx)
	if err != nil {
		return err
	}
	n.cookie.Store(networkCookie(l))
	// From now on the kernel queues connections, so the command may start.
	if err := n.proxy.Confirm(ctx); err != nil {
		_ = l.Close()
		return err
	}
	return n.gateway.Serve(ctx, l)
}

// close ends all connections and goroutines and waits for them.
func (n *network) close() {
	if n == nil {
		return
	}
	n.cancel()
	n.closeChildEnds()
	if n.ports != nil {
		n.ports.Close()
	}
	if n.proxy != nil {
		_ = n.proxy.Close()
	}
	if n.inward != nil {
		_ = n.inward.Close()
	}
	n.served.Wait()
}
