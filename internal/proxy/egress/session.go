package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// session is one call of Serve, with the connections that must end with it.
type session struct {
	proxy     *Proxy
	transport *http.Transport
	conns     sync.WaitGroup // of the transport
}

func (p *Proxy) newSession(ctx context.Context) *session {
	s := &session{proxy: p}
	s.transport = &http.Transport{
		Proxy: nil, DisableCompression: true, MaxIdleConns: 64, MaxIdleConnsPerHost: 8, IdleConnTimeout: keepAlive,
		TLSHandshakeTimeout: p.options.HeaderTimeout, MaxResponseHeaderBytes: 256 << 10,
		ResponseHeaderTimeout: p.options.IdleTimeout, ReadBufferSize: 32 << 10, WriteBufferSize: 8 << 10,
		// HTTP/2 would let one connection carry requests for several hosts.
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		DialContext: func(dctx context.Context, _, addr string) (net.Conn, error) {
			host, port, err := hosts.ParseHostPort(addr, 0)
			if err != nil {
				return nil, err
			}
			dctx, cancel := context.WithCancel(dctx)
			defer cancel()
			defer context.AfterFunc(ctx, cancel)()
			c, err := s.dial(dctx, host, port)
			if err != nil {
				return nil, err
			}
			return s.own(ctx, c), nil
		},
	}
	if p.authority != nil {
		s.transport.DialTLSContext = s.dialTLS
	}
	return s
}

// dialTLS connects the transport to a server whose TLS is inspected. It loads the
// authorities only here, because reading them takes longer than the rest of a start.
func (s *session) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	config, err := s.proxy.authority.upstream()
	if err != nil {
		return nil, err
	}
	config.ServerName = host
	conn, err := s.transport.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.proxy.options.HeaderTimeout)
	defer cancel()
	c := tls.Client(conn, config)
	if err := c.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

func (s *session) dial(ctx context.Context, host hosts.Host, port uint16) (net.Conn, error) {
	return s.proxy.dialer.dial(ctx, host, port)
}

// own adds a connection of the transport to the session: the end of ctx closes it, and
// the session waits for that.
func (s *session) own(ctx context.Context, c net.Conn) net.Conn {
	s.conns.Add(1)
	o := &ownedConn{Conn: c, idle: s.proxy.options.IdleTimeout, done: sync.OnceFunc(s.conns.Done)}
	stop := context.AfterFunc(ctx, func() { _ = o.Close() })
	o.stop.Store(&stop)
	return o
}

type ownedConn struct {
	net.Conn

	idle time.Duration
	stop atomic.Pointer[func() bool] // set after ctx may have ended already
	done func()
}

// Read waits at most the idle time.
func (c *ownedConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// Write waits at most the idle time.
func (c *ownedConn) Write(p []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// Close may be called more than once.
func (c *ownedConn) Close() error {
	defer c.done()
	if stop := c.stop.Load(); stop != nil {
		(*stop)()
	}
	return c.Conn.Close()
}

// client is one connection from inside.
type client struct {
	*session

	conn net.Conn
	br   *bufio.Reader
}

func (s *session) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	// A panic must end only this connection, not the network of the sandbox.
	defer func() {
		if v := recover(); v != nil {
			s.proxy.report(newMalformed(0, "a fault of the proxy: %v at %s", v, printable(string(debug.Stack()))))
		}
	}()
	s.handle(ctx, conn)
}

// handle detects the protocol and serves it.
func (s *session) handle(ctx context.Context, conn net.Conn) {
	c := &client{session: s, conn: conn, br: bufio.NewReader(conn)}
	if to, ok := s.proxy.transparent.take(conn.RemoteAddr()); ok {
		c.serveTransparent(ctx, to)
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(s.proxy.options.HeaderTimeout))
	first, err := c.br.Peek(1)
	switch {
	case err != nil:
	case first[0] == socksVersion:
		c.serveSOCKS(ctx)
	case isToken(first[0]):
		c.serveHTTP(ctx, nil)
	default:
		s.proxy.report(newMalformed(0, "neither HTTP nor SOCKS5 was spoken to the proxy"))
	}
}
