package guestnet

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/test/tcpserver"
)

func Test_Connect_Checks_Its_Targets(t *testing.T) {
	for _, row := range []struct{ host, port, want, err string }{
		{"git.example.com", "22", "git.example.com:22", ""},
		{"192.0.2.1", "022", "192.0.2.1:22", ""},
		{"2001:db8::1", "22", "[2001:db8::1]:22", ""},
		{"[2001:db8::1]", "22", "[2001:db8::1]:22", ""},
		{"::ffff:192.0.2.1", "22", "[::ffff:192.0.2.1]:22", ""},
		{"fe80::1%eth0", "22", "", "is not a host"},
		{"a", "0", "", "is not a port"},
		{"a", "65536", "", "is not a port"},
		{"a", "ssh", "", "is not a port"},
		{"a", "-1", "", "is not a port"},
		{"", "22", "", "is not a host"},
		{"a b", "22", "", "is not a host"},
		{"a\r\nX: y", "22", "", "is not a host"},
		{"a:1", "22", "", "is not a host"},
		{"u@a", "22", "", "is not a host"},
		{"a/", "22", "", "is not a host"},
		{"ä.example", "22", "", "is not a host"},
		{strings.Repeat("a", 254), "22", "", "is not a host"},
	} {
		got, err := connectTarget(row.host, row.port)
		if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%q %q: %q, %v", row.host, row.port, got, err)
		}
	}
}

