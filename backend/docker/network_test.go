package docker_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_The_Allow_List_Is_The_Only_Way_Out(t *testing.T) {
	d, _ := driverOf(t)
	available(t, d)
	open, shut := strconv.Itoa(listen(t, "127.0.0.1")), strconv.Itoa(listen(t, "127.0.0.1"))
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{
		Workspace: t.TempDir(), Container: sandbox.Container{Image: testImage}, Resident: true,
		Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"127.0.0.1:" + open}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close(t.Context()) })
	// The script talks to the proxy with the programs that the image has.
	connect := `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT 127.0.0.1:%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' $1 $1 >&3; timeout 5 cat <&3`
	ask := func(port string) string {
		t.Helper()
		res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"bash", "-c", connect, "bash", port}})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Stdout)
	}
	if got := ask(open); len(got) < 12 || got[9:12] != "200" || got[len(got)-6:] != "hello\n" {
		t.Errorf("what is allowed: %q", got)
	}
	if got := ask(shut); len(got) < 12 || got[9:12] == "200" {
		t.Errorf("what is not allowed: %q", got)
	}
	res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"bash", "-c", "grep -c : /proc/net/dev; env | grep -ci _proxy="}})
	if err != nil || string(res.Stdout[:2]) != "1\n" || string(res.Stdout) == "1\n0\n" {
		t.Errorf("interfaces and proxy variables: %q, %v", res.Stdout, err)
	}
}

// The value comes from the host's environment, of which a container gets only a few variables.
func Test_A_Secret_Of_A_Variable_Stays_Outside(t *testing.T) {
	d, _ := driverOf(t)
	available(t, d)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, strings.ReplaceAll(r.Header.Get("X-Key"), "canary", "c-a-n-a-r-y"))
	}))
	defer server.Close()
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{
		Workspace: t.TempDir(), Container: sandbox.Container{Image: testImage}, Resident: true, Env: []string{"A_KEY=sk-canary-0123456789", "OTHER_KEY=sk-canary-9876543210"},
		Policy: sandbox.Policy{
			Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{strings.TrimPrefix(server.URL, "http://")}},
			Secrets: map[string]sandbox.Secret{"A_KEY": {Hosts: []string{server.URL}}},
		},
		Layers: []sandbox.Layer{{Name: "user", Trusted: true, Policy: sandbox.Policy{
			Secrets: map[string]sandbox.Secret{"another": {FromEnv: "OTHER_KEY", Env: "B_KEY", Hosts: []string{server.URL}}},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close(t.Context()) })
	ask := `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET %s HTTP/1.1\r\nHost: %s\r\nX-Key: %s\r\nConnection: close\r\n\r\n' "$1/" "${1#http://}" "$2" >&3; cat <&3`
	for script, want := range map[string]string{
		"env | grep -c canary":                   "0\n",
		`echo ${#A_KEY} ${#B_KEY} ${#OTHER_KEY}`: "27 27 0\n",
		"set -- $1 $A_KEY; " + ask:               "sk-c-a-n-a-r-y-0123456789",
		"set -- $1 $B_KEY; " + ask:               "sk-c-a-n-a-r-y-9876543210",
	} {
		res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"bash", "-c", script, "bash", server.URL}})
		if err != nil || !strings.HasSuffix(string(res.Stdout), want) {
			t.Errorf("%s\nprinted %q, %v", script, res.Stdout, err)
		}
	}
}

func Test_A_Published_Port_Leads_Inside(t *testing.T) {
	d, _ := driverOf(t)
	available(t, d)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{
		Workspace: t.TempDir(), Container: sandbox.Container{Image: "busybox:latest"}, Resident: true,
		Policy: sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkAllow, Publish: []string{fmt.Sprintf("%d:8080", host)}}, Limits: sandbox.Limits{Wall: sandbox.Duration(20 * time.Second)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close(t.Context()) })
	run, err := box.Start(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "echo inside | nc -l -p 8080 & while ! cat /proc/net/tcp* | grep -q :1F90; do sleep 0.05; done; echo ready >/tmp/r; wait"}}, sandbox.Stdio{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", "while ! test -s /tmp/r; do sleep 0.05; done"}}); err != nil {
		t.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", host))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
	got, err := io.ReadAll(conn)
	if string(got) != "inside\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
}
