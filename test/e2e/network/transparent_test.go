//go:build linux

package network_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// noProxy removes the variables that configure the proxy.
const noProxy = "unset HTTP_PROXY http_proxy HTTPS_PROXY https_proxy ALL_PROXY all_proxy NO_PROXY no_proxy NODE_USE_ENV_PROXY GIT_SSH_COMMAND JAVA_TOOL_OPTIONS; "

// place is a kind of sandbox in which programs without proxy support run.
type place struct {
	name      string
	uid       int
	options   []string // of exec
	env       []string
	container bool
}

// places returns bubblewrap with a plain user, and a container if an engine answers. The container has this machine's programs, and
// trusts the authority of the test network.
func places(t *testing.T) []place {
	t.Helper()
	all := []place{{name: "bubblewrap", uid: internet.PlainUID}}
	err := errors.New("only root reaches the engine")
	if os.Getuid() == 0 {
		err = exec.CommandContext(t.Context(), "docker", "image", "inspect", containerImage).Run()
	}
	if err == nil {
		docker := place{name: "Docker", container: true, options: []string{"--backend", "docker", "--image", containerImage, "--ro", "/usr", "--ro", internet.CAFile}}
		if engine := os.Getenv("DOCKER_HOST"); engine != "" {
			docker.env = []string{"DOCKER_HOST=" + engine}
		}
		return append(all, docker)
	}
	if required("docker") {
		t.Fatalf("required, and not available: %v", err)
	}
	t.Logf("without an engine: %v", err)
	return all
}

// containerImage is of the same release as this machine.
const containerImage = "debian:bookworm-slim"

// trust makes programs in a container trust the authority of the test network, unless the sandbox has one of its own.
func (p place) trust() string {
	if !p.container {
		return ""
	}
	return "export CA=" + internet.CAFile + "; for v in CURL_CA_BUNDLE SSL_CERT_FILE GIT_SSL_CAINFO; do eval \"export $v=\\${$v:-$CA}\"; done; "
}

