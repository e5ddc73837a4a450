//go:build linux

package docker_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/firewall"
)

// world is a network namespace that is reached over the host's routes and plays the Internet: it has the addresses 20.77.0.0/24 and
// answers on the ports 22, 80 and 443 of each with the address and the port.
func world(t *testing.T) {
	t.Helper()
	made := make(chan error)
	var space *os.File
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	go func() {
		runtime.LockOSThread() // never unlocked: the thread has another network
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			space, err = os.Open("/proc/thread-self/ns/net")
		}
		if err != nil {
			made <- err
			return
		}
		var all []net.Listener
		for _, port := range []string{":22", ":80", ":443"} {
			l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", port)
			if err != nil {
				made <- err
				return
			}
			all = append(all, l)
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					_, _ = fmt.Fprintln(conn, conn.LocalAddr())
					_ = conn.Close()
				}
			}()
		}
		made <- nil
		<-end
		for _, l := range all {
			_ = l.Close()
		}
	}()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = space.Close() })
	ip := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "ip", args...)
		if inside := args[0] == "inside"; inside {
			cmd = exec.CommandContext(t.Context(), "nsenter", append([]string{"--net=/proc/self/fd/3", "ip"}, args[1:]...)...)
		}
		cmd.ExtraFiles = []*os.File{space}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", cmd, err, out)
		}
	}
	link := fmt.Sprintf("world%d", os.Getpid())
	ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", "/proc/self/fd/3") // it ends with the namespace
	ip("addr", "add", "10.213.77.1/30", "dev", link)
	ip("link", "set", link, "up")
	ip("inside", "link", "set", "lo", "up")
	ip("inside", "addr", "add", "10.213.77.2/30", "dev", "eth0")
	ip("inside", "link", "set", "eth0", "up")
	ip("inside", "route", "add", "local", "20.77.0.0/24", "dev", "lo")
	ip("route", "add", "20.77.0.0/24", "via", "10.213.77.2")
}

// The hosts of @default, and the registry of npm, are reached on the ports that the preset opens, and nothing else is.
func Test_The_Default_Firewall_Reaches_Its_Hosts_Alone(t *testing.T) {
	u := newUser(t)
	if os.Getuid() != 0 {
		t.Skip("only root can enter a container's network")
	}
	world(t)
	rules, _ := firewall.Preset("@default")
	rules = append(rules, "registry.example.net:443")
	addresses := map[string]string{}
	hosts := "127.0.0.1 localhost\n"
	var probes, want []string
	probe := func(name, port string, open bool) {
		probes = append(probes, name+"/"+port)
		line := name + " " + port + " refused"
		if open {
			line = name + " " + port + " " + addresses[name] + ":" + port
		}
		want = append(want, line)
	}
	name := func(host string) {
		if addresses[host] == "" {
			addresses[host] = fmt.Sprintf("20.77.0.%d", len(addresses)+1)
			hosts += addresses[host] + " " + host + "\n"
		}
	}
	for _, rule := range rules {
		host, port, _ := strings.Cut(rule, ":")
		name(host)
		probe(host, port, true)
	}
	probe("github.com", "80", false)
	probe("api.openai.com", "22", false)
	probe("registry.example.net", "80", false)
	name("pastebin.example")
	probe(addresses["pastebin.example"], "443", false)
	probe("pastebin.example", "443", false)
	probe(addresses["github.com"], "80", false)
	const script = `for at; do
	got=$(timeout 5 bash -c "exec 2>/dev/null; cat </dev/tcp/$at") || got=refused
	echo "${at%/*} ${at#*/} $got"
done`
	// Without the firewall a container reaches every address of this Internet.
	control := exec.CommandContext(t.Context(), "docker", append([]string{
		"run", "--rm", "debian:bookworm-slim", "bash", "-c", script, "bash",
	}, addresses["pastebin.example"]+"/443", addresses["github.com"]+"/80")...)
	if out, err := control.CombinedOutput(); err != nil || strings.Contains(string(out), "refused") || strings.Count(string(out), "\n") != 2 {
		t.Fatalf("without a firewall: %v: %s", err, out)
	}
	file := filepath.Join(u.home, "hosts")
	write(t, file, hosts)
	cmd := exec.CommandContext(t.Context(), "unshare", append([]string{
		"--mount", "--", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, file,
		lab.command, "exec", "--backend", "docker", "--image", "debian:bookworm-slim", "--firewall", "@default", "--", "bash", "-c", script, "bash",
	}, probes...)...)
	cmd.Dir = u.repository("default")
	cmd.Env = append(os.Environ(), "HOME="+u.home, "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "NPM_CONFIG_REGISTRY=https://registry.example.net/npm/")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	got := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, line := range got {
		if i >= len(want) || line != want[i] {
			t.Errorf("%s, want %s", line, want[min(i, len(want)-1)])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d lines, want %d: %s", len(got), len(want), stderr.String())
	}
}
