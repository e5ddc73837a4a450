package hosts

import (
	"encoding/binary"
	"net/netip"
)

// class is the reason for which an address may not be reached by a name alone; "" for a public address.
type class string

const (
	public    class = ""
	loopback  class = "loopback"
	local     class = "link-local"
	private   class = "private"
	metadata  class = "cloud metadata"
	multicast class = "multicast"
	reserved  class = "reserved"
	ownHost   class = "this host's own"
)

// special are the ranges of the IANA special-purpose registries, the most specific
// reason first.
var special = []struct {
	prefix netip.Prefix
	class  class
}{
	{netip.MustParsePrefix("169.254.169.254/32"), metadata}, // AWS, Google, Azure and others
	{netip.MustParsePrefix("169.254.170.2/32"), metadata},   // AWS container credentials
	{netip.MustParsePrefix("100.100.100.200/32"), metadata}, // Alibaba
	{netip.MustParsePrefix("168.63.129.16/32"), metadata},   // Azure's host agent
	{netip.MustParsePrefix("192.0.0.192/32"), metadata},     // Oracle
	{netip.MustParsePrefix("fd00:ec2::/32"), metadata},      // AWS
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("0.0.0.0/8"), loopback}, // Linux connects 0.0.0.0 to loopback
	{netip.MustParsePrefix("::/128"), loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), local},
	{netip.MustParsePrefix("fe80::/10"), local},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private}, // carrier-grade NAT, RFC 6598
	{netip.MustParsePrefix("fc00::/7"), private},
	{netip.MustParsePrefix("fec0::/10"), private},      // site-local, RFC 3879
	{netip.MustParsePrefix("64:ff9b:1::/48"), private}, // local NAT64, RFC 8215: may translate to any IPv4
	{netip.MustParsePrefix("224.0.0.0/4"), multicast},
	{netip.MustParsePrefix("ff00::/8"), multicast},
	{netip.MustParsePrefix("192.0.0.0/24"), reserved},
	{netip.MustParsePrefix("192.0.2.0/24"), reserved},
	{netip.MustParsePrefix("192.88.99.0/24"), reserved},
	{netip.MustParsePrefix("198.18.0.0/15"), reserved},
	{netip.MustParsePrefix("198.51.100.0/24"), reserved},
	{netip.MustParsePrefix("203.0.113.0/24"), reserved},
	{netip.MustParsePrefix("240.0.0.0/4"), reserved}, // with broadcast
	{netip.MustParsePrefix("100::/64"), reserved},
	{netip.MustParsePrefix("2001:2::/48"), reserved},
	{netip.MustParsePrefix("2001:10::/28"), reserved},
	{netip.MustParsePrefix("2001:db8::/32"), reserved},
	{netip.MustParsePrefix("3fff::/20"), reserved},
	{netip.MustParsePrefix("5f00::/16"), reserved},
}

// classify returns the worst class among the address and the IPv4 addresses that it
// contains: a gateway may translate it to an IPv4 address that is forbidden.
func classify(a netip.Addr) class {
	a = a.Unmap()
	if c := classifyOne(a); c != public {
		return c
	}
	for _, v4 := range EmbeddedIPv4(a) {
		if c := classifyOne(v4); c != public {
			return c
		}
	}
	return public
}

func classifyOne(a netip.Addr) class {
	if a.Zone() != "" {
		return local
	}
	for _, s := range special {
		if s.prefix.Contains(a) {
			return s.class
		}
	}
	return public
}

var (
	compatible = netip.MustParsePrefix("::/96")         // RFC 4291, deprecated
	translated = netip.MustParsePrefix("::ffff:0:0/96") // mapped; Unmap makes it IPv4
	siit       = netip.MustParsePrefix("::ffff:0:0:0/96")
	nat64      = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixToFour  = netip.MustParsePrefix("2002::/16")    // RFC 3056
	teredo     = netip.MustParsePrefix("2001::/32")    // RFC 4380
)

// EmbeddedIPv4 returns the IPv4 addresses inside an IPv6 address of a transition mechanism.
func EmbeddedIPv4(a netip.Addr) []netip.Addr {
	if !a.Is6() {
		return nil
	}
	b := a.As16()
	at := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	var out []netip.Addr
	switch {
	case compatible.Contains(a), translated.Contains(a), siit.Contains(a), nat64.Contains(a):
		out = append(out, at(12))
	case sixToFour.Contains(a):
		out = append(out, at(2))
	case teredo.Contains(a):
		client := ^binary.BigEndian.Uint32(b[12:])
		out = append(out, at(4), netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, client))))
	}
	// ISATAP, RFC 5214 §6.1: an interface identifier under any prefix.
	if b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		out = append(out, at(12))
	}
	return out
}
