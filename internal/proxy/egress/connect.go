package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// answerer answers a client's request for a tunnel, with one call of one method.
type answerer interface {
	accept() bool
	refuse(d *denial)
	fail(err error)
}

// serveConnect answers CONNECT, RFC 9110 §9.3.6.
func (c *client) serveConnect(ctx context.Context, h *head, within *origin) {
	if within != nil {
		c.refuse(h, newMalformed(0, "CONNECT inside a tunnel"))
		return
	}
	host, port, err := hosts.ParseHostPort(h.target, 0)
	if err != nil {
		c.refuse(h, newMalformed(0, "%v", err))
		return
	}
	if h.length != 0 {
		c.refuse(h, newMalformed(0, "CONNECT with a body"))
		return
	}
	if err := h.sameHost(origin{host: host, port: port}); err != nil {
		c.refuseError(h, err)
		return
	}
	c.tunnel(ctx, host, port, connectAnswer{c, h})
}

type connectAnswer struct {
	c *client
	h *head
}

func (a connectAnswer) accept() bool     { return a.c.write("HTTP/1.1 200 Connection established\r\n\r\n") }
func (a connectAnswer) refuse(d *denial) { a.c.refuse(a.h, d) }
func (a connectAnswer) fail(err error)   { a.c.refuseError(a.h, err) }

// tunnel connects the client with host and port and enforces the rules for the protocol in the
// tunnel.
func (c *client) tunnel(ctx context.Context, host hosts.Host, port uint16, a answerer) {
	p := c.proxy
	if v := p.rules.Check(host, port); !v.Allowed {
		a.refuse(deny(KindHost, host, port, v))
		return
	}
	may := p.rules.TunnelProtocols(host, port)
	may.HTTP = may.HTTP || (p.secrets.isBound(origin{host, port, false}) && !may.Raw)
	inspect := p.isInspected(host, port)
	// For plain HTTP and inspected TLS, accept the tunnel first: refusals are sent in it, and the
	// proxy dials the server when it has the request.
	if !may.Raw && (inspect || may.HTTP) {
		if a.accept() {
			c.listenFirst(ctx, host, port, may, inspect, nil)
		}
		return
	}
	server, err := c.dial(ctx, host, port)
	if err != nil {
		c.refuseDial(a, origin{host: host, port: port}, err)
		return
	}
	defer server.Close()
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if !a.accept() {
		return
	}
	switch {
	case may.Raw:
		c.pass(server)
	case may.Other:
		c.passChecked(host, port, may, server)
	default:
		c.listenFirst(ctx, host, port, may, inspect, server)
	}
}

func (c *client) refuseDial(a answerer, o origin, err error) {
	err = dialError(o, err)
	if d, ok := errors.AsType[*denial](err); ok {
		a.refuse(d)
		return
	}
	a.fail(err)
}

// listenFirst waits for the client's first bytes and chooses the protocol by them. server is nil if
// it has not been dialed yet.
func (c *client) listenFirst(ctx context.Context, host hosts.Host, port uint16, may hosts.Protocols, inspect bool, server net.Conn) {
	_ = c.conn.SetReadDeadline(time.Now().Add(c.proxy.options.HeaderTimeout))
	first, err := c.br.Peek(1)
	if err != nil {
		return
	}
	var sent []byte
	switch {
	case first[0] == recordHandshake && may.TLS:
		hello, err := c.hello(host, port)
		if err != nil {
			c.refuseHello(err)
			return
		}
		if inspect {
			c.inspect(ctx, origin{host, port, true}, hello)
			return
		}
		sent = hello
	case isToken(first[0]) && may.HTTP:
		c.serveHTTP(ctx, &origin{host, port, false})
		return
	case !may.Other:
		c.proxy.report(deny(KindSNI, host, port, hosts.Verdict{
			Reason: "what was sent is not what the rules let be spoken on this port", Allow: "tcp://" + host.Join(port),
		}))
		return
	}
	if server == nil {
		if server, err = c.dial(ctx, host, port); err != nil {
			if d, ok := errors.AsType[*denial](err); ok {
				c.proxy.report(d)
			}
			return
		}
		defer server.Close()
		stop := context.AfterFunc(ctx, func() { _ = server.Close() })
		defer stop()
	}
	if _, err := server.Write(sent); err == nil {
		c.pass(server)
	}
}

