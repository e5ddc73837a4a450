//go:build linux

package guard

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"

	"golang.org/x/sys/unix"
)

// redirected returns the address to which a socket is to be connected, if that connection is redirected: it is TCP, and leaves
// loopback, which is all that the sandbox's network has.
func (g *Guard) redirected(sock, domain int, addr []byte) (to netip.AddrPort, ok bool) {
	r := g.o.Redirection
	if r == nil || domain != unix.AF_INET && domain != unix.AF_INET6 || familyOf(addr) != domain {
		return to, false
	}
	to, ok = socketAddress(addr)
	if !ok || to.Addr().IsLoopback() || to.Addr().IsUnspecified() {
		return to, false
	}
	protocol, err := unix.GetsockoptInt(sock, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	if err != nil || protocol != unix.IPPROTO_TCP && protocol != unix.IPPROTO_MPTCP {
		return to, false
	}
	if only, err := unix.GetsockoptInt(sock, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY); err == nil && only != 0 && to.Addr().Is4() {
		return to, false // the kernel refuses a mapped address
	}
	if network := r.Network(); network != 0 { // before Linux 5.14 sockets have no cookie of their network
		if own, err := unix.GetsockoptUint64(sock, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE); err == nil && own != network {
			return to, false
		}
	}
	return to, true
}

// redirect connects a TCP socket to the proxy instead of another address. The proxy recognizes the connection by its port, so the
// socket is bound first. The socket belongs to the sandbox's network, whatever process connects it.
func (g *Guard) redirect(sock, domain int, to netip.AddrPort, wanted func() bool) error {
	at := sockaddr(domain, g.o.Redirection.Proxy)
	if _, err := unix.Getpeername(sock); err == nil { // the result of an earlier call
		return g.sockets.connect(sock, at, wanted)
	}
	expect, err := g.o.Redirection.Permit(to)
	if err != nil {
		return err
	}
	from, err := boundPort(sock, domain)
	if err != nil {
		return errnoOf(err)
	}
	// Without it connect(2) would send nothing, and the proxy would wait for a connection that may never come.
	_ = unix.SetsockoptInt(sock, unix.IPPROTO_TCP, unix.TCP_FASTOPEN_CONNECT, 0)
	forget := expect(from)
	err = g.sockets.connect(sock, at, wanted)
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		forget()
	}
	return err
}

// OwnNetwork returns the cookie of this process's network, which is that of its first call; 0: the kernel does not tell (before Linux 5.14).
var OwnNetwork = sync.OnceValue(func() (cookie uint64) {
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(sock)
	cookie, _ = unix.GetsockoptUint64(sock, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	return cookie
})

// boundPort returns the port of a socket, which it binds to loopback unless it is bound already.
func boundPort(sock, domain int) (uint16, error) {
	if port, err := localPort(sock); err != nil || port != 0 {
		return port, err
	}
	var at unix.Sockaddr = &unix.SockaddrInet4{Addr: loopback.As4()}
	if domain == unix.AF_INET6 {
		_ = unix.SetsockoptInt(sock, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 0) // bind reports the error
		at = &unix.SockaddrInet6{Addr: loopback.As16()}
	}
	if err := unix.Bind(sock, at); err != nil {
		return 0, err
	}
	return localPort(sock)
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

func localPort(sock int) (uint16, error) {
	at, err := unix.Getsockname(sock)
	if err != nil {
		return 0, err
	}
	switch at := at.(type) {
	case *unix.SockaddrInet4:
		return uint16(at.Port), nil
	case *unix.SockaddrInet6:
		return uint16(at.Port), nil
	}
	return 0, unix.EAFNOSUPPORT
}

// sockaddr returns struct sockaddr_in, or struct sockaddr_in6 with the mapped address (ip(7), ipv6(7)).
func sockaddr(domain int, to netip.AddrPort) []byte {
	out := make([]byte, 4, unix.SizeofSockaddrInet6)
	binary.NativeEndian.PutUint16(out, uint16(domain))
	binary.BigEndian.PutUint16(out[2:], to.Port())
	if domain == unix.AF_INET {
		four := to.Addr().As4()
		return append(append(out, four[:]...), make([]byte, 8)...)
	}
	all := to.Addr().As16()
	return append(append(append(out, 0, 0, 0, 0), all[:]...), 0, 0, 0, 0)
}
