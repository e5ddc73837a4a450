//go:build linux

package network_test

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An allowed name opens only addresses that a name may open.
func Test_An_Allowed_Name_Opens_No_Special_Address(t *testing.T) {
	available(t)
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			for _, row := range []struct{ name, reason string }{
				{"private.test", "10.20.30.40 is a private address"},
				{"rebind.test", "127.0.0.1 is a loopback address"},
				{"mapped.test", "127.0.0.1 is a loopback address"},
				{"any.test", "0.0.0.0 is a loopback address"},
				{"meta.test", "169.254.169.254 is a cloud metadata address"},
				{"own.test", "93.184.215.1 is one of this host's own addresses"},
			} {
				t.Run(row.name, func(t *testing.T) {
					h := newHost(t, uid)
					internet.Take()
					// The control: without a sandbox the client reaches it.
					if row.name != "mapped.test" {
						if got := h.run(t, "curl", "-sS", "http://"+row.name+"/"); !strings.Contains(got.stdout, "hello from "+row.name) {
							t.Fatalf("without a sandbox: %v", got)
						}
						internet.Take()
					}
					got := h.exec(t, []string{"--allow", row.name}, `curl -sS http://`+row.name+`/; curl -sS https://`+row.name+`/`)
					if strings.Contains(got.stdout, "hello") || !strings.Contains(got.stdout, row.reason) || !strings.Contains(got.stderr, row.reason) {
						t.Errorf("it is not refused for its address: %v", got)
					}
					onlyAt(t, internet.Take())
				})
			}
		})
	}
}

func Test_A_Private_Address_Is_Reached_By_A_Rule_For_It(t *testing.T) {
	available(t)
	h := newHost(t, internet.PlainUID)
	internet.Take()
	got := h.exec(t, []string{"--allow", "private.test", "--allow", "10.20.30.40"}, `curl -sS http://private.test/`)
	if got.code != 0 || got.stdout != "hello from private.test\n" {
		t.Error(got)
	}
	onlyAt(t, internet.Take(), "private.test")
}

func Test_Only_Public_Addresses_Of_A_Name_Are_Reached(t *testing.T) {
	available(t)
	h := newHost(t, internet.PlainUID)
	internet.Take()
	got := h.exec(t, []string{"--allow", "half.test"}, `for i in 1 2 3; do curl -sS http://half.test/; done`)
	if got.code != 0 || strings.Count(got.stdout, "hello from half.test\n") != 3 {
		t.Error(got)
	}
	for _, v := range internet.Take() {
		if v.To.Addr().String() != "93.184.216.18" {
			t.Errorf("%s was reached", v.To)
		}
	}
}

func Test_A_Name_That_Changes_Its_Address_Opens_No_Other_Address(t *testing.T) {
	available(t)
	h := newHost(t, internet.PlainUID)
	internet.Take()
	got := h.exec(t, []string{"--allow", "flip.test"}, `curl -sS http://flip.test/; curl -sS https://flip.test/`)
	if !strings.Contains(got.stdout, "hello from flip.test\n") || !strings.Contains(got.stderr, "127.0.0.1 is a loopback address") {
		t.Error(got)
	}
	for _, v := range internet.Take() {
		if v.To.Addr().String() != "93.184.216.19" {
			t.Errorf("%s was reached", v.To)
		}
	}
}

// A client that does not use the proxy reaches no server.
func Test_Commands_Cannot_Bypass_The_Proxy(t *testing.T) {
	available(t)
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			for _, row := range []struct{ name, script string }{
				{"an address", `curl -sS --noproxy '*' -m 20 http://93.184.216.10/`},
				{"a name that is not allowed", `curl -sS --noproxy '*' -m 20 http://denied.test/`},
				{"an IPv6 address", `curl -sS --noproxy '*' -m 20 'http://[2606:2800:220:1::10]/'`},
				{"the host's loopback", `curl -sS --noproxy '*' -m 20 http://127.0.0.1/`},
				{"the host's address", `curl -sS --noproxy '*' -m 20 http://93.184.215.1/`},
				{"the host's loopback by IPv6", `curl -sS --noproxy '*' -m 20 'http://[::1]/'`},
				{"SOCKS with names resolved inside", `curl -sS --socks5 127.0.0.1:3128 -m 20 http://allowed.test/`},
				{"a name server", `exec 3<>/dev/udp/93.184.216.53/53`},
				{"bash", `exec 3<>/dev/tcp/93.184.216.10/80`},
				{"raw sockets", `/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'`},
				{"packet sockets", `/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'`},
				{"a new interface", `ip link add type dummy`},
			} {
				t.Run(row.name, func(t *testing.T) {
					h := newHost(t, uid)
					internet.Take()
					internet.Names()
					if got := h.exec(t, []string{"--allow", "allowed.test"}, row.script); got.code == 0 || strings.Contains(got.stdout, "hello") {
						t.Errorf("it reached a server: %v", got)
					}
					onlyAt(t, internet.Take())
					if asked := internet.Names(); len(asked) > 0 {
						t.Errorf("names were resolved: %q", asked)
					}
				})
			}
		})
	}
}

