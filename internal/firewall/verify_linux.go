package firewall

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

const (
	refuseWait = 3 * time.Second // time to wait for the answer to a packet that the filter should refuse
	reachWait  = 10 * time.Second
)

// readBack compares what the kernel has with what was written.
func (t *table) readBack() error {
	for _, c := range t.chains {
		got, err := t.conn.ListChain(c.Table, c.Name)
		if err != nil {
			return fmt.Errorf("chain %s: %w", c.Name, err)
		}
		if got.Policy == nil || *got.Policy != nftables.ChainPolicyDrop || got.Hooknum == nil || *got.Hooknum != *c.Hooknum {
			return fmt.Errorf("chain %s is not closed", c.Name)
		}
		rules, err := t.conn.GetRules(c.Table, c.Chain)
		if err != nil {
			return fmt.Errorf("chain %s: %w", c.Name, err)
		}
		if len(rules) != c.rules {
			return fmt.Errorf("chain %s has %d rules instead of %d", c.Name, len(rules), c.rules)
		}
	}
	for _, s := range t.sets {
		got, err := t.conn.GetSetElements(s.Set)
		if err != nil {
			return fmt.Errorf("set %s: %w", s.Name, err)
		}
		// The kernel adds an end in front of the first interval.
		if n := len(got); n != s.elements && n != s.elements+1 {
			return fmt.Errorf("set %s has %d elements instead of %d", s.Name, n, s.elements)
		}
	}
	return nil
}

// count returns the number of outgoing packets that the filter refused.
func (t *table) count() (uint64, error) {
	var n uint64
	for _, c := range t.chains {
		if c.Name != "output" {
			continue
		}
		rules, err := t.conn.GetRules(c.Table, c.Chain)
		if err != nil {
			return 0, err
		}
		for _, r := range rules {
			for _, e := range r.Exprs {
				if counter, ok := e.(*expr.Counter); ok {
					n += counter.Packets
				}
			}
		}
	}
	return n, nil
}

// prove tries, from inside, connections that must fail and connections that must work.
func (t *table) prove(ctx context.Context, r Rules, open []opening) (probes int, err error) {
	if err := t.readBack(); err != nil {
		return 0, err
	}
	for _, p := range listProbes(open) {
		if err := ctx.Err(); err != nil {
			return probes, err
		}
		if err := t.refuses(ctx, p); err != nil {
			return probes, err
		}
		probes++
	}
	for _, a := range r.Refuse {
		if err := sendProbe(ctx, unix.SOCK_STREAM, a, refuseWait); err == nil {
			return probes, fmt.Errorf("%s must not be reached, but is", a)
		}
		probes++
	}
	for _, a := range r.Reach {
		if err := sendProbe(ctx, unix.SOCK_STREAM, a, reachWait); err != nil {
			return probes, fmt.Errorf("%s must be reached: %w", a, err)
		}
	}
	return probes, ctx.Err()
}

// probe is one attempt to leave.
type probe struct {
	kind int // SOCK_STREAM or SOCK_DGRAM
	to   netip.AddrPort
}

// listProbes returns probes of reserved addresses (RFC 5737, RFC 3849), of the engine's
// resolver and of a cloud's metadata service, except those that the rules open.
func listProbes(open []opening) []probe {
	var out []probe
	for _, p := range []probe{
		{unix.SOCK_STREAM, netip.MustParseAddrPort("203.0.113.77:443")},
		{unix.SOCK_STREAM, netip.MustParseAddrPort("198.51.100.77:22")},
		{unix.SOCK_DGRAM, netip.MustParseAddrPort("203.0.113.77:53")},
		{unix.SOCK_DGRAM, netip.MustParseAddrPort("127.0.0.11:53")},
		{unix.SOCK_STREAM, netip.MustParseAddrPort("169.254.169.254:80")},
		{unix.SOCK_STREAM, netip.MustParseAddrPort("[2001:db8::77]:443")},
		{unix.SOCK_DGRAM, netip.MustParseAddrPort("[2001:db8::77]:53")},
	} {
		if p.kind == unix.SOCK_DGRAM || !isCovered(open, p.to.Addr()) {
			out = append(out, p)
		}
	}
	return out
}

// refuses makes one attempt, which must fail. If there is a route, the filter must have
// counted the attempt.
func (t *table) refuses(ctx context.Context, p probe) error {
	before, err := t.count()
	if err != nil {
		return err
	}
	err = sendProbe(ctx, p.kind, p.to, refuseWait)
	switch {
	case err == nil:
		return fmt.Errorf("%s was reached", p.to)
	case errors.Is(err, unix.ENETUNREACH), errors.Is(err, unix.EADDRNOTAVAIL), errors.Is(err, unix.EAFNOSUPPORT):
		return nil
	}
	after, err := t.count()
	if err != nil {
		return err
	}
	if after == before {
		return fmt.Errorf("a packet to %s was not refused by the filter", p.to)
	}
	return nil
}

// sendProbe connects, or sends one datagram, from the namespace of the thread; nil means that
// it went out.
func sendProbe(ctx context.Context, kind int, to netip.AddrPort, wait time.Duration) error {
	domain, sa := socketAddress(to)
	fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	if kind == unix.SOCK_DGRAM {
		return unix.Sendto(fd, []byte{0}, 0, sa)
	}
	err = unix.Connect(fd, sa)
	if !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := awaitConnect(ctx, fd); err != nil {
		return err
	}
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	return err
}

func socketAddress(to netip.AddrPort) (domain int, sa unix.Sockaddr) {
	if a := to.Addr().Unmap(); a.Is4() {
		return unix.AF_INET, &unix.SockaddrInet4{Port: int(to.Port()), Addr: a.As4()}
	}
	return unix.AF_INET6, &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
}

// awaitConnect waits until a connection is established or has failed, or the context
// ends.
func awaitConnect(ctx context.Context, fd int) error {
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(wake) }()
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		_, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	})
	defer func() {
		if !stop() {
			<-woken // it must not write to a descriptor that was opened by another goroutine
		}
	}()
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}, {Fd: int32(wake), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if fds[0].Revents != 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
