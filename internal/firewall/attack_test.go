package firewall_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// attack tries to get a packet out of the box. It runs there as root with all
// capabilities but the one that changes the filter, which a container does not hold.
type attack struct {
	name string
	do   func(t *testing.T)
}

var attacks = []attack{
	{"a connection to an address that is not listed", connect(strange + ":443")},
	{"a connection to another port of a listed address", connect(allowed + ":8080")},
	{"a connection to a name server", connect(dns + ":53")},
	{"a connection to the metadata of a cloud", connect(meta + ":80")},
	{"a connection to a service of the host", connect(gateway + ":22")},
	{"a connection to the neighbor on the bridge", connect(peerAddr + ":80")},
	{"a connection over IPv6", connect("[" + strange6 + "]:443")},
	{"a question to a name server", datagram(dns+":53", nil)},
	{"a question to the gateway", datagram(gateway+":53", nil)},
	{"a question over IPv6", datagram("["+strange6+"]:53", nil)},
	{"a datagram to a listed address (QUIC)", datagram(allowed+":443", nil)},
	{"a datagram to everybody on the bridge", datagram("10.77.0.255:9", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, 1)
	})},
	{"a datagram to a group (mDNS)", datagram("224.0.0.251:5353", device)},
	{"a datagram to a group over IPv6", datagram("[ff02::fb]:5353", device)},
	{"a datagram with a mark", datagram(dns+":53", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MARK, 1)
	})},
	{"a datagram past the routes", datagram(gateway+":53", func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DONTROUTE, 1)
	})},
	{"a ping to a listed address", raw(allowed, unix.IPPROTO_ICMP, []byte{8, 0, 0xf7, 0xff, 0, 0, 0, 0})},
	{"a ping to the gateway", raw(gateway, unix.IPPROTO_ICMP, []byte{8, 0, 0xf7, 0xff, 0, 0, 0, 0})},
	{"a ping over IPv6", raw6(strange6, unix.IPPROTO_ICMPV6, []byte{128, 0, 0, 0, 0, 0, 0, 0})},
	{"a protocol of its own to a listed address", raw(allowed, 253, []byte("hello"))},
	{"a tunnel to a listed address", raw(allowed, unix.IPPROTO_IPIP, packet(strange, unix.IPPROTO_UDP, 0, udp(53)))},
	{"a raw TCP packet that pretends a connection", raw(strange, unix.IPPROTO_TCP, tcp(0x10))},
	{"a raw TCP reset", raw(strange, unix.IPPROTO_TCP, tcp(0x04))},
	{"a packet with a header of its own", header(strange, packet(strange, unix.IPPROTO_TCP, 0, tcp(0x02)))},
	{"a later fragment to a listed address", header(allowed, packet(allowed, unix.IPPROTO_TCP, 100, []byte("01234567")))},
	{"a frame of its own", frames(0x0800, frame(0x0800, packet(strange, unix.IPPROTO_UDP, 0, udp(53))))},
	{"a frame that its socket calls ARP", frames(0x0806, frame(0x0800, packet(strange, unix.IPPROTO_UDP, 0, udp(53))))},
	{"a frame that its socket calls IPv4", frames(0x0800, frame(0x88b5, packet(allowed, unix.IPPROTO_TCP, 0, tcp(0x02))))},
	{"a frame with a VLAN tag", frames(0x8100, frame(0x8100, append([]byte{0, 5, 8, 0}, packet(strange, unix.IPPROTO_UDP, 0, udp(53))...)))},
	{"a frame of no protocol", frames(0x88b5, frame(0x88b5, make([]byte, 46)))},
	{"a frame with a datagram to a listed address", frames(0x0800, frame(0x0800, packet(allowed, unix.IPPROTO_UDP, 0, udp(443))))},
	{"a frame of IPv6", frames(0x86dd, frame(0x86dd, packet6(strange6)))},
}

// Without a firewall these packets leave the box; with one they must not. The wire shows
// which ones leave.
func Test_Attacks_On_The_Firewall_Do_Not_Leave_The_Box(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	w := b.listen(t)
	b.heard(t, w)
	for _, a := range attacks {
		in(t, b.box, func() { a.do(t) })
		if len(b.heard(t, w)) == 0 {
			t.Errorf("%s: nothing arrives without a firewall either, so the case shows nothing", a.name)
		}
	}
	b.apply(t, b.rules(allowed+":443"))
	b.heard(t, w)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			in(t, b.box, func() { a.do(t) })
			for _, f := range b.heard(t, w) {
				t.Errorf("a frame left the box: %x", f)
			}
		})
	}
	if !reaches(t, b.box, allowed, 443) {
		t.Error("what is listed is closed")
	}
}

func Test_A_Connection_From_Before_The_Firewall_Carries_Nothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var out, from net.Conn
	in(t, b.box, func() { out, _ = dial(t.Context(), strange+":443") })
	in(t, b.peer, func() { from, _ = dial(t.Context(), boxAddr+":80") })
	if out == nil || from == nil || echo(out) != nil || echo(from) != nil {
		t.Fatal("the test network does not work")
	}
	defer out.Close()
	defer from.Close()
	w := b.listen(t)
	b.apply(t, b.rules(allowed+":443"))
	b.heard(t, w)
	if echo(out) == nil {
		t.Error("a connection from inside goes on")
	}
	if echo(from) == nil {
		t.Error("a connection from outside goes on")
	}
	for _, f := range b.heard(t, w) {
		t.Errorf("a frame left the box: %x", f)
	}
}