func Test_Connect_Finds_The_Proxy(t *testing.T) {
	for _, row := range []struct {
		name        string
		env         []string
		addr, auth  string
		errContains string
	}{
		{"nowhere", nil, ProxyAddr, "", ""},
		{"in HTTP_PROXY", []string{"HTTP_PROXY=http://127.0.0.1:8080"}, "127.0.0.1:8080", "", ""},
		{"in http_proxy", []string{"http_proxy=http://127.0.0.1:8080/"}, "127.0.0.1:8080", "", ""},
		{"without a scheme", []string{"HTTP_PROXY=127.0.0.1:8080"}, "127.0.0.1:8080", "", ""},
		{"without a port", []string{"HTTP_PROXY=http://127.0.0.1"}, "127.0.0.1:80", "", ""},
		{"on IPv6", []string{"HTTP_PROXY=http://[::1]:8080"}, "[::1]:8080", "", ""},
		{"localhost", []string{"HTTP_PROXY=http://localhost:8080"}, "127.0.0.1:8080", "", ""},
		{"with a token", []string{"HTTP_PROXY=http://sandbox:a%2Fb%3Ac@127.0.0.1:8080"}, "127.0.0.1:8080", "Basic c2FuZGJveDphL2I6Yw==", ""},
		{"by name", []string{"HTTP_PROXY=http://proxy.example:8080"}, "", "", "by its address"},
		{"of another kind", []string{"HTTP_PROXY=socks5://127.0.0.1:8080"}, "", "", "is not http://"},
		{"broken", []string{"HTTP_PROXY=http://%zz"}, "", "", "is not http://"},
		{"with a great port", []string{"HTTP_PROXY=http://127.0.0.1:99999"}, "", "", "impossible port"},
	} {
		t.Run(row.name, func(t *testing.T) {
			addr, auth, err := connectProxy(row.env)
			if row.errContains != "" {
				if err == nil || !strings.Contains(err.Error(), row.errContains) {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil || addr.String() != row.addr || auth != row.auth {
				t.Errorf("%s, %q, %v", addr, auth, err)
			}
		})
	}
}

// connectCommand returns the command line of the guest as a ProxyCommand.
func connectCommand(t *testing.T, proxy string, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), guesttest.Program(t), append([]string{"connect"}, args...)...)
	cmd.Env = []string{"HTTP_PROXY=http://sandbox:token@" + proxy}
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

func Test_Connect_Reports_The_Answer_Of_The_Proxy(t *testing.T) {
	for _, row := range []struct {
		name, answer string
		code         int
		stdout       string
		stderr       string
	}{
		{"yes, and what the server says at once", "HTTP/1.1 200 OK\r\nX: y\r\n\r\nSSH-2.0-x\r\n", 0, "SSH-2.0-x\r\n", ""},
		{"yes, with a length that means nothing", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nSSH-2.0-x\r\n", 0, "SSH-2.0-x\r\n", ""},
		{"no", "HTTP/1.1 403 Forbidden\r\nContent-Length: 12\r\n\r\nhost: x\nwhy\n", 1, "", "the proxy answered 403 Forbidden\nhost: x\nwhy\n"},
		{"no, with bytes for a terminal", "HTTP/1.1 403 \x1b[2J\r\n\r\n\x1b]0;title\x07\r\xff\xc2\x9b1m", 1, "", "403 ?[2J\n?]0;title???"},
		{"no, without an end of its text", "HTTP/1.1 403 Forbidden\r\n\r\n" + strings.Repeat("a", 1<<20), 1, "", strings.Repeat("a", maxConnectText) + "\n"},
		{"a header without an end", "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<16), 1, "", "too long"},
		{"a line without an end", "HTTP/1.1 " + strings.Repeat("2", 1<<16), 1, "", "too long"},
		{"nothing", "", 1, "", "without an answer"},
		{"another protocol", "SSH-2.0-OpenSSH\r\n", 1, "", "does not speak HTTP"},
		{"a great length", "HTTP/1.1 403 no\r\nContent-Length: 99999999999999999999\r\n\r\nbecause", 1, "", "because"},
		{"a length below zero", "HTTP/1.1 403 no\r\nContent-Length: -1\r\n\r\nbecause", 1, "", "because"},
	} {
		t.Run(row.name, func(t *testing.T) {
			proxy := tcpserver.Start(t, func(c *net.TCPConn) {
				req, err := http.ReadRequest(bufio.NewReader(c))
				if err != nil || req.Method != http.MethodConnect || req.Host != "ok.example:22" ||
					req.Header.Get("Proxy-Authorization") != "Basic c2FuZGJveDp0b2tlbg==" {
					t.Errorf("%+v, %v", req, err)
				}
				_, _ = io.WriteString(c, row.answer) // the guest may have read enough
			})
			cmd, stdout, stderr := connectCommand(t, proxy.Addr().String(), "ok.example", "22")
			_ = cmd.Run() // the status is checked below
			if cmd.ProcessState.ExitCode() != row.code || stdout.String() != row.stdout || !strings.Contains(stderr.String(), row.stderr) {
				t.Errorf("status %d\nstdout %.200q\nstderr %.200q", cmd.ProcessState.ExitCode(), stdout, stderr)
			}
			if stderr.Len() > 2*maxConnectText || row.code == 0 && stderr.Len() > 0 {
				t.Errorf("%d bytes of stderr", stderr.Len())
			}
		})
	}
}

func Test_Connect_Without_A_Proxy(t *testing.T) {
	cmd, _, stderr := connectCommand(t, "127.0.0.1:1", "ok.example", "22")
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), "the proxy at 127.0.0.1:1: connection refused") {
		t.Errorf("%v, %q", err, stderr)
	}
}

// realProxy starts an egress.Proxy on loopback.
func realProxy(t *testing.T, allow ...string) string {
	t.Helper()
	rules, err := hosts.Compile(hosts.Policy{Allow: allow})
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := egress.New(egress.Options{Rules: rules, Token: "token"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- proxy.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// Both directions transfer at once, and the client's direction ends before the server's.
func Test_Connect_Carries_Both_Directions_Whole(t *testing.T) {
	const size = 64 << 20
	sums := make(chan [sha256.Size]byte, 1)
	down := func(w io.Writer) error { _, err := io.CopyN(w, &pattern{}, size); return err }
	server := tcpserver.Start(t, func(c *net.TCPConn) {
		var both sync.WaitGroup
		both.Go(func() {
			h := sha256.New()
			_, _ = io.Copy(h, c) // up to the end of the client's direction
			sums <- [sha256.Size]byte(h.Sum(nil))
		})
		if err := down(c); err != nil {
			t.Error(err)
		}
		both.Wait()
		_, _ = io.WriteString(c, "after the end")
	})
	host, port, err := net.SplitHostPort(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	cmd, _, stderr := connectCommand(t, realProxy(t, "tcp://"+server.Addr().String()), host, port)
	got := sha256.New()
	cmd.Stdin, cmd.Stdout = io.LimitReader(&pattern{}, size), got
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	want := sha256.New()
	if err := down(want); err != nil {
		t.Fatal(err)
	}
	if sum := <-sums; sum != [sha256.Size]byte(want.Sum(nil)) {
		t.Error("the server got something else")
	}
	_, _ = io.WriteString(want, "after the end")
	if !bytes.Equal(got.Sum(nil), want.Sum(nil)) {
		t.Error("the client got something else")
	}
}

// pattern is a stream whose pieces all differ.
type pattern struct{ at uint32 }

func (p *pattern) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(p.at>>16) ^ byte(p.at>>8) ^ byte(p.at)
		p.at++
	}
	return len(b), nil
}

func Test_Connect_Is_Refused_With_The_Reason(t *testing.T) {
	cmd, stdout, stderr := connectCommand(t, realProxy(t, "ok.example"), "other.example", "22")
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || stdout.Len() > 0 {
		t.Errorf("%v, %q", err, stdout)
	}
	for _, part := range []string{"agent-sandbox: other.example:22: the proxy answered 403", "no rule allows other.example on port 22", "--allow other.example:22"} {
		if !strings.Contains(stderr.String(), part) {
			t.Errorf("%q does not say %q", stderr, part)
		}
	}
}