// Programs without proxy support reach what the rules allow.
func Test_Programs_Without_A_Proxy_Reach_Only_Allowed_Hosts(t *testing.T) {
	available(t)
	const python = `/usr/bin/python3 -c '
import asyncio, socket, ssl, sys, urllib.request
exec(sys.argv[1])' `
	for _, row := range []struct {
		name         string
		allow        []string // rules, and flags
		script, want string
		reached      []string // hosts of the test network
		needs        func(t *testing.T, p place) []string
	}{
		{name: "curl over TLS", allow: []string{"allowed.test"}, script: `curl -sS https://allowed.test/`, want: "hello from allowed.test", reached: []string{"allowed.test"}},
		{name: "curl", allow: []string{"allowed.test"}, script: `curl -sS http://allowed.test/`, want: "hello from allowed.test", reached: []string{"allowed.test"}},
		{name: "a subdomain", allow: []string{"*.allowed.test"}, script: `curl -sS https://wild.allowed.test/`, want: "hello from wild.allowed.test", reached: []string{"wild.allowed.test"}},
		{name: "two names at once", allow: []string{"allowed.test", "*.allowed.test"}, script: `curl -sS https://allowed.test/ & curl -sS https://wild.allowed.test/; wait`, want: "hello from wild.allowed.test", reached: []string{"allowed.test", "wild.allowed.test"}},
		{name: "a port of its own", allow: []string{"allowed.test:8080"}, script: `curl -sS http://allowed.test:8080/`, want: "hello from allowed.test:8080", reached: []string{"allowed.test"}},
		{
			name: "any protocol", allow: []string{"tcp://allowed.test:8080"}, want: "hello from x", reached: []string{"allowed.test"},
			script: `exec 3<>/dev/tcp/allowed.test/8080; printf 'GET / HTTP/1.0\r\nHost: x\r\n\r\n' >&3; cat <&3`,
		},
		{name: "an address", allow: []string{"93.184.216.10"}, script: `curl -sS http://93.184.216.10/`, want: "hello from 93.184.216.10", reached: []string{"allowed.test"}},
		{name: "an IPv6 address", allow: []string{"[2606:2800:220:1::10]"}, script: `curl -sS 'http://[2606:2800:220:1::10]/'`, want: "hello from", reached: []string{"allowed.test"}},
		{name: "an IPv6 name", allow: []string{"six.test"}, script: `curl -sS http://six.test/`, want: "hello from six.test", reached: []string{"six.test"}},
		{name: "rules for requests", allow: []string{"GET https://allowed.test/pub/**"}, script: `curl -sS https://allowed.test/pub/x; curl -sS -X POST https://allowed.test/pub/x`, want: "hello from allowed.test", reached: []string{"allowed.test"}},
		{
			name: "Python", allow: []string{"allowed.test"}, want: "hello from allowed.test", reached: []string{"allowed.test"},
			script: python + `'print(urllib.request.urlopen("https://allowed.test/").read())'`,
		},
		{
			name: "Python without blocking", allow: []string{"allowed.test"}, want: "hello from allowed.test", reached: []string{"allowed.test"},
			script: python + `'
async def main():
    r, w = await asyncio.open_connection("allowed.test", 80)
    w.write(b"GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n")
    print(await r.read())
asyncio.run(main())'`,
		},
		{
			name: "a socket of IPv6", allow: []string{"allowed.test"}, want: "hello from allowed.test", reached: []string{"allowed.test"},
			script: python + `'
s = socket.socket(socket.AF_INET6)
s.connect(("::ffff:" + socket.gethostbyname("allowed.test"), 80))
s.send(b"GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n")
print(s.makefile("rb").read())'`,
		},
		{
			name: "a thousand connections", allow: []string{"allowed.test"}, want: "1000", reached: []string{"allowed.test"},
			script: python + `'
n = 0
for i in range(1000):
    s = socket.create_connection(("allowed.test", 80))
    s.send(b"GET / HTTP/1.0\r\nHost: allowed.test\r\n\r\n")
    n += b"hello" in s.makefile("rb").read()
    s.close()
print(n)'`,
		},
		{
			name: "connections that do not arrive", allow: []string{"allowed.test", "tcp://allowed.test:8080"}, want: "hello from allowed.test", reached: []string{"allowed.test"},
			script: python + `'
at = socket.gethostbyname("allowed.test")
for i in range(6000):
    s = socket.socket()
    s.setsockopt(socket.IPPROTO_TCP, 30, 1) # TCP_FASTOPEN_CONNECT
    s.setsockopt(socket.IPPROTO_TCP, 34, 1) # TCP_FASTOPEN_NO_COOKIE
    s.connect((at, 8080))
    s.close()'; curl -sS http://allowed.test/`,
		},
		{
			name: "calls of one connection", allow: []string{"allowed.test"}, want: "[115, 0, 106] 101 106", reached: []string{"allowed.test"},
			script: python + `'
import select
s = socket.socket(); s.setblocking(False)
at = (socket.gethostbyname("allowed.test"), 80)
seen = [s.connect_ex(at)]
select.select([], [s], [])
seen += [s.connect_ex(at), s.connect_ex(at)]
refused = socket.socket()
code = refused.connect_ex((at[0], 81))
refused.bind(("127.0.0.1", 0)) # it is not bound
print(seen, code, s.connect_ex(at))'`,
		},
		{
			name: "a network of the command", allow: []string{"allowed.test", "--userns"}, want: "own", needs: notInContainers("user namespaces are refused"),
			script: `echo 'import socket
l = socket.create_server(("10.7.7.7", 5000)); c = socket.create_connection(("10.7.7.7", 5000)); l.accept()[0].send(b"own"); print(c.recv(9))' >own.py
				PATH=$PATH:/usr/sbin:/sbin unshare -Urn sh -c 'ip link set lo up; ip addr add 10.7.7.7/32 dev lo; exec /usr/bin/python3 own.py'`,
		},
		{
			name: "Node", allow: []string{"allowed.test"}, want: "hello from allowed.test", reached: []string{"allowed.test"}, needs: nodeOf,
			script: `NODE_EXTRA_CA_CERTS=$CA "$1" -e 'fetch("https://allowed.test/pub/x").then(r => r.text()).then(console.log)'`,
		},
		{name: "git", allow: []string{"git.test"}, script: `git clone -q https://git.test/hello.git /tmp/hello && cat /tmp/hello/README`, want: "hello from git", reached: []string{"git.test"}},
		{
			name: "ssh", allow: []string{"git.test:22"}, want: "hello from git", reached: []string{"git.test"},
			script: `export GIT_SSH_COMMAND="ssh -F none -i $PWD/id_test -o UserKnownHostsFile=$PWD/known_hosts"
				git clone -q "ssh://git@git.test$(dirname "$CA")/hello.git" /tmp/hello && cat /tmp/hello/README`,
		},
		{
			name: "Go", allow: []string{"goproxy.test"}, want: "hello from go", reached: []string{"goproxy.test"}, needs: goOf,
			script: `export PATH=$1:$PATH GOPROXY=https://goproxy.test GOSUMDB=off GOTOOLCHAIN=local GOPATH=$PWD/gopath GOCACHE=$PWD/gocache GOFLAGS=-modcacherw GOENV=off
				mkdir m; cd m; printf 'module m\n\ngo 1.20\n\nrequire hello.test/hello v1.0.0\n' >go.mod
				go mod download hello.test/hello && grep -o 'hello from go' ../gopath/pkg/mod/hello.test/hello@v1.0.0/hello.go`,
		},
	} {
		for _, p := range places(t) {
			t.Run(p.name+"/"+row.name, func(t *testing.T) {
				var args []string
				if row.needs != nil {
					args = row.needs(t, p)
				}
				options := p.options
				for _, rule := range row.allow {
					if strings.HasPrefix(rule, "--") {
						options = append(options, rule)
						continue
					}
					options = append(options, "--allow", rule)
					if strings.Contains(rule, " ") {
						options = append(options, "--ca", "ephemeral")
					}
				}
				h := newHost(t, p.uid)
				h.env = p.env
				internet.Take()
				got := h.exec(t, options, noProxy+p.trust()+row.script, args...)
				if got.code != 0 || !strings.Contains(got.stdout, row.want) {
					t.Error(got)
				}
				onlyAt(t, internet.Take(), row.reached...)
			})
		}
	}
}

