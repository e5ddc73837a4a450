package firewall_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/firewall"
)

// The test network, in namespaces of its own: a box on a bridge whose other side plays
// the host and the world, and a peer beside it.
//
//	box 10.77.0.2 ── bridge 10.77.0.1 (world: all addresses below) ── peer 10.77.0.3
const (
	allowed  = "20.0.0.10"
	allowed2 = "20.0.0.11"
	strange  = "20.0.0.20"
	gateway  = "10.77.0.1"
	boxAddr  = "10.77.0.2"
	peerAddr = "10.77.0.3"
	dns      = "8.8.8.8"
	meta     = "169.254.169.254"
	allowed6 = "2a00:77::1"
	strange6 = "2a00:77::2"
	box6     = "2a00:77::b0"
)

type bed struct {
	world, box, peer *os.File
	names            *nameServer
}

// need skips the test, or fails it where CI requires it.
func need(t *testing.T) {
	t.Helper()
	why := ""
	if os.Getuid() != 0 {
		why = "firewalls need root"
	} else if err := firewall.Check(); err != nil {
		why = err.Error()
	} else if _, err := exec.LookPath("ip"); err != nil {
		why = err.Error()
	}
	if why != "" {
		skipOrFail(t, why)
	}
}

func skipOrFail(t *testing.T, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "docker") {
		t.Fatal(why)
	}
	t.Skip(why)
}

func newBed(t *testing.T) *bed {
	t.Helper()
	need(t)
	b := &bed{world: namespace(t), box: namespace(t), peer: namespace(t), names: newNameServer(t)}
	in(t, b.world, func() {
		ip(t, b, "link set lo up")
		ip(t, b, "link add br0 type bridge mcast_snooping 0")
		ip(t, b, "addr add "+gateway+"/24 dev br0")
		for _, a := range []string{allowed, allowed2, strange, dns, meta} {
			ip(t, b, "addr add "+a+"/32 dev lo")
		}
		for _, a := range []string{allowed6, strange6} {
			ip(t, b, "addr add "+a+"/64 dev br0 nodad")
		}
		ip(t, b, "link set br0 up")
		ip(t, b, "link add vbox type veth peer name eth0 netns BOX")
		ip(t, b, "link add vpeer type veth peer name eth0 netns PEER")
		ip(t, b, "link set vbox master br0 up")
		ip(t, b, "link set vpeer master br0 up")
		for _, p := range []string{":22", ":53", ":80", ":443", ":8080"} {
			serve(t, p)
		}
	})
	for ns, a := range map[*os.File]string{b.box: boxAddr, b.peer: peerAddr} {
		in(t, ns, func() {
			ip(t, b, "link set lo up")
			ip(t, b, "addr add "+a+"/24 dev eth0")
			if ns == b.box {
				ip(t, b, "addr add "+box6+"/64 dev eth0 nodad")
			}
			ip(t, b, "link set eth0 up")
			ip(t, b, "route add default via "+gateway)
			serve(t, ":80")
		})
	}
	return b
}

func (b *bed) rules(allow ...string) firewall.Rules {
	return firewall.Rules{Allow: allow, Resolver: b.names.resolver()}
}

// apply returns the report, or ends the test.
func (b *bed) apply(t *testing.T, r firewall.Rules) firewall.Report {
	t.Helper()
	report, err := firewall.Apply(t.Context(), b.box, r)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// namespace makes a network namespace that lasts as long as the test.
func namespace(tb testing.TB) *os.File {
	tb.Helper()
	var file *os.File
	var err error
	thread(func() {
		if err = unix.Unshare(unix.CLONE_NEWNET); err == nil {
			file, err = os.Open("/proc/thread-self/ns/net")
		}
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = file.Close() })
	return file
}

// in runs fn on a thread in the namespace.
func in(t *testing.T, ns *os.File, fn func()) {
	t.Helper()
	err := errors.New("the test ended inside")
	thread(func() {
		if e := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); e != nil {
			err = e
			return
		}
		fn()
		err = nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// thread runs fn on a thread that ends with it, and so never on the first one.
func thread(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			defer runtime.UnlockOSThread()
			thread(fn)
			return
		}
		fn()
	}()
	<-done
}

// ip runs ip(8) in the namespace of the thread. BOX and PEER stand for namespaces.
func ip(t *testing.T, b *bed, line string) {
	t.Helper()
	line = strings.NewReplacer("BOX", "/proc/self/fd/3", "PEER", "/proc/self/fd/4").Replace(line)
	cmd := exec.CommandContext(t.Context(), "ip", strings.Fields(line)...)
	cmd.ExtraFiles = []*os.File{b.box, b.peer}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("ip %s: %v\n%s", line, err, out)
	}
}

