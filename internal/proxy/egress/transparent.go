package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/seed434b0696/agent-sandbox/internal/announced"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// Programs without proxy support look up a name and connect to its address. For them the proxy is transparent: it is the name server of
// the sandbox, which assigns each allowed name a stand-in address, and takes connections to such an address, or to any other
// one, from whoever redirects them ([Proxy.Redirect]). No packet leaves the sandbox, and the rules, the inspection of TLS and the
// secrets are those of the proxy.

// NameServer is the address of the sandbox's name server. It speaks DNS over TCP (RFC 7766).
var NameServer = netip.MustParseAddrPort("198.18.0.1:53")

// standIns are the addresses that are assigned to names: those for benchmarks (RFC 2544), which no host has.
var standIns = netip.MustParsePrefix("198.18.0.0/15")

// lastStandIn is the last of maxNames addresses after that of the name server.
var lastStandIn = netip.MustParseAddr("198.19.0.1")

const (
	maxNames   = 1 << 16 // names with an address; a further name takes that of the oldest
	maxQueries = 1000    // of a connection to the name server
	standInTTL = 300     // seconds; an address stays assigned until maxNames more names were asked for
)

// transparent is the state of a proxy for programs without proxy support.
type transparent struct {
	expected announced.Connections[netip.AddrPort] // to the proxy

	mu    sync.Mutex
	addrs map[string]netip.Addr // by name
	names map[netip.Addr]hosts.Host
	last  netip.Addr // the address that was given last
}

// address returns the stand-in address of a name, and assigns one if it has none.
func (t *transparent) address(host hosts.Host) netip.Addr {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, ok := t.addrs[host.Name()]; ok {
		return a
	}
	if t.addrs == nil {
		t.addrs, t.names, t.last = map[string]netip.Addr{}, map[netip.Addr]hosts.Host{}, NameServer.Addr()
	}
	if t.last == lastStandIn {
		t.last = NameServer.Addr()
	}
	t.last = t.last.Next()
	if oldest, ok := t.names[t.last]; ok {
		delete(t.addrs, oldest.Name())
	}
	t.addrs[host.Name()], t.names[t.last] = t.last, host
	return t.last
}

// host returns the name to which an address is assigned, or else the address.
func (t *transparent) host(addr netip.Addr) hosts.Host {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.names[addr]; ok {
		return h
	}
	return hosts.OfAddr(addr)
}

// NameOf returns the name to which a stand-in address is assigned.
func (p *Proxy) NameOf(addr netip.Addr) (name string, ok bool) {
	if host := p.transparent.host(addr.Unmap()); !host.IsAddr() {
		return host.Name(), true
	}
	return "", false
}

// Redirected is the remote address of a connection that was redirected to the proxy and was not announced: whoever passes on
// the connection states its destination.
type Redirected interface {
	net.Addr
	Destination() netip.AddrPort
}

// take returns where the connection from an address leads, if it was redirected.
func (t *transparent) take(addr net.Addr) (to netip.AddrPort, ok bool) {
	switch addr := addr.(type) {
	case *net.TCPAddr:
		return t.expected.Take(uint16(addr.Port))
	case Redirected:
		return addr.Destination(), true
	}
	return to, false
}

// ErrRefused means that no rule allows a connection; the refusal has been reported.
var ErrRefused = errors.New("no rule allows the connection")

// Redirect returns [ErrRefused] unless a program without proxy support may connect to an address. expect announces that connection: the
// next one to the proxy from a port of the sandbox's loopback. The proxy then speaks no protocol of its own on it. forget withdraws
// the announcement. Connections whose remote address is [Redirected] need none. All are safe for concurrent use.
func (p *Proxy) Redirect(to netip.AddrPort) (expect func(from uint16) (forget func()), err error) {
	to = unmapped(to)
	if to != NameServer {
		o := origin{host: p.transparent.host(to.Addr()), port: to.Port()}
		if v := p.rules.Check(o.host, o.port); !v.Allowed {
			if standIns.Contains(to.Addr()) && o.host.IsAddr() { // not assigned
				return nil, ErrRefused
			}
			p.report(deny(KindHost, o.host, o.port, v))
			return nil, ErrRefused
		}
	}
	return func(from uint16) func() { return p.transparent.expected.Expect(from, to) }, nil
}