func notInContainers(reason string) func(t *testing.T, p place) []string {
	return func(t *testing.T, p place) []string {
		t.Helper()
		if p.container {
			t.Skipf("not in containers: %s", reason)
		}
		return nil
	}
}

func nodeOf(t *testing.T, p place) []string {
	t.Helper()
	if !p.container {
		return node(t)
	}
	const system = "/usr/bin/node"
	if _, err := os.Stat(system); err != nil {
		missing(t, system)
	}
	return []string{system}
}

// goOf returns the directory of the go command. Containers do not see the directory to which [network.Internet.Show] moves it.
func goOf(t *testing.T, p place) []string {
	t.Helper()
	notInContainers("the toolchain is mounted for the tests alone")(t, p)
	return goTool(t)
}

// What is not allowed fails at once, and the refusal names the rule that is missing.
func Test_Programs_Without_A_Proxy_Are_Refused_At_Once(t *testing.T) {
	available(t)
	for _, row := range []struct{ name, script, said, refused string }{ // a name that begins with "bwrap: " is not for containers
		{"a name", `curl -sS -m 20 https://denied.test/`, "Could not resolve host: denied.test", "connect denied.test:443: no rule allows denied.test on port 443; to allow it: --allow denied.test"},
		{"another port", `curl -sS -m 20 http://allowed.test:8080/`, "curl: (7)", "connect allowed.test:8080: no rule allows allowed.test on port 8080; to allow it: --allow allowed.test:8080"},
		{"an address", `curl -sS -m 20 http://93.184.216.12/`, "curl: (7)", "no rule allows 93.184.216.12 on port 80; to allow it: --allow 93.184.216.12"},
		{"the address of an allowed name", `curl -sS -m 20 http://93.184.216.10/`, "curl: (7)", "no rule allows 93.184.216.10 on port 80"},
		{"an unassigned address", `curl -sS -m 20 http://198.18.7.7/`, "curl: (7)", ""},
		{"a private address", `curl -sS -m 20 http://10.20.30.40/`, "curl: (7)", "no rule allows 10.20.30.40 on port 80"},
		{"the host", `curl -sS -m 20 http://93.184.215.1/`, "curl: (7)", "no rule allows 93.184.215.1 on port 80"},
		{"a packet", `exec 3<>/dev/udp/93.184.216.53/53`, "Network is unreachable", ""}, // a container's guard reports it when the command may be over
		{"bwrap: a packet to an address", `exec 3<>/dev/udp/93.184.216.53/53`, "Network is unreachable", "connect 93.184.216.53:53"},
		{"bwrap: a packet to an allowed name", `exec 3<>/dev/udp/allowed.test/443`, "Network is unreachable", "connect allowed.test:443: only TCP connections reach the network"},
	} {
		t.Run(row.name, func(t *testing.T) {
			all := places(t)
			for name, uid := range users() {
				all = append(all, place{name: name, uid: uid})
			}
			for _, p := range all {
				if p.container && strings.HasPrefix(row.name, "bwrap: ") {
					continue // that it is reported is not sure there: see docs/docker.md
				}
				name, h := p.name, newHost(t, p.uid)
				h.env = p.env
				internet.Take()
				internet.Names()
				got := h.exec(t, append([]string{"--allow", "allowed.test"}, p.options...), noProxy+p.trust()+row.script)
				if got.code == 0 || strings.Contains(got.stdout, "hello") || !strings.Contains(got.stderr+got.stdout, row.said) || !strings.Contains(got.stderr, row.refused) {
					t.Errorf("%s: %v", name, got)
				}
				onlyAt(t, internet.Take())
				if asked := internet.Names(); len(asked) > 0 {
					t.Errorf("names were resolved: %q", asked)
				}
			}
		})
	}
}
