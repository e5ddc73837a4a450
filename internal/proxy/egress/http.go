package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// overrides are fields by which some servers take another method or path than the
// request line's.
var overrides = []string{
	"X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Original-Url", "X-Rewrite-Url", "X-Original-Uri",
}

// serveHTTP answers requests until the connection ends. within is the server at the other end
// of the tunnel; nil: the requests are for the proxy.
func (c *client) serveHTTP(ctx context.Context, within *origin) {
	for {
		_ = c.conn.SetReadDeadline(time.Now().Add(c.proxy.options.HeaderTimeout))
		h, err := readHead(c.br)
		if err != nil {
			c.refuseError(h, err)
			return
		}
		if within == nil && !c.authorized(h.header["Proxy-Authorization"]) {
			c.demandToken()
			return
		}
		if h.method == http.MethodConnect {
			c.serveConnect(ctx, h, within)
			return
		}
		if !c.forward(ctx, h, within) {
			return
		}
		_ = c.conn.SetReadDeadline(time.Now().Add(keepAlive))
		if _, err := c.br.Peek(1); err != nil {
			return
		}
	}
}

// forward forwards one request and reports whether another one may follow.
func (c *client) forward(ctx context.Context, h *head, within *origin) bool {
	t, err := h.resolve(within)
	if err != nil {
		c.refuseError(h, err)
		return false
	}
	if d := c.mayRequest(h, t); d != nil {
		c.refuse(h, d)
		return false
	}
	expect := tokens(h.header, "Expect")
	upgrade := wantsWebSocket(h)
	keep := h.isPersistent()
	stripHops(h.header)
	if d := c.proxy.secrets.apply(h.method, h.header, t); d != nil {
		c.refuse(h, d)
		return false
	}
	if len(expect) > 0 {
		if len(expect) > 1 || expect[0] != "100-continue" {
			c.refuse(h, newMalformed(http.StatusExpectationFailed, "the only expectation known here is 100-continue"))
			return false
		}
		if h.length != 0 && !h.http10 && !c.write("HTTP/1.1 100 Continue\r\n\r\n") {
			return false
		}
	}
	if upgrade {
		h.header.Set("Connection", "Upgrade")
		h.header.Set("Upgrade", "websocket")
	}
	b := newBody(c, h, c.proxy.secrets.scanner(t.origin))
	res, err := c.roundTrip(ctx, h, t, b)
	if b != nil {
		if d := b.refused.Load(); d != nil {
			if err == nil {
				_ = res.Body.Close()
			}
			c.refuse(h, d)
			return false
		}
	}
	if err != nil {
		c.refuseError(h, dialError(t.origin, err))
		return false
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusSwitchingProtocols {
		c.switchProtocols(ctx, res, upgrade)
		return false
	}
	ok := c.respond(h, res, keep)
	return ok && keep && (b == nil || b.done.Load())
}

// mayRequest returns a *denial unless the rules allow the request.
func (c *client) mayRequest(h *head, t target) *denial {
	rules := c.proxy.rules
	if v := rules.Check(t.host, t.port); !v.Allowed {
		return deny(KindHost, t.host, t.port, v)
	}
	q := hosts.Request{Host: t.host, Port: t.port, TLS: t.tls, Method: h.method, Path: t.path}
	v, requestRules := rules.DecideRequest(q)
	if !v.Allowed {
		return deny(KindMethod, t.host, t.port, v)
	}
	// TRACE sends a request's header back, with the inserted secrets.
	if m := strings.ToUpper(h.method); m == http.MethodTrace || m == "TRACK" {
		return deny(KindMethod, t.host, t.port, hosts.Verdict{Reason: "the method " + m + " is never passed on"})
	}
	if requestRules {
		for _, name := range overrides {
			if _, ok := h.header[name]; ok {
				return deny(KindMethod, t.host, t.port, hosts.Verdict{Reason: "the field " + name + " is not passed on to a host with rules for methods or paths"})
			}
		}
	}
	return nil
}

// roundTrip sends the parsed request, whose text may differ from the client's.
func (s *session) roundTrip(ctx context.Context, h *head, t target, b *body) (*http.Response, error) {
	req := (&http.Request{
		Method: h.method, URL: t.url(), Host: t.authority(), Header: h.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if b != nil {
		req.Body, req.ContentLength = b, h.length
	}
	if _, ok := h.header["User-Agent"]; !ok {
		h.header["User-Agent"] = []string{""} // keeps net/http from naming itself
	}
	return s.transport.RoundTrip(req)
}

// dialError converts an error of the transport to a refusal or a gateway error.
func dialError(o origin, err error) error {
	if d, ok := errors.AsType[*denial](err); ok {
		return d
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return &gatewayError{origin: o, err: err}
}

// gatewayError is a failure beyond the proxy. It is not a refusal and makes no event.
type gatewayError struct {
	origin

	err error
}

func (e *gatewayError) Error() string {
	var dns *net.DNSError
	if errors.As(e.err, &dns) && dns.IsNotFound {
		return "no such host: " + e.host.String()
	}
	return "cannot reach " + e.host.Join(e.port) + ": " + printable(e.err.Error())
}

func (e *gatewayError) Unwrap() error { return e.err }

func wantsWebSocket(h *head) bool {
	up := tokens(h.header, "Upgrade")
	return h.method == http.MethodGet && h.length == 0 && !h.http10 && len(up) == 1 && up[0] == "websocket" &&
		slices.Contains(tokens(h.header, "Connection"), "upgrade")
}

// switchProtocols relays a WebSocket. It disconnects a server that switches without a request
// or to another protocol, because some clients would read the following bytes as responses.
func (c *client) switchProtocols(ctx context.Context, res *http.Response, asked bool) {
	up := tokens(res.Header, "Upgrade")
	server, ok := res.Body.(io.ReadWriteCloser)
	if !asked || !ok || len(up) != 1 || up[0] != "websocket" {
		return
	}
	stripHops(res.Header)
	res.Header.Set("Connection", "Upgrade")
	res.Header.Set("Upgrade", "websocket")
	if !c.writeHead(res, "") {
		return
	}
	_ = c.conn.SetDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, idleReader{c})
		_ = server.Close()
	}()
	_, _ = io.Copy(struct{ io.Writer }{c}, server)
	_ = c.conn.Close()
	<-done
}

// idleReader reads from the client; each read waits at most the idle time.
type idleReader struct{ c *client }

// Read sets the deadline first.
func (r idleReader) Read(p []byte) (int, error) {
	_ = r.c.conn.SetReadDeadline(time.Now().Add(r.c.proxy.options.IdleTimeout))
	return r.c.br.Read(p)
}