func unmapped(to netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
}

// serveTransparent serves a connection that was redirected.
func (c *client) serveTransparent(ctx context.Context, to netip.AddrPort) {
	if to = unmapped(to); to == NameServer {
		c.serveNames()
		return
	}
	_ = c.conn.SetReadDeadline(time.Time{})
	c.tunnel(ctx, c.proxy.transparent.host(to.Addr()), to.Port(), transparentAnswer{c})
}

// transparentAnswer ends a connection that the program takes for one with the server.
type transparentAnswer struct{ c *client }

func (a transparentAnswer) accept() bool { return true }

func (a transparentAnswer) refuse(d *denial) {
	a.c.proxy.report(d)
	a.reset()
}

func (a transparentAnswer) fail(error) { a.reset() }

// reset ends the connection as a server that refuses it: the program gets ECONNRESET.
func (a transparentAnswer) reset() {
	switch conn := a.c.conn.(type) {
	case *net.TCPConn:
		_ = conn.SetLinger(0) // the next Close ends it in any case
	case interface{ Reset() }: // a stream of a session
		conn.Reset()
	}
}

// serveNames answers queries until the client ends the connection or makes none for some time.
func (c *client) serveNames() {
	for range maxQueries {
		_ = c.conn.SetReadDeadline(time.Now().Add(c.proxy.options.HeaderTimeout))
		var size [2]byte
		if _, err := io.ReadFull(c.br, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c.br, query); err != nil {
			return
		}
		answer, err := c.proxy.answerQuery(query)
		if err != nil || !c.write(string(binary.BigEndian.AppendUint16(nil, uint16(len(answer))))+string(answer)) {
			return
		}
	}
}

// answerQuery answers a DNS message (RFC 1035). Error: it is not a query.
func (p *Proxy) answerQuery(query []byte) ([]byte, error) {
	var parser dnsmessage.Parser
	asked, err := parser.Start(query)
	if err != nil || asked.Response {
		return nil, errors.New("not a query")
	}
	head := dnsmessage.Header{ID: asked.ID, Response: true, OpCode: asked.OpCode, Authoritative: true, RecursionDesired: asked.RecursionDesired, RecursionAvailable: true}
	questions, bad := parser.AllQuestions()
	var addr netip.Addr
	switch {
	case bad != nil || len(questions) != 1:
		head.RCode, questions = dnsmessage.RCodeFormatError, nil
	case asked.OpCode != 0 || questions[0].Class != dnsmessage.ClassINET:
		head.RCode = dnsmessage.RCodeNotImplemented
	default:
		addr, head.RCode = p.find(questions[0])
	}
	b := dnsmessage.NewBuilder(nil, head)
	err = b.StartQuestions()
	for _, q := range questions {
		err = errors.Join(err, b.Question(q))
	}
	err = errors.Join(err, b.StartAnswers())
	if err == nil && addr.IsValid() {
		q := questions[0]
		err = b.AResource(dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: standInTTL}, dnsmessage.AResource{A: addr.As4()})
	}
	if err != nil {
		return nil, err
	}
	return b.Finish()
}

// find returns the address for a question, if it asks for an IPv4 address of an allowed name. A name that no rule allows on any
// port does not exist.
func (p *Proxy) find(q dnsmessage.Question) (netip.Addr, dnsmessage.RCode) {
	host, err := hosts.ParseHost(strings.TrimSuffix(q.Name.String(), "."))
	if err != nil || host.IsAddr() {
		return netip.Addr{}, dnsmessage.RCodeNameError
	}
	if v, port := p.rules.CheckName(host); !v.Allowed {
		if slices.Contains([]dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA}, q.Type) && !strings.HasSuffix(host.Name(), ".arpa") {
			p.report(deny(KindHost, host, port, v))
		}
		return netip.Addr{}, dnsmessage.RCodeNameError
	}
	if q.Type != dnsmessage.TypeA {
		return netip.Addr{}, dnsmessage.RCodeSuccess
	}
	return p.transparent.address(host), dnsmessage.RCodeSuccess
}
