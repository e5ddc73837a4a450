//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// published returns attempts on ports that a sandbox publishes.
func published() []escape {
	none := &testnet.Limits{Silent: true}
	publish := []string{"--publish", "8700"}
	// A server that survives its shell.
	const left = "mkfifo told; (sleep 1000 2>/dev/null | {attacker} serve 8700 >told 2>/dev/null &) ; read x <told; rm told; echo ready; read go"
	return []escape{
		{
			ID: "E23.1", Name: "a published port is on 127.0.0.1 and on no other address", Matrix: rowPublish, Flags: publish, Net: &testnet.Limits{},
			Go: []string{"serve", "8700"}, Hold: holdNoted,
			During: func(h *host, _ *attempt) {
				if got := h.greeting("127.0.0.1:8700"); got != "inside 8700\n" {
					h.note("BROKEN: 127.0.0.1 answers %q", got)
				}
				for _, a := range ownAddresses[1:] {
					if got := h.greeting(net.JoinHostPort(a, "8700")); got != "" {
						h.note("%s answers %q", a, got)
					}
				}
				// From another machine.
				for _, a := range []string{testnet.OwnIPv4, testnet.OwnIPv6} {
					err := h.network.Internet.Do(func() error {
						c, err := net.Dial("tcp", net.JoinHostPort(a, "8700")) //nolint:noctx // refused or not, it is quick
						if err == nil {
							_ = c.Close()
						}
						return err
					})
					if err == nil {
						h.note("%s answers from outside", a)
					}
				}
			},
		},
		{
			ID: "E23.2", Name: "no port is published but those that are listed", Matrix: rowPublish, Flags: []string{"--publish", "8701:8700"}, Net: &testnet.Limits{},
			Go: []string{"serve", "8700", "8702", "8703"}, Hold: holdNoted,
			During: func(h *host, p *attempt) {
				if got := h.greeting("127.0.0.1:8701"); p.inside && got != "inside 8700\n" {
					h.note("BROKEN: 8701 answers %q", got)
				}
				for _, port := range []string{"8700", "8702", "8703"} {
					if got := h.greeting("127.0.0.1:" + port); got != "" {
						h.note("%s answers %q", port, got)
					}
				}
			},
		},
		{
			ID: "E23.3", Name: "publishing does not open the host's loopback", Matrix: rowPublish, Flags: append(publish, "--publish", "7003:7001"), Net: none,
			Go: []string{"direct", "tcp", "127.0.0.1:7001", "tcp", "127.0.0.1:8700", "tcp", "[::1]:7001", "tcp", testnet.OwnIPv4 + ":7001"},
		},
		{
			ID: "E23.4", Name: "a port is gone with its sandbox, and free for the next one at once", Matrix: rowPublish, Flags: publish, Net: &testnet.Limits{},
			Sh:     left,
			During: func(h *host, _ *attempt) { h.holdConnection("127.0.0.1:8700") },
			Hold: func(h *host, o outcome) error {
				errs := []error{holdNoted(h, o), holdNoSockets(h, o)}
				if err := h.network.Machine.Do(func() error { return bindPort(8700) }); err != nil {
					errs = append(errs, fmt.Errorf("the port is still taken: %w", err))
				}
				return errors.Join(errs...)
			},
		},
		{
			ID: "E23.5", Name: "a port is gone when agent-sandbox is killed", Matrix: rowPublish, Flags: publish, Net: &testnet.Limits{}, Ends: true,
			Sh: left + "; exec {attacker} sleep >/dev/null 2>&1",
			During: func(h *host, p *attempt) {
				h.holdConnection("127.0.0.1:8700")
				h.killCommand(p)
				h.must(h.waitGone([]process{{pid: p.cmd.Process.Pid}}))
			},
			Hold: func(h *host, o outcome) error { return errors.Join(holdNoted(h, o), holdNoSockets(h, o)) },
		},
		{
			ID: "E23.6", Name: "of two sandboxes with one port the second is not started, and the first keeps it", Matrix: rowPublish, Flags: publish, Net: &testnet.Limits{},
			Go: []string{"serve", "8700"}, Hold: holdNoted,
			During: func(h *host, p *attempt) {
				second := h.command(h.work, h.exec("--publish", "8700", "--", "touch", "second")...)
				if !p.inside {
					second = h.command(h.work, "touch", "second")
				}
				h.must(h.network.Machine.Do(second.Start))
				err := second.Wait()
				if _, serr := os.Lstat(h.path("home/project/second")); err == nil || serr == nil {
					h.note("the second one ran: %v", err)
				}
				if got := h.greeting("127.0.0.1:8700"); got != "inside 8700\n" {
					h.note("BROKEN: it answers %q", got)
				}
			},
		},
		{
			ID: "E23.7", Name: "a port that the host has in use is not taken from it", Matrix: rowPublish, Flags: []string{"--publish", "7001:8700"}, Net: &testnet.Limits{}, Ends: true,
			Sh: "echo x >ran; echo tried",
			Hold: func(h *host, o outcome) error {
				if o.code != 125 {
					return fmt.Errorf("exit code %d, want 125", o.code)
				}
				return h.checkAbsent("{work}/ran")
			},
		},
		{
			ID: "E23.8", Name: "the process that connects to published ports is out of the command's reach", Matrix: rowPublish, Flags: append(publish, "--debuggers"), Net: none,
			Go:      []string{"publisher"},
			Control: control{None: "there is no such process without a sandbox"},
		},
		{
			ID: "E23.9", Name: "the command inherits none of the network's connections to the host", Matrix: rowPublish, Flags: append(publish, "--allow", "allowed.test"), Net: none,
			Go: []string{"fds"}, Files: func(h *host) []*os.File { return h.socketPair() },
		},
		{
			ID: "E23.10", Name: "the proxy's own port is not published to the host's users", Matrix: rowPublish, Flags: append(rules("allowed.test"), "--publish", "8700:3128"),
			Net: &testnet.Limits{Naive: true}, Ends: true, Sh: "echo ready; read go; echo tried", Hold: holdNoted,
			During: func(h *host, p *attempt) {
				port := "8700"
				if !p.inside {
					port = "3128"
				}
				if got := h.requestThroughProxy("127.0.0.1:" + port); got != "" {
					h.note("the proxy answers: %.100q", got)
				}
			},
		},
	}
}

// holdConnection opens a connection that is not closed before the attempt has ended.
func (h *host) holdConnection(addr string) {
	c, err := h.network.Dial(addr)
	if err != nil {
		h.note("BROKEN: %v", err)
		return
	}
	h.closers = append(h.closers, func() { _ = c.Close() })
	buf := make([]byte, 100)
	if n, _ := c.Read(buf); !strings.HasPrefix(string(buf[:n]), "inside ") {
		h.note("BROKEN: it answers %q", buf[:n])
	}
}

// bindPort listens on a port for a moment, as a server does.
func bindPort(port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 1))
}

// socketPair returns one end of a connection as a driver has it for the network.
func (h *host) socketPair() []*os.File {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	h.must(err)
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	h.closers = append(h.closers, func() { _, _ = ours.Close(), theirs.Close() })
	return []*os.File{theirs}
}
