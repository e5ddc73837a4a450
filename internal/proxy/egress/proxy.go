package egress

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Defaults of [Options].
const (
	DefaultMaxConns      = 1024
	DefaultHeaderTimeout = 10 * time.Second
	DefaultIdleTimeout   = time.Hour
)

// keepAlive is the time for which a connection may wait for its next request.
const keepAlive = 90 * time.Second

// Options configure a [Proxy].
type Options struct {
	Rules   *hosts.Rules // required
	Secrets []Secret     // inserted into requests to the hosts to which they are bound

	// CA signs the proxy's certificates for inspected hosts; nil: no TLS is inspected. Rules that were compiled
	// as inspectable require it.
	CA *CA
	// Roots is PEM with authorities that upstream servers may use in addition to the system's; only for
	// inspected hosts.
	Roots []byte
	// Upstream is an HTTP proxy ("http://user:password@proxy:3128") for all connections, with CONNECT; nil:
	// none. That proxy resolves the names, so this proxy cannot check their addresses.
	Upstream *url.URL

	// Token is the password that a client must send with Proxy-Authorization (Basic) or SOCKS5, with any user
	// name; empty: none, for listeners that only the sandbox can reach.
	Token string
	// Resolver turns names into addresses; nil: net.DefaultResolver.
	Resolver *net.Resolver
	// Denied receives refusals, one at a time and at most some 20 a second; it must
	// return soon. nil: refusals are not reported.
	Denied func(Event)

	MaxConns      int           // connections at one time, others wait; 0: DefaultMaxConns
	HeaderTimeout time.Duration // for a request's header or a TLS ClientHello; 0: DefaultHeaderTimeout
	IdleTimeout   time.Duration // for a tunnel or body without traffic; 0: DefaultIdleTimeout
}

// Proxy enforces rules on the connections of its listeners. It is safe for concurrent use.
type Proxy struct {
	options   Options
	rules     *hosts.Rules
	secrets   secrets
	authority *authority // nil: no TLS is inspected
	dialer    dialer
	report    func(*denial)
	slots     chan struct{}
	token     [sha256.Size]byte

	transparent transparent
}

// New checks the options. Its errors have code Invalid, or Unsupported for a secret that cannot be inserted
// without a CA. They never contain a secret's value.
func New(o Options) (*Proxy, error) {
	if o.Rules == nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "the proxy has no rules")
	}
	if o.CA == nil && o.Rules.IsInspectable() {
		return nil, sandbox.Errorf(sandbox.Invalid, "the rules need a CA to inspect TLS with; the proxy has none")
	}
	if u := o.Upstream; u != nil && (u.Scheme != "http" || u.Hostname() == "") {
		return nil, sandbox.Errorf(sandbox.Invalid, "network.upstream: only http://HOST:PORT proxies are supported")
	}
	if o.MaxConns <= 0 {
		o.MaxConns = DefaultMaxConns
	}
	if o.HeaderTimeout <= 0 {
		o.HeaderTimeout = DefaultHeaderTimeout
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = DefaultIdleTimeout
	}
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	p := &Proxy{
		options: o, rules: o.Rules, slots: make(chan struct{}, o.MaxConns), token: sha256.Sum256([]byte(o.Token)),
		dialer: dialer{rules: o.Rules, upstream: o.Upstream, resolver: o.Resolver, connect: connectTCP},
		report: (&reporter{to: o.Denied}).report,
	}
	var err error
	if p.secrets, err = newSecrets(o.Secrets, o.CA != nil); err != nil {
		return nil, err
	}
	if ca := o.CA; ca != nil {
		if p.authority, err = newAuthority(*ca, o.Roots); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// isInspected reports whether the proxy inspects TLS to host and port.
func (p *Proxy) isInspected(host hosts.Host, port uint16) bool {
	return p.authority != nil && (p.rules.Inspects(host, port) || p.secrets.isBound(origin{host, port, true}))
}

// isValidToken compares the token in constant time.
func (p *Proxy) isValidToken(s string) bool {
	if p.options.Token == "" {
		return true
	}
	sum := sha256.Sum256([]byte(s))
	return subtle.ConstantTimeCompare(sum[:], p.token[:]) == 1
}

// Serve answers the connections of l until ctx ends, and closes l. It returns when all of its goroutines and
// connections have ended: nil if ctx ended, otherwise the error of l.
func (p *Proxy) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	s := p.newSession(ctx)
	var clients sync.WaitGroup
	defer func() {
		cancel()
		_ = l.Close()
		clients.Wait()
		s.transport.CloseIdleConnections()
		s.conns.Wait()
	}()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	for {
		// Waiting before Accept keeps further connections in the kernel's queue, where they use no memory of
		// this process.
		select {
		case p.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if err != nil {
			<-p.slots
			if ctx.Err() != nil {
				return nil
			}
			if RetryAccept(ctx, err) {
				continue
			}
			return sandbox.Errorf(sandbox.Internal, "the network of the sandbox has ended: %w", err)
		}
		clients.Go(func() {
			defer func() { <-p.slots }()
			s.serve(ctx, conn)
		})
	}
}

// authorized checks a Proxy-Authorization header.
func (c *client) authorized(values []string) bool {
	if c.proxy.options.Token == "" {
		return true
	}
	if len(values) != 1 {
		return false
	}
	kind, text, _ := strings.Cut(values[0], " ")
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || !strings.EqualFold(kind, "Basic") {
		return false
	}
	_, password, ok := strings.Cut(string(plain), ":")
	return ok && c.proxy.isValidToken(password)
}
