package docker_test

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/docker"
	"github.com/seed434b0696/agent-sandbox/internal/firewall"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

// available skips a test if no engine answers, or fails it if an engine is required.
func available(t *testing.T, d *docker.Driver) {
	t.Helper()
	if err := sandboxtest.Available(t.Context(), d); err != nil {
		if slices.Contains(strings.Split(os.Getenv("SANDBOX_REQUIRE"), ","), "docker") {
			t.Fatalf("required, and not available: %v", err)
		}
		t.Skipf("not available: %v", err)
	}
}

// gatewayAddress returns the host's address on the engine's bridge.
func gatewayAddress(t *testing.T) string {
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

// listen starts a server that sends "hello" to each client, and returns its port.
func listen(t *testing.T, host string) int {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("hello\n"))
			_ = conn.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
}

func Test_A_Firewall_Opens_Only_The_Listed_Hosts(t *testing.T) {
	d, _ := driverOf(t)
	available(t, d)
	if err := firewall.Check(); err != nil {
		if os.Geteuid() == 0 && strings.Contains(os.Getenv("SANDBOX_REQUIRE"), "docker") {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	host := gatewayAddress(t)
	open, shut := strconv.Itoa(listen(t, host)), strconv.Itoa(listen(t, host))
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{
		Workspace: t.TempDir(), Resident: true,
		Container: sandbox.Container{Image: testImage, Firewall: []string{host + ":" + open}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close(t.Context()) })
	read := func(port string) string {
		t.Helper()
		res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{
			"timeout", "5", "bash", "-c", "cat </dev/tcp/" + host + "/" + port,
		}})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Stdout)
	}
	if got := read(open); got != "hello\n" {
		t.Errorf("the port that is open says %q", got)
	}
	if got := read(shut); got != "" {
		t.Errorf("the port that is shut says %q", got)
	}
	res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "grep Cap /proc/self/status"}})
	if err != nil || strings.Contains(strings.ReplaceAll(string(res.Stdout), "0", ""), "1") {
		t.Errorf("capabilities inside: %s, %v", res.Stdout, err)
	}
}

func Test_A_Firewall_And_A_Network_Do_Not_Go_Together(t *testing.T) {
	d, _ := driverOf(t)
	_, err := d.Create(t.Context(), sandbox.Spec{
		Container: sandbox.Container{Firewall: []string{"@default"}}, Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkHost}},
	})
	if sandbox.CodeOf(err) != sandbox.Invalid {
		t.Error(err)
	}
}
