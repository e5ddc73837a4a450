package firewall_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/firewall"
)

// docker runs the engine's command and returns what it prints.
func docker(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "docker", args...).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := docker(t, args...)
	if err != nil {
		t.Fatalf("docker %q: %v\n%s", args, err, out)
	}
	return out
}

// The test uses a real container without capabilities, on a network of the engine with
// its resolver, its gateway and another container.
func Test_Firewall_Holds_A_Container_Of_Docker(t *testing.T) {
	need(t)
	if out, err := docker(t, "image", "inspect", "busybox:latest"); err != nil {
		skipOrFail(t, fmt.Sprintf("no engine with busybox: %v: %.200s", err, out))
	}
	name := fmt.Sprintf("firewall-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	must(t, "network", "create", name)
	// The cleanup's context has ended by then.
	cleanup := func(args ...string) {
		t.Cleanup(func() {
			if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil { //nolint:noctx // see above
				t.Errorf("docker %q: %v\n%s", args, err, out)
			}
		})
	}
	cleanup("network", "rm", name)
	run := func(box string, line ...string) {
		must(t, append([]string{"run", "-d", "--network", name, "--cap-drop", "ALL", "--name", box, "busybox"}, line...)...)
		cleanup("rm", "-f", box)
	}
	run(name+"-box", "sleep", "600")
	run(name+"-peer", "sh", "-c", "mkdir /tmp/www; echo hello >/tmp/www/index.html; exec httpd -f -p 8080 -h /tmp/www")
	address := func(box, field string) string {
		return must(t, "inspect", "-f", "{{range .NetworkSettings.Networks}}{{."+field+"}}{{end}}", box)
	}
	peer, host := address(name+"-peer", "IPAddress"), address(name+"-box", "Gateway")
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())

	try := func(line string) bool {
		_, err := docker(t, "exec", name+"-box", "timeout", "3", "sh", "-c", line)
		return err == nil
	}
	attempts := []struct{ name, line string }{
		{"a name of another container", "nslookup " + name + "-peer 127.0.0.11"},
		{"the other container by its name", "wget -qO- http://" + name + "-peer:8080/"},
		{"a service of the host", "nc " + host + " " + port + " </dev/null"},
	}
	for _, a := range attempts {
		if !try(a.line) {
			t.Errorf("%s cannot be reached without a firewall either", a.name)
		}
	}
	pid := must(t, "inspect", "-f", "{{.State.Pid}}", name+"-box")
	netns, err := os.Open("/proc/" + pid + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	defer netns.Close()
	report, err := firewall.Apply(t.Context(), netns, firewall.Rules{Allow: []string{peer + ":8080"}})
	if err != nil || report.Probes < 5 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, a := range attempts {
		if try(a.line) {
			t.Errorf("%s is reached", a.name)
		}
	}
	if !try("wget -qO- http://" + peer + ":8080/") {
		t.Error("what is listed is not reached")
	}
	if err := firewall.Close(netns); err != nil {
		t.Fatal(err)
	}
	if try("wget -qO- http://" + peer + ":8080/") {
		t.Error("what is closed again is reached")
	}
}