func Test_Denied_Hosts_Beat_Allowed_Ones(t *testing.T) {
	available(t)
	h := newHost(t, internet.PlainUID)
	internet.Take()
	options := []string{"--allow", "*.allowed.test", "--allow", "denied.test", "--deny", "denied.test"}
	got := h.exec(t, options, `curl -sS https://wild.allowed.test/; curl -sS http://denied.test/; curl -sS https://allowed.test/`)
	if !strings.Contains(got.stdout, "hello from wild.allowed.test\n") || !strings.Contains(got.stdout, `the rule "denied.test" denies it`) ||
		!strings.Contains(got.stderr, "no rule allows allowed.test on port 443") {
		t.Error(got)
	}
	onlyAt(t, internet.Take(), "wild.allowed.test")
}

// Two commands at the same time have two proxies at the same address.
func Test_Each_Sandbox_Has_A_Network_Of_Its_Own(t *testing.T) {
	available(t)
	h := newHost(t, internet.PlainUID)
	first := make(chan outcome, 1)
	go func() {
		first <- h.exec(t, []string{"--allow", "allowed.test"}, `for i in $(seq 20); do curl -sS http://allowed.test/ http://denied.test/; done`)
	}()
	second := h.exec(t, []string{"--allow", "denied.test"}, `for i in $(seq 20); do curl -sS http://allowed.test/ http://denied.test/; done`)
	for name, got := range map[string]outcome{"allowed.test": <-first, "denied.test": second} {
		if strings.Count(got.stdout, "hello from "+name+"\n") != 20 || strings.Count(got.stdout, "hello from") != 20 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func Test_A_Published_Port_Is_Reached_While_Its_Command_Runs(t *testing.T) {
	available(t)
	for name, uid := range users() {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, uid)
			internet.Take()
			// The server returns what it receives on one connection, and ends when the client
			// does.
			const server = `
import socket
s = socket.create_server(("127.0.0.1", 5000)); print("ready", flush=True)
c, _ = s.accept(); c.sendall(b"got " + c.recv(100)); c.shutdown(socket.SHUT_WR); c.recv(1)`
			cmd := h.prepare(t.Context(), h.command, "exec", "--publish", "15000:5000", "--", "/usr/bin/python3", "-c", server)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
				t.Fatal(line, err)
			}
			c, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(t.Context(), "tcp", "127.0.0.1:15000")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = io.WriteString(c, "this")
			if text, err := io.ReadAll(c); err != nil || string(text) != "got this" {
				t.Errorf("%q, %v", text, err)
			}
			_ = c.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", "127.0.0.1:15000"); err == nil {
				_ = c.Close()
				t.Error("the port is open after the end")
			}
			// No other address than loopback is open.
			onlyAt(t, internet.Take())
		})
	}
}

// The proxy runs in agent-sandbox: after that is killed, no network is left.
func Test_A_Killed_Proxy_Leaves_No_Network_And_No_Command(t *testing.T) {
	available(t)
	h := newHost(t, internet.PlainUID)
	const script = `curl -sS http://allowed.test/; echo ready; while curl -sS -m 20 http://allowed.test/ >/dev/null; do :; done; curl -sS --noproxy '*' -m 20 http://denied.test/; read`
	cmd := h.prepare(t.Context(), h.command, "exec", "--allow", "allowed.test", "--", "/bin/bash", "-c", script)
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	br := bufio.NewReader(out)
	for line := ""; line != "ready\n"; {
		if line, err = br.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The pipe closes when the last process that holds it has ended.
	if _, err := io.ReadAll(br); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	onlyAt(t, internet.Take(), "allowed.test")
}
