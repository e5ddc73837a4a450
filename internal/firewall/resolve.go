package firewall

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	lookupTimeout = 10 * time.Second
	lookups       = 8  // at once
	maxAddrs      = 64 // of one name; a resolver may be hostile
	linger        = time.Hour
)

// lookUp resolves all names concurrently; before is an earlier report.
func lookUp(ctx context.Context, r Rules, c compiled, before *Report) (Report, error) {
	report, err := lookUpNames(ctx, r, c, before)
	if err != nil || !c.github {
		return report, err
	}
	client, url := r.Client, r.MetaURL
	if client == nil {
		client = newPlainClient()
	}
	if url == "" {
		url = MetaURL
	}
	ranges, err := fetchRanges(ctx, client, url)
	if err == nil {
		err = checkRanges(c.rules, ranges)
	}
	switch {
	case err == nil:
		report.Ranges = ranges
	case ctx.Err() != nil:
		return report, ctx.Err()
	case r.RequireRanges:
		return report, sandbox.Errorf(sandbox.Unavailable, "GitHub's ranges: %w", err).
			WithHint("ask again later, or go without @github")
	default:
		report.Ranges = before.Ranges
		report.warn("GitHub's ranges are not known: %v", err)
	}
	return report, nil
}

// checkRanges returns Denied for a range that is not public.
func checkRanges(rules *hosts.Rules, ranges []netip.Prefix) error {
	for _, p := range ranges {
		if v := rules.CheckAddr(hosts.Host{}, p.Addr(), 443, nil); !v.Allowed {
			return sandbox.Errorf(sandbox.Denied, "range %s: %s", p, v.Reason)
		}
	}
	return nil
}

func lookUpNames(ctx context.Context, r Rules, c compiled, before *Report) (Report, error) {
	var report Report
	own, err := ownAddrs()
	if err != nil {
		return report, err
	}
	var names []string
	for _, e := range c.endpoints {
		if n := e.Host.Name(); n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	answers, errs := resolveNames(ctx, r.Resolver, names)
	if ctx.Err() != nil {
		return report, ctx.Err()
	}
	owner := map[netip.Addr]string{}
	for i, name := range names {
		h := Host{Name: name}
		old := before.host(name)
		if errs[i] != nil {
			// Keep the old addresses: a name may fail for minutes, while an agent runs for
			// hours.
			h.Addrs, h.Old = old.Addrs, dropExpired(old.Old)
			report.warn("%s has no address: %v", name, errs[i])
		} else {
			h.Addrs = filterPublic(&report, c, name, answers[i], own)
			h.Old = keepOld(old, h.Addrs)
		}
		for _, a := range h.Addrs {
			if other, ok := owner[a]; ok {
				report.warn("%s has the address of %s: %s", name, other, a)
				continue
			}
			owner[a] = name
		}
		report.Hosts = append(report.Hosts, h)
	}
	return report, nil
}

func resolveNames(ctx context.Context, resolver *net.Resolver, names []string) ([][]netip.Addr, []error) {
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	answers, errs := make([][]netip.Addr, len(names)), make([]error, len(names))
	slots := make(chan struct{}, lookups)
	var wg sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
			defer cancel()
			if strings.Contains(name, ".") {
				name += "." // no search domains: the rule names this host and no other
			}
			answers[i], errs[i] = resolver.LookupNetIP(ctx, "ip", name)
		})
	}
	wg.Wait()
	return answers, errs
}

// filterPublic returns the addresses to which a name may resolve.
func filterPublic(report *Report, c compiled, name string, found []netip.Addr, own func(netip.Addr) bool) []netip.Addr {
	host, err := hosts.ParseHost(name)
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range found {
		a = a.Unmap()
		if v := c.rules.CheckAddr(host, a, c.port(name), own); !v.Allowed {
			report.warn("%s: %s", name, v.Reason)
			continue
		}
		if !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	if len(out) > maxAddrs {
		report.warn("%s has %d addresses; %d are opened", name, len(out), maxAddrs)
		out = out[:maxAddrs]
	}
	return out
}

// port returns the first port that the rules open for a name.
func (c compiled) port(name string) uint16 {
	for _, e := range c.endpoints {
		if e.Host.Name() == name {
			return e.First
		}
	}
	return 0
}

// keepOld returns the addresses that a name no longer has: a CDN changes its addresses every minute, and running
// downloads must not break.
func keepOld(old Host, now []netip.Addr) []Old {
	out := dropExpired(old.Old)
	until := time.Now().Add(linger)
	for _, a := range old.Addrs {
		if !slices.ContainsFunc(out, func(o Old) bool { return o.Addr == a }) {
			out = append(out, Old{a, until})
		}
	}
	out = slices.DeleteFunc(out, func(o Old) bool { return slices.Contains(now, o.Addr) })
	if len(out) > 4*maxAddrs {
		out = out[len(out)-4*maxAddrs:]
	}
	return out
}

func dropExpired(old []Old) []Old {
	now := time.Now()
	return slices.DeleteFunc(slices.Clone(old), func(o Old) bool { return !o.Until.After(now) })
}

// ownAddrs returns a predicate for the addresses of this host. They are not part of the internet, even if they are
// public.
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
	return func(a netip.Addr) bool { return own[a] }, nil
}