// isToken reports whether a request line may begin with b.
func isToken(b byte) bool { return 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z' }

// hello reads a ClientHello that is for host; the error is a *denial or one of reading.
func (c *client) hello(host hosts.Host, port uint16) ([]byte, error) {
	hello, raw, err := readHello(c.br)
	if err != nil {
		if isRead(err) {
			return nil, err
		}
		return nil, deny(KindSNI, host, port, hosts.Verdict{Reason: err.Error()})
	}
	name, err := serverName(hello)
	if err != nil {
		return nil, deny(KindSNI, host, port, hosts.Verdict{Reason: err.Error()})
	}
	if name == "" {
		if host.IsAddr() {
			return raw, nil
		}
		return nil, deny(KindSNI, host, port, hosts.Verdict{Reason: "the TLS ClientHello has no server name"})
	}
	if h, err := hosts.ParseHost(name); err != nil || h != host || h.IsAddr() || !hosts.IsASCII(name) {
		return nil, deny(KindSNI, host, port, hosts.Verdict{
			Reason: "the TLS server name " + hosts.Quote(name) + " is not the host that was asked for",
		})
	}
	return raw, nil
}

func isRead(err error) bool {
	var n net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &n)
}

// refuseHello ends a TLS handshake with an alert.
func (c *client) refuseHello(err error) {
	if d, ok := errors.AsType[*denial](err); ok {
		c.proxy.report(d)
		if c.write(string(tlsAlert(alertUnknown))) {
			c.linger()
		}
	}
}

// pass relays without inspection. It first sends the bytes that were read ahead, and then copies
// between the plain connections, so that the kernel can do it.
func (c *client) pass(server net.Conn) {
	if c.flush(server) {
		relay(c.conn, server, c.proxy.options.IdleTimeout)
	}
}

func (c *client) flush(server net.Conn) bool {
	ahead, err := c.br.Peek(c.br.Buffered())
	if err != nil {
		return false
	}
	_ = server.SetWriteDeadline(time.Now().Add(c.proxy.options.IdleTimeout))
	_, err = server.Write(ahead)
	return err == nil
}

// passChecked relays on ports where the server may send first: it relays at once, but holds the
// client's first bytes until it has checked whether they are TLS for this host.
func (c *client) passChecked(host hosts.Host, port uint16, may hosts.Protocols, server net.Conn) {
	idle := c.proxy.options.IdleTimeout
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	var both sync.WaitGroup
	both.Go(func() { oneWay(c.conn, server, idle, &last) })
	defer both.Wait()
	_ = c.conn.SetReadDeadline(time.Now().Add(idle))
	first, err := c.br.Peek(1)
	if err == nil && first[0] == recordHandshake {
		_ = c.conn.SetReadDeadline(time.Now().Add(c.proxy.options.HeaderTimeout))
		if first, err = c.br.Peek(2); err == nil && first[1] == 3 {
			err = c.passHello(host, port, may, server)
		}
	}
	if err != nil && !errors.Is(err, io.EOF) || !c.flush(server) {
		_ = server.Close()
		_ = c.conn.Close()
		return
	}
	oneWay(server, c.conn, idle, &last)
}

func (c *client) passHello(host hosts.Host, port uint16, may hosts.Protocols, server net.Conn) error {
	hello, err := c.hello(host, port)
	if err == nil && !may.TLS {
		err = deny(KindSNI, host, port, hosts.Verdict{Reason: "the rules do not let TLS be spoken on this port"})
	}
	if err != nil {
		if d, ok := errors.AsType[*denial](err); ok {
			c.proxy.report(d)
		}
		return err
	}
	_, err = server.Write(hello)
	return err
}
