//go:build linux

package testnet

import (
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// packets returns the packets that have come over the cable from the machine: of TCP only those that open
// connections, of other protocols all except neighbour discovery and multicast groups.
func (w *Network) packets() []string {
	var out []string
	buf := make([]byte, 2048)
	for {
		n, from, err := unix.Recvfrom(w.cable, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return out
		}
		ll, ok := from.(*unix.SockaddrLinklayer)
		if !ok || ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if text := describe(ll.Protocol, buf[:n]); text != "" {
			out = append(out, text)
		}
	}
}

// describe returns a packet's protocol and address; "": it does not count.
func describe(protocol uint16, p []byte) string {
	var to netip.Addr
	var next byte
	switch {
	case protocol == swap(unix.ETH_P_IP) && len(p) >= 20:
		to, _ = netip.AddrFromSlice(p[16:20])
		next, p = p[9], p[min(len(p), int(p[0]&15)*4):]
	case protocol == swap(unix.ETH_P_IPV6) && len(p) >= 40:
		to, _ = netip.AddrFromSlice(p[24:40])
		next, p = p[6], p[40:]
		// Neighbours and multicast groups: the kernel's own talk.
		if next == 0 || next == unix.IPPROTO_ICMPV6 && len(p) > 0 && (p[0] >= 130 && p[0] <= 137 || p[0] == 143) {
			return ""
		}
	default:
		return ""
	}
	const syn, ack = 2, 16
	if next == unix.IPPROTO_TCP && len(p) >= 14 && p[13]&(syn|ack) != syn {
		return ""
	}
	return fmt.Sprintf("protocol %d to %s", next, to)
}

func swap(v uint16) uint16 { return v<<8 | v>>8 }