// serve answers every TCP connection with what it reads, on all addresses of the
// namespace of the thread.
func serve(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address) //nolint:noctx // closed below
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
}

// dial connects from the namespace of the thread.
func dial(ctx context.Context, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 2 * time.Second, Control: nil}
	return d.DialContext(ctx, "tcp", address)
}

// reaches reports whether a connection from the namespace carries a byte both ways.
func reaches(t *testing.T, ns *os.File, host string, port int) (ok bool) {
	t.Helper()
	in(t, ns, func() {
		c, err := dial(t.Context(), net.JoinHostPort(host, fmt.Sprint(port)))
		if err != nil {
			return
		}
		defer c.Close()
		ok = echo(c) == nil
	})
	return ok
}

func echo(c net.Conn) error {
	if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return err
	}
	if _, err := c.Write([]byte("x")); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

// wire sees the frames that the box sends, on the world's side.
type wire struct {
	fd int
}

func (b *bed) listen(t *testing.T) *wire {
	t.Helper()
	w := &wire{}
	in(t, b.world, func() {
		link, err := net.InterfaceByName("vbox")
		if err != nil {
			t.Error(err)
			return
		}
		w.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(htons(unix.ETH_P_ALL)))
		if err != nil {
			t.Error(err)
			return
		}
		if err := unix.Bind(w.fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: link.Index}); err != nil {
			t.Error(err)
		}
		if err := unix.SetsockoptTimeval(w.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { _ = unix.Close(w.fd) })
	return w
}

// heard returns the frames since the last call, without those of ARP. The box sends one last ARP
// frame to mark their end: a wire keeps the order.
func (b *bed) heard(t *testing.T, w *wire) [][]byte {
	t.Helper()
	marker := frame(0x0806, bytes.Repeat([]byte{0xee}, 46))
	in(t, b.box, func() { sendFrame(t, 0x0806, marker) })
	var out [][]byte
	buf := make([]byte, 65536)
	for {
		n, from, err := unix.Recvfrom(w.fd, buf, 0)
		if err != nil {
			t.Fatalf("the last frame did not arrive: %v", err)
		}
		if ll, ok := from.(*unix.SockaddrLinklayer); !ok || ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if bytes.Equal(buf[:n], marker) {
			return out
		}
		if n >= 14 && binary.BigEndian.Uint16(buf[12:]) != 0x0806 {
			out = append(out, slices.Clone(buf[:n]))
		}
	}
}

func htons(v uint16) uint16 { return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v)) }

func frame(ether uint16, body []byte) []byte {
	f := append(bytes.Repeat([]byte{0xff}, 6), 2, 0, 0, 0, 0, 2)
	return append(binary.BigEndian.AppendUint16(f, ether), body...)
}

// sendFrame bypasses the kernel's IP; proto is the protocol that the socket names to the kernel.
func sendFrame(t *testing.T, proto uint16, f []byte) {
	t.Helper()
	link, err := net.InterfaceByName("eth0")
	if err != nil {
		t.Error(err)
		return
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = unix.Close(fd) }()
	// A refusal is as good as a frame that was not sent: the test checks what arrives.
	_ = unix.Sendto(fd, f, 0, &unix.SockaddrLinklayer{Protocol: htons(proto), Ifindex: link.Index, Halen: 6})
}

// nameServer answers for names that a test sets, over UDP on loopback.
type nameServer struct {
	conn net.PacketConn
	set  chan map[string][]string
}

func newNameServer(t *testing.T) *nameServer {
	t.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn, make(chan map[string][]string, 1)}
	s.set <- map[string][]string{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer, err := s.answer(buf[:n]); err == nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	t.Cleanup(func() { _ = conn.Close(); <-done })
	return s
}

// name sets the addresses of a name; none: the name does not exist.
func (s *nameServer) name(name string, addrs ...string) {
	all := <-s.set
	all[name+"."] = addrs
	s.set <- all
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil, errors.Join(err, errors.New("not one question"))
	}
	all := <-s.set
	addrs := all[m.Questions[0].Name.String()]
	s.set <- all
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	if len(addrs) == 0 {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, text := range addrs {
		a, h := netip.MustParseAddr(text), dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 1}
		switch {
		case a.Is4() && m.Questions[0].Type == dnsmessage.TypeA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case a.Is6() && m.Questions[0].Type == dnsmessage.TypeAAAA:
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	return m.Pack()
}
