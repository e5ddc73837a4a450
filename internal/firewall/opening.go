package firewall

import (
	"net/netip"
	"slices"
	"sort"
)

// span is a range of addresses of one family, inclusive at both ends.
type span struct{ from, to netip.Addr }

// opening holds the addresses that are open on one range of ports. Spans are sorted and do not touch.
type opening struct {
	first, last uint16
	v4, v6      []span
}

// openings returns the addresses of the report, one opening for each range of ports.
func openings(c compiled, r *Report) []opening {
	var out []opening
	at := func(first, last uint16) *opening {
		i := slices.IndexFunc(out, func(o opening) bool { return o.first == first && o.last == last })
		if i < 0 {
			i = len(out)
			out = append(out, opening{first: first, last: last})
		}
		return &out[i]
	}
	for _, e := range c.endpoints {
		o := at(e.First, e.Last)
		if e.Range.IsValid() {
			o.add(e.Range)
			continue
		}
		h := r.host(e.Host.Name())
		for _, a := range h.Addrs {
			o.add(netip.PrefixFrom(a, a.BitLen()))
		}
		for _, a := range h.Old {
			o.add(netip.PrefixFrom(a.Addr, a.Addr.BitLen()))
		}
	}
	for _, p := range r.Ranges {
		at(22, 22).add(p)
		at(443, 443).add(p)
	}
	for i := range out {
		out[i].v4, out[i].v6 = merge(out[i].v4), merge(out[i].v6)
	}
	return out
}

func (o *opening) add(p netip.Prefix) {
	s := span{p.Masked().Addr(), lastOf(p)}
	if p.Addr().Is4() {
		o.v4 = append(o.v4, s)
	} else {
		o.v6 = append(o.v6, s)
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := range b {
		if keep := p.Bits() - 8*i; keep <= 0 {
			b[i] = 0xff
		} else if keep < 8 {
			b[i] |= 0xff >> keep
		}
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// merge sorts spans and joins those that overlap or touch, because the kernel refuses such intervals.
func merge(in []span) []span {
	sort.Slice(in, func(i, j int) bool { return in[i].from.Less(in[j].from) })
	var out []span
	for _, s := range in {
		if n := len(out) - 1; n >= 0 && (s.from.Compare(out[n].to) <= 0 || out[n].to.Next() == s.from) {
			if out[n].to.Less(s.to) {
				out[n].to = s.to
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// isCovered reports whether any opening has the address, on any port.
func isCovered(all []opening, a netip.Addr) bool {
	return slices.ContainsFunc(all, func(o opening) bool {
		return slices.ContainsFunc(slices.Concat(o.v4, o.v6), func(s span) bool {
			return s.from.BitLen() == a.BitLen() && s.from.Compare(a) <= 0 && a.Compare(s.to) <= 0
		})
	})
}
