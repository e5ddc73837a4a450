//go:build linux

package docker_test

import (
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// greeter answers "hello" on a port of the host's address on the engine's bridge, and returns its address.
func greeter(t *testing.T) string {
	t.Helper()
	link, err := net.InterfaceByName("docker0")
	if err != nil {
		t.Skipf("the engine has no bridge docker0: %v", err)
	}
	addresses, err := link.Addrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		ip, ok := a.(*net.IPNet)
		if !ok || ip.IP.To4() == nil {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(ip.IP.String(), "0"))
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
		return l.Addr().String()
	}
	t.Skip("docker0 has no IPv4 address")
	return ""
}

func Test_A_Repository_Has_The_Firewall_And_The_Limits_Of_Its_Configuration(t *testing.T) {
	u := newUser(t)
	if os.Getuid() != 0 {
		t.Skip("only root can enter a container's network")
	}
	open, shut := greeter(t), greeter(t)
	u.buildBase()
	dir := u.repository("filtered")
	t.Cleanup(func() { u.forget(dir) })
	u.run(dir, "init", "--base-tag", baseTag, "--firewall", open)
	name := strings.TrimSpace(u.run(dir, "start"))
	read := func(address string) string {
		t.Helper()
		host, port, _ := net.SplitHostPort(address)
		return u.inside(name, "timeout 5 bash -c 'cat </dev/tcp/"+host+"/"+port+"'").stdout
	}
	if got := read(open); got != "hello\n" {
		t.Errorf("the listed host says %q", got)
	}
	if got := read(shut); got != "" {
		t.Errorf("another host says %q", got)
	}
	u.run(dir, "stop")
	u.run(dir, "start", "--firewall", shut)
	if got := read(shut); got != "hello\n" {
		t.Errorf("the host of the flag says %q", got)
	}
	if got := read(open); got != "" {
		t.Errorf("the host of the configuration says %q", got)
	}
	u.run(dir, "stop")
	u.fail(dir, "init replaces none", "init", "--base-tag", baseTag, "--firewall", open)
	const pids = 300
	u.prefer(dir, `{"limits":{"pids":`+strconv.Itoa(pids)+`}}`)
	u.run(dir, "start")
	if out := u.inside(name, "cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null"); out.stdout != strconv.Itoa(pids+64)+"\n" {
		t.Errorf("the limit of processes: %+v", out)
	}
	// Without trust, limits apply, and a packet filter opens no address.
	write(t, dir+"/.agent-sandbox/config.json", `{"firewall":["0.0.0.0/0:1-65535"]}`)
	u.run(dir, "stop")
	u.fail(dir, "may only tighten", "start")
}