// The engine's resolver listens inside, at a loopback address, and forwards every query
// to the world: a tunnel through names.
func Test_The_Resolver_Of_The_Engine_Is_Closed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	var resolver net.PacketConn
	in(t, b.box, func() {
		var err error
		if resolver, err = new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.11:53"); err != nil {
			t.Fatal(err)
		}
		serve(t, "127.0.0.11:53")
	})
	defer resolver.Close()
	ask := func(t *testing.T) bool {
		t.Helper()
		in(t, b.box, func() { datagram("127.0.0.11:53", nil)(t) })
		if err := resolver.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, _, err := resolver.ReadFrom(make([]byte, 64))
		return err == nil
	}
	if !ask(t) || !reaches(t, b.box, "127.0.0.11", 53) {
		t.Fatal("the test network does not work")
	}
	b.apply(t, b.rules(allowed+":443"))
	if ask(t) || reaches(t, b.box, "127.0.0.11", 53) {
		t.Error("the resolver can be asked")
	}
}

func connect(to string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		// Without a firewall it is answered. With one the whole time passes.
		ctx, cancel := context.WithTimeout(t.Context(), min(deadline.Scale(300*time.Millisecond), 3*time.Second))
		defer cancel()
		if c, err := dial(ctx, to); err == nil {
			_ = c.Close()
		}
	}
}

// socket creates a socket, or ends the case.
func socket(t *testing.T, domain, kind, proto int) int {
	t.Helper()
	fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		t.Fatal(err)
	}
	return fd
}

// send ignores a refusal of the kernel, because the test checks what arrives.
func send(t *testing.T, fd int, to netip.AddrPort, body []byte) {
	t.Helper()
	if a := to.Addr(); a.Is4() {
		_ = unix.Sendto(fd, body, 0, &unix.SockaddrInet4{Port: int(to.Port()), Addr: a.As4()})
	} else {
		_ = unix.Sendto(fd, body, 0, &unix.SockaddrInet6{Port: int(to.Port()), Addr: a.As16()})
	}
}

func datagram(to string, set func(fd int) error) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		p := netip.MustParseAddrPort(to)
		domain := unix.AF_INET
		if p.Addr().Is6() {
			domain = unix.AF_INET6
		}
		fd := socket(t, domain, unix.SOCK_DGRAM, 0)
		defer func() { _ = unix.Close(fd) }()
		if set != nil {
			if err := set(fd); err != nil {
				t.Fatal(err)
			}
		}
		send(t, fd, p, []byte("0123456789abcdef"))
	}
}

func device(fd int) error { return unix.BindToDevice(fd, "eth0") }

func raw(to string, proto int, body []byte) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		fd := socket(t, unix.AF_INET, unix.SOCK_RAW, proto)
		defer func() { _ = unix.Close(fd) }()
		send(t, fd, netip.AddrPortFrom(netip.MustParseAddr(to), 0), body)
	}
}

func raw6(to string, proto int, body []byte) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		fd := socket(t, unix.AF_INET6, unix.SOCK_RAW, proto)
		defer func() { _ = unix.Close(fd) }()
		send(t, fd, netip.AddrPortFrom(netip.MustParseAddr(to), 0), body)
	}
}

// header sends a packet with an IP header of the test (IP_HDRINCL is on for IPPROTO_RAW).
func header(to string, p []byte) func(*testing.T) {
	return raw(to, unix.IPPROTO_RAW, p)
}

func frames(proto uint16, f []byte) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		sendFrame(t, proto, f)
	}
}

// packet is IPv4 from the box, without options; fragment is its offset in 8 bytes.
func packet(to string, proto byte, fragment uint16, body []byte) []byte {
	p := []byte{0x45, 0, 0, 0, 0, 1, 0, 0, 64, proto, 0, 0}
	binary.BigEndian.PutUint16(p[2:], uint16(20+len(body)))
	binary.BigEndian.PutUint16(p[6:], fragment)
	p = append(append(p, netip.MustParseAddr(boxAddr).AsSlice()...), netip.MustParseAddr(to).AsSlice()...)
	binary.BigEndian.PutUint16(p[10:], ^checksum(p))
	return append(p, body...)
}

func packet6(to string) []byte {
	body := udp(53)
	p := []byte{0x60, 0, 0, 0, 0, byte(len(body)), unix.IPPROTO_UDP, 64}
	p = append(append(p, netip.MustParseAddr(box6).AsSlice()...), netip.MustParseAddr(to).AsSlice()...)
	return append(p, body...)
}

func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum&0xffff + sum>>16
	}
	return uint16(sum)
}

func udp(port uint16) []byte {
	u := binary.BigEndian.AppendUint16([]byte{0x30, 0x39}, port)
	return append(u, 0, 12, 0, 0, 'd', 'a', 't', 'a')
}

func tcp(flags byte) []byte {
	return append([]byte{0x30, 0x39, 1, 0xbb}, 0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 4, 0, 0, 0, 0, 0)
}
