package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

const (
	dialTimeout    = 30 * time.Second       // name, connection and upstream proxy together
	attemptTimeout = 10 * time.Second       // one address
	attemptDelay   = 250 * time.Millisecond // RFC 8305 §5
	maxAttempts    = 8
)

// dialer connects to hosts that the rules allow, at addresses that it has checked.
type dialer struct {
	upstream *url.URL // nil: none
	rules    *hosts.Rules
	resolver *net.Resolver
	// connect makes one TCP connection; the address is always a literal.
	connect func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
}

func connectTCP(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: attemptTimeout}
	return d.DialContext(ctx, "tcp", addr.String())
}

// dial resolves host once and connects to one of the addresses that were checked, so
// that a name which resolves differently the next time gains nothing. A refusal is a
// *denial.
func (d *dialer) dial(ctx context.Context, host hosts.Host, port uint16) (net.Conn, error) {
	// The caller has already checked the host; a second check costs little, and the fuzz
	// test relies on it.
	if v := d.rules.Check(host, port); !v.Allowed {
		return nil, deny(KindHost, host, port, v)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if up := d.upstream; up != nil {
		if host.IsAddr() {
			if _, err := d.checked(host, port, []netip.Addr{host.Addr()}); err != nil {
				return nil, err
			}
		}
		return dialUpstream(ctx, up, host, port)
	}
	found := []netip.Addr{host.Addr()}
	if !host.IsAddr() {
		var err error
		if found, err = d.lookup(ctx, host.Name()); err != nil {
			return nil, err
		}
	}
	addrs, err := d.checked(host, port, found)
	if err != nil {
		return nil, err
	}
	return d.race(ctx, addrs, port)
}

func (d *dialer) lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if strings.Contains(name, ".") {
		name += "." // no search domains: the rule named this host and no other
	}
	return d.resolver.LookupNetIP(ctx, "ip", name)
}

// checked returns the addresses to which the rules allow connections; a *denial if there
// are none.
func (d *dialer) checked(host hosts.Host, port uint16, found []netip.Addr) ([]netip.Addr, error) {
	own, err := ownAddrs()
	if err != nil {
		return nil, err
	}
	var good []netip.Addr
	var bad *denial
	for _, a := range found {
		a = a.Unmap()
		if v := d.rules.CheckAddr(host, a, port, own); v.Allowed {
			good = append(good, a)
		} else if bad == nil {
			bad = deny(KindAddress, host, port, v)
		}
	}
	switch {
	case len(good) > 0:
		return good, nil
	case bad != nil:
		return nil, bad
	}
	return nil, errors.New("the name has no addresses")
}

// ownAddrs is called for every connection, because interfaces change.
func ownAddrs() (func(netip.Addr) bool, error) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	own := make(map[netip.Addr]bool, len(list))
	for _, a := range list {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			own[p.Addr().Unmap().WithZone("")] = true
		}
	}
	return func(a netip.Addr) bool {
		if own[a] {
			return true
		}
		for _, v4 := range hosts.EmbeddedIPv4(a) {
			if own[v4] {
				return true
			}
		}
		return false
	}, nil
}

// race connects as RFC 8305 describes: it alternates the families, IPv6 first, and gives
// each attempt a head start. It returns the first connection and closes the others.
func (d *dialer) race(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	addrs = interleave(addrs)
	if len(addrs) > maxAttempts {
		addrs = addrs[:maxAttempts]
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result)
	pending := 0
	start := func() {
		a := netip.AddrPortFrom(addrs[0], port)
		addrs = addrs[1:]
		pending++
		go func() {
			c, err := d.connect(ctx, a)
			results <- result{c, err}
		}()
	}
	start()
	timer := time.NewTimer(attemptDelay)
	defer timer.Stop()
	var won net.Conn
	var errs []error
	for pending > 0 {
		select {
		case r := <-results:
			pending--
			switch {
			case r.err != nil:
				errs = append(errs, r.err)
				if won == nil && len(addrs) > 0 && ctx.Err() == nil {
					start()
					timer.Reset(attemptDelay)
				}
			case won != nil:
				_ = r.conn.Close()
			default:
				won = r.conn
				cancel()
			}
		case <-timer.C:
			if won == nil && len(addrs) > 0 && ctx.Err() == nil {
				start()
				timer.Reset(attemptDelay)
			}
		}
	}
	if won != nil {
		return won, nil
	}
	return nil, errors.Join(errs...)
}

func interleave(addrs []netip.Addr) []netip.Addr {
	var six, four, out []netip.Addr
	for _, a := range addrs {
		if a.Is6() {
			six = append(six, a)
		} else {
			four = append(four, a)
		}
	}
	for len(six)+len(four) > 0 {
		if len(six) > 0 {
			out, six = append(out, six[0]), six[1:]
		}
		if len(four) > 0 {
			out, four = append(out, four[0]), four[1:]
		}
	}
	return out
}
