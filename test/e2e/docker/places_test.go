//go:build linux

package docker_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/firewall"
)

// place is a kind of network for an agent.
type place struct {
	name  string
	owner int // of the workspace, if the tests run as root
	open  func(t *testing.T, u user, a agent) site
}

// site holds the settings with which an agent reaches its model from a place.
type site struct {
	listener net.Listener // of the model
	env      []string     // of agent-sandbox
	flags    []string     // of exec
	before   []string     // a program that starts the agent; "": none
	url      string       // of the model; empty: the agent's default
	key      string       // the host that serves the model
	reach    string       // a command that tries to reach another host
	check    func(t *testing.T, printed string)
}

// placeholder stands for a key if no proxy inserts it.
const placeholder = "sk-placeholder"

func places() []place {
	return []place{
		{"with an allow-list", 1000, listed},
		{"without a network", 0, unconnected},
		{"with a firewall", 1000, firewalled},
		{"with the host's network", 1000, connected},
	}
}

// listed allows the agent's default host, and keeps the key outside the sandbox. That host is not on the internet
// but behind a company's proxy.
func listed(t *testing.T, u user, a agent) site {
	t.Helper()
	w := newWay(t, a.host)
	config := filepath.Join(u.home, "policy.json")
	write(t, config, fmt.Sprintf(`{"network": {"allow": [%q], "ca": "ephemeral", "upstream": %q}, "secrets": {%q: {"hosts": [%[1]q]}}}`, a.host, w.proxy, a.key))
	shut, visited := shutServer(t, "127.0.0.1")
	return site{
		listener: w, env: []string{"SSL_CERT_FILE=" + w.ca}, flags: []string{"-c", config}, key: realKey,
		reach: "curl -sS -m 20 https://elsewhere.example/; curl -sS -m 20 --noproxy '*' http://" + shut + "/; echo \"<$(grep -c : /proc/net/dev)> interfaces\"",
		check: func(t *testing.T, printed string) {
			t.Helper()
			if strings.Count(printed, "curl: (") != 2 || !strings.Contains(printed, "response 403") || !strings.Contains(printed, "<1> interfaces") {
				t.Errorf("it reached another host, which printed %q", printed)
			}
			if got := w.asked(); !slices.Equal(got, []string{"CONNECT " + a.host + ":443"}) {
				t.Errorf("the proxy was asked for %q", got)
			}
			visited()
		},
	}
}

// bridge starts an agent with a port of its loopback that forwards to a Unix socket, for agents that speak TCP only.
const bridge = `const net = require("net"), [port, path, program, ...args] = process.argv.slice(1)
net.createServer(c => { const s = net.connect(path); c.pipe(s).pipe(c); c.on("error", () => s.destroy()); s.on("error", () => c.destroy()) })
  .listen(+port, "127.0.0.1", () => require("child_process").spawn(program, args, { stdio: "inherit" }).on("exit", code => process.exit(code ?? 1)))`

// unconnected is a place without a network; the model is behind a Unix socket.
func unconnected(t *testing.T, u user, a agent) site {
	t.Helper()
	socket := filepath.Join(u.home, "model.sock")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err == nil {
		err = os.Chmod(socket, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	shut, visited := shutServer(t, "127.0.0.1")
	s := site{
		listener: l, key: placeholder, flags: []string{"--network=none", "--socket", socket, "--env", a.key + "=" + placeholder},
		reach: "curl -sS -m 20 http://" + shut + "/; echo \"<$(grep -c : /proc/net/dev)> interfaces\"",
		check: func(t *testing.T, printed string) {
			t.Helper()
			if !strings.Contains(printed, "curl: (7)") || !strings.Contains(printed, "<1> interfaces") {
				t.Errorf("it reached another host, which printed %q", printed)
			}
			visited()
		},
	}
	if a.name == "Claude Code" {
		s.flags = append(s.flags, "--env", "ANTHROPIC_UNIX_SOCKET="+socket)
		s.url = "http://localhost"
		return s
	}
	s.before = []string{"node", "-e", bridge, "8080", socket}
	s.url = "http://127.0.0.1:8080"
	return s
}

// firewalled permits only one port of the host's address on the bridge.
func firewalled(t *testing.T, _ user, a agent) site {
	t.Helper()
	if err := firewall.Check(); err != nil {
		if os.Geteuid() == 0 {
			t.Fatal(err)
		}
		t.Skip(err) // it requires root
	}
	host := bridgeAddress(t)
	l := listen(t, host)
	shut, visited := shutServer(t, host)
	return site{
		listener: l, key: placeholder, url: "http://" + l.Addr().String(),
		flags: []string{"--firewall", l.Addr().String(), "--env", a.key + "=" + placeholder},
		reach: "curl -sS -m 5 http://" + shut + "/",
		check: func(t *testing.T, printed string) {
			t.Helper()
			if !strings.Contains(printed, "curl: (") {
				t.Errorf("it reached another host, which printed %q", printed)
			}
			visited()
		},
	}
}

// connected is a place with a network and no packet filter.
func connected(t *testing.T, _ user, a agent) site {
	t.Helper()
	l := listen(t, "127.0.0.1")
	return site{
		listener: l, key: placeholder, url: "http://" + l.Addr().String(), reach: "true",
		flags: []string{"--network", "--env", a.key + "=" + placeholder}, check: func(*testing.T, string) {},
	}
}

func listen(t *testing.T, host string) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// shutServer listens at an address that no command inside may reach; visited fails the test after a connection.
func shutServer(t *testing.T, host string) (addr string, visited func()) {
	t.Helper()
	l := listen(t, host)
	seen := make(chan int, 1)
	go func() {
		n := 0
		for {
			c, err := l.Accept()
			if err != nil {
				seen <- n
				return
			}
			n++
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String(), func() {
		_ = l.Close()
		if n := <-seen; n > 0 {
			t.Errorf("%s was reached %d times", l.Addr(), n)
		}
	}
}

// bridgeAddress is the host's address on the engine's bridge.
func bridgeAddress(t *testing.T) string {
	t.Helper()
	link, err := net.InterfaceByName("docker0")
	if err != nil {
		t.Fatalf("the engine has no bridge docker0: %v", err)
	}
	addrs, err := link.Addrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	t.Fatal("docker0 has no address")
	return ""
}
