//go:build linux

package bwrap

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// secretValue has characters that are written otherwise in JSON, URLs and Base64.
const secretValue = "ghp_the/real+value=1"

// scene is a workspace with a home, and servers. The servers have loopback addresses for which clients do use the proxy.
type scene struct {
	workspace, home string
	env             []string
	bound, other    *webServer
	ca              *egress.CA // of the servers
	policy          sandbox.Policy

	mu      sync.Mutex
	denials []sandbox.Denial
}

// webServer records the requests that it receives.
type webServer struct {
	addr string // HOST:PORT

	mu    sync.Mutex
	seen  []*http.Request
	conns map[string]bool
}

func (s *webServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.conns[r.RemoteAddr] = true
	s.mu.Unlock()
	switch r.URL.Path {
	case "/stream":
		stream(w, r)
	case "/socket":
		webSocket(w, r)
	case "/upload":
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%d bytes, %v, %v", n, r.TransferEncoding, err)
	case "/-/ping":
		fmt.Fprint(w, `{}`)
	default:
		fmt.Fprintf(w, "hello from %s", s.addr)
	}
}

// header returns the values of a field in all requests so far, and forgets them.
func (s *webServer) header(name string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.seen {
		out = append(out, r.Header.Values(name)...)
	}
	s.seen = nil
	return out
}

// stream sends the second event only after the client has received the first.
func stream(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).EnableFullDuplex()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: one\n\n")
	_ = http.NewResponseController(w).Flush()
	answer := make([]byte, 3)
	_, err := io.ReadFull(r.Body, answer)
	fmt.Fprintf(w, "data: %s %v\n\n", answer, err)
}

// webSocket echoes all bytes after the handshake.
func webSocket(w http.ResponseWriter, r *http.Request) {
	c, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Key: %d\r\n\r\n", len(r.Header.Get("X-Key")))
	_ = rw.Flush()
	_, _ = io.Copy(c, rw)
}

func newScene(t *testing.T) *scene {
	t.Helper()
	dir := t.TempDir()
	p := &scene{workspace: filepath.Join(dir, "work"), home: filepath.Join(dir, "home")}
	for _, d := range []string{p.workspace, p.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ca, err := egress.NewCA(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p.ca = ca
	p.bound = serveWeb(t, "127.0.0.2", ca)
	p.other = serveWeb(t, "127.0.0.3", nil)
	p.env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + p.home, "LANG=C.UTF-8", "TOKEN=" + secretValue,
		"SSL_CERT_FILE=" + p.file(t, "roots.pem", string(ca.Cert)),
	}
	p.policy.Network = sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{p.bound.addr, p.other.addr}}
	return p
}

// file writes a file of the home, which is hidden unless a secret names it.
func (p *scene) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveWeb starts a server, with TLS if there is an authority.
func serveWeb(t *testing.T, host string, ca *egress.CA) *webServer {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &webServer{addr: l.Addr().String(), conns: map[string]bool{}}
	server := httptest.NewUnstartedServer(s)
	_ = server.Listener.Close()
	server.Listener = l
	if ca != nil {
		server.TLS = &tls.Config{Certificates: []tls.Certificate{leaf(t, ca, host)}, MinVersion: tls.VersionTLS12}
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return s
}

func leaf(t *testing.T, ca *egress.CA, host string) tls.Certificate {
	t.Helper()
	signer, err := tls.X509KeyPair(ca.Cert, ca.Key)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.ParseIP(host)}, DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, signer.Leaf, key.Public(), signer.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// secret adds the secret TOKEN, which is bound to the first server.
func (p *scene) secret(s sandbox.Secret) {
	if p.policy.Secrets == nil {
		p.policy.Secrets = map[string]sandbox.Secret{}
	}
	s.Hosts = []string{p.bound.addr}
	p.policy.Secrets["TOKEN"] = s
}

func (p *scene) create(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	d := New(Options{DataDir: t.TempDir(), Denied: func(d sandbox.Denial) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.denials = append(p.denials, d)
	}})
	require.Driver(t, d)
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{Workspace: p.workspace, Env: p.env, Policy: p.policy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return box
}

// hosts returns the denials of hosts so far.
func (p *scene) hosts() (out []sandbox.Denial) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.denials {
		if d.Kind == sandbox.DeniedHost {
			out = append(out, d)
		}
	}
	return out
}

// shell runs a script with the servers' addresses as BOUND and OTHER.
func (p *scene) shell(t *testing.T, box *sandbox.Sandbox, script string) *sandbox.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(time.Minute))
	defer cancel()
	res, err := box.Run(ctx, sandbox.Cmd{Args: []string{"bash", "-c", script}, Env: []string{"BOUND=" + p.bound.addr, "OTHER=" + p.other.addr}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range [][]byte{res.Stdout, res.Stderr} {
		if bytes.Contains(kind, []byte(secretValue)) {
			t.Errorf("the value was seen inside: %s", kind)
		}
	}
	return res
}

func text(res *sandbox.Result) string {
	return fmt.Sprintf("exit status %d: %s%s", res.Code, res.Stdout, res.Stderr)
}

// basicSecret returns the Authorization field that a client sends for the user me and the value.
func basicSecret() string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth("me", secretValue)
	return r.Header.Get("Authorization")
}

func Test_A_Secret_Reaches_Its_Host_By_What_Real_Clients_Send(t *testing.T) {
	plainuser.Repeat(t)
	docker := `{"auths":{"hub":{"auth":"` + strings.TrimPrefix(basicSecret(), "Basic ") + `"}}}`
	for _, row := range []struct {
		name   string
		file   [2]string // path below home, text
		secret sandbox.Secret
		script string
		host   string // an address with a name; empty: one without
		field  string // empty: Authorization
		want   string
	}{
		{
			name: "a variable, sent by curl", secret: sandbox.Secret{FromEnv: "TOKEN", Env: "TOKEN"},
			script: `curl -sS -H "Authorization: Bearer $TOKEN" https://$BOUND/`, want: "Bearer " + secretValue,
		},
		{
			name: "a variable, as the password of curl", secret: sandbox.Secret{FromEnv: "TOKEN", Env: "TOKEN"},
			script: `curl -sS -u "me:$TOKEN" https://$BOUND/`, want: basicSecret(),
		},
		{
			name: "a variable, sent by python", secret: sandbox.Secret{FromEnv: "TOKEN", Env: "TOKEN"}, field: "X-Api-Key", want: secretValue,
			script: `/usr/bin/python3 -c 'import os, urllib.request as u; u.urlopen(u.Request("https://"+os.environ["BOUND"]+"/", headers={"x-api-key": os.environ["TOKEN"]}))'`,
		},
		{
			name: "~/.netrc, read by curl", secret: sandbox.Secret{FromEnv: "TOKEN", File: "~/.netrc"}, want: basicSecret(),
			file: [2]string{".netrc", "machine 127.0.0.2 login me password " + secretValue + "\n"}, script: `curl -sS -n https://$BOUND/`,
		},
		{
			name: "~/.netrc, read by python", secret: sandbox.Secret{FromEnv: "TOKEN", File: "~/.netrc"}, want: basicSecret(),
			file: [2]string{".netrc", "machine 127.0.0.2 login me password " + secretValue + "\n"},
			script: `/usr/bin/python3 -c 'import os, base64, netrc, urllib.request as u
login, _, password = netrc.netrc().authenticators("127.0.0.2")
u.urlopen(u.Request("https://"+os.environ["BOUND"]+"/", headers={"authorization": "Basic "+base64.b64encode((login+":"+password).encode()).decode()}))'`,
		},
		{
			name: "~/.npmrc, read by npm", secret: sandbox.Secret{FromEnv: "TOKEN", File: "~/.npmrc"}, want: "Bearer " + secretValue,
			file: [2]string{".npmrc", "registry=https://$BOUND/\n//$BOUND/:_authToken=" + secretValue + "\n"}, script: pingNPM, host: "127.0.0.1",
		},
		{
			name: "~/.npmrc with _auth, read by npm", secret: sandbox.Secret{FromEnv: "TOKEN", File: "~/.npmrc"}, want: basicSecret(),
			file: [2]string{".npmrc", "registry=https://$BOUND/\n//$BOUND/:_auth=" + strings.TrimPrefix(basicSecret(), "Basic ") + "\n"}, script: pingNPM, host: "127.0.0.1",
		},
		{
			name: "Docker's config.json in a directory that is hidden", secret: sandbox.Secret{FromEnv: "TOKEN", File: "~/.docker/config.json"}, want: basicSecret(),
			file:   [2]string{".docker/config.json", docker},
			script: `ls ~/.docker; curl -sS -H "Authorization: Basic $(grep -o '[A-Za-z0-9+/=]\{24,\}' ~/.docker/config.json)" https://$BOUND/`,
		},
		{
			name: "a file below a directory that is hidden", secret: sandbox.Secret{FromEnv: "TOKEN", File: "~/.aws/sso/cache/token.json"}, want: "Bearer " + secretValue,
			file:   [2]string{".aws/sso/cache/token.json", `{"accessToken":"` + secretValue + `"}`},
			script: `curl -sS -H "Authorization: Bearer $(cut -d'"' -f4 ~/.aws/sso/cache/token.json)" https://$BOUND/`,
		},
		{
			name: "a file that is the value", secret: sandbox.Secret{FromFile: "~/.token", Env: "KEY"}, want: "Bearer " + secretValue,
			file: [2]string{".token", secretValue + "\n"}, script: `curl -sS -H "Authorization: Bearer $KEY" https://$BOUND/; cat ~/.token`,
		},
		{
			name: "a program's output", secret: sandbox.Secret{FromCommand: []string{"printenv", "TOKEN"}, Env: "KEY"}, want: "Bearer " + secretValue,
			script: `curl -sS -H "Authorization: Bearer $KEY" https://$BOUND/`,
		},
		{
			name: "the one field that it is limited to", secret: sandbox.Secret{FromEnv: "TOKEN", Env: "TOKEN", Header: "X-Key"}, field: "X-Key", want: secretValue,
			script: `curl -sS -H "X-Key: $TOKEN" -H "X-Other: $TOKEN" https://$BOUND/`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newScene(t)
			if row.host != "" {
				p.bound = serveWeb(t, row.host, p.ca)
				p.byName()
			}
			if row.file[0] != "" {
				p.file(t, row.file[0], strings.ReplaceAll(row.file[1], "$BOUND", p.bound.addr))
			}
			p.secret(row.secret)
			res := p.shell(t, p.create(t), row.script)
			field := row.field
			if field == "" {
				field = "Authorization"
			}
			p.bound.mu.Lock()
			if len(p.bound.seen) > 0 && strings.Contains(p.bound.seen[0].Header.Get("X-Other"), secretValue) {
				t.Error("the value stands in a field that it is not for")
			}
			p.bound.mu.Unlock()
			if got := p.bound.header(field); len(got) != 1 || got[0] != row.want {
				t.Errorf("the server got %q, want %q; %s", got, row.want, text(res))
			}
			if d := p.hosts(); len(d) > 0 {
				t.Errorf("refused: %+v", d)
			}
		})
	}
}

// pingNPM asks the proxy for localhost, too: without a name, npm checks none.
const pingNPM = `export npm_config_cache=/tmp/npm npm_config_update_notifier=false npm_config_fetch_retries=0
	unset NO_PROXY no_proxy npm_config_noproxy; npm ping`

// byName gives the bound server a host name.
func (p *scene) byName() {
	_, port, _ := net.SplitHostPort(p.bound.addr)
	p.policy.Network.Allow = append(p.policy.Network.Allow, p.bound.addr, "localhost:"+port)
	p.bound.addr = "localhost:" + port
}

func Test_The_Value_Of_A_Secret_Is_In_No_File_Or_Process_Inside(t *testing.T) {
	plainuser.Repeat(t)
	p := newScene(t)
	p.file(t, ".npmrc", "//host/:_authToken="+secretValue+"\n")
	p.file(t, ".token", secretValue)
	p.env = append(p.env, "OTHER_NAME="+secretValue, "AS_URL=https://me:ghp_the%2Freal+value=1@host", "NPM_SETTING=x")
	p.secret(sandbox.Secret{FromFile: "~/.token", File: "~/.npmrc", Env: "TOKEN"})
	res := p.shell(t, p.create(t), `
		env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n'
		cat ~/.npmrc; ls -l ~/.npmrc; cat ~/.token; echo x >> ~/.npmrc; rm ~/.npmrc
		grep -rs 'the[/]real' ~ /tmp /run /dev/shm "$PWD" && echo fo''und`)
	out := text(res)
	for _, bad := range []string{"the/real", "the%2Freal", "OTHER_NAME", "AS_URL", "found"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q is inside: %s", bad, out)
		}
	}
	for _, want := range []string{"NPM_SETTING=x", "//host/:_authToken=ghp_", "-r--------", "TOKEN=ghp_"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing: %s", want, out)
		}
	}
	if got, err := os.ReadFile(filepath.Join(p.home, ".npmrc")); err != nil || !strings.Contains(string(got), secretValue) {
		t.Errorf("the host's file is %q, %v", got, err)
	}
}

func Test_A_Placeholder_Elsewhere_Is_Refused_And_Reported(t *testing.T) {
	for _, row := range []struct{ name, script string }{
		{"in a header field", `curl -sS -H "Authorization: Bearer $TOKEN" http://$OTHER/`},
		{"in a password", `curl -sS -u "me:$TOKEN" http://$OTHER/`},
		{"in the query", `curl -sS "http://$OTHER/?t=$TOKEN"`},
		{"in the body", `curl -sS -d "t=$TOKEN" http://$OTHER/`},
		{"in a body in pieces", `echo "$TOKEN" | curl -sS -T - http://$OTHER/upload`},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newScene(t)
			p.secret(sandbox.Secret{})
			res := p.shell(t, p.create(t), row.script)
			d := p.hosts()
			if len(d) != 1 || d[0].Target != p.other.addr || !strings.Contains(d[0].Reason, "the placeholder of the secret") {
				t.Errorf("refused: %+v; %s", d, text(res))
			}
			if !strings.Contains(text(res), "TOKEN") {
				t.Errorf("the client received %s", text(res))
			}
		})
	}
}

func Test_Git_Uses_A_Secret(t *testing.T) {
	plainuser.Repeat(t)
	for _, row := range []struct {
		name   string
		secret sandbox.Secret
		file   [2]string
		script string
	}{
		{
			"in the URL",
			sandbox.Secret{FromEnv: "TOKEN", Env: "TOKEN"},
			[2]string{},
			`git clone -q "https://me:$TOKEN@$BOUND/repo.git" copy && cat copy/file`,
		},
		{
			"of a credential helper",
			sandbox.Secret{FromEnv: "TOKEN", Env: "TOKEN"},
			[2]string{},
			`git -c credential.helper='!f() { echo username=me; echo password=$TOKEN; }; f' clone -q "https://$BOUND/repo.git" copy && cat copy/file`,
		},
		{
			"in ~/.git-credentials",
			sandbox.Secret{FromEnv: "TOKEN", File: "~/.git-credentials"},
			[2]string{".git-credentials", "https://me:ghp_the%2freal+value=1@$HOST\n"},
			`git -c credential.helper=store clone -q "https://$BOUND/repo.git" copy && cat copy/file`,
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newScene(t)
			p.serveGit(t)
			if row.file[0] != "" {
				p.file(t, row.file[0], strings.ReplaceAll(row.file[1], "$HOST", strings.Replace(p.bound.addr, ":", "%3a", 1)))
			}
			// A clone makes a repository, which is forbidden in the workspace.
			p.policy.Commands = map[string]sandbox.CommandRule{"git": "true"}
			p.secret(row.secret)
			res := p.shell(t, p.create(t), "cd /tmp; "+row.script)
			if !strings.HasPrefix(string(res.Stdout), "hello from git") {
				t.Error(text(res))
			}
		})
	}
}

// serveGit replaces the bound server by one with a repository that needs a password.
func (p *scene) serveGit(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	repo := filepath.Join(root, "repo.git")
	for _, args := range [][]string{
		{"init", "-q", "--bare", repo},
		{"-C", repo, "config", "http.receivepack", "false"},
	} {
		git(t, "", args...)
	}
	blob := git(t, "hello from git\n", "-C", repo, "hash-object", "-w", "--stdin")
	tree := git(t, "100644 blob "+blob+"\tfile\n", "-C", repo, "mktree")
	commit := git(t, "", "-C", repo, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit-tree", "-m", "first", tree)
	git(t, "", "-C", repo, "update-ref", "HEAD", commit)
	backend := &cgi.Handler{
		Path: filepath.Join(git(t, "", "--exec-path"), "git-http-backend"),
		Env:  []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"},
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, ok := r.BasicAuth(); !ok || password != secretValue {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		backend.ServeHTTP(w, r)
	}))
	_ = server.Listener.Close()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Fatal(err)
	}
	server.Listener = l
	server.TLS = &tls.Config{Certificates: []tls.Certificate{leaf(t, p.ca, "127.0.0.2")}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	p.bound = &webServer{addr: l.Addr().String()}
	p.policy.Network.Allow = append(p.policy.Network.Allow, p.bound.addr)
}

func git(t *testing.T, input string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func Test_Inspection_Forwards_Data_As_It_Arrives(t *testing.T) {
	for _, row := range []struct{ name, script, want string }{
		{
			"two requests go over one connection", `curl -sS https://$BOUND/ https://$BOUND/`, "hello from",
		},
		{
			"an upload of 100 MB in chunks arrives", `head -c 100000000 /dev/zero | curl -sS -T - https://$BOUND/upload`, "100000000 bytes, [chunked], <nil>",
		},
		{
			"an upload of 100 MB with its length arrives", `head -c 100000000 /dev/zero > /tmp/f; curl -sS --data-binary @/tmp/f https://$BOUND/upload`, "100000000 bytes, [], <nil>",
		},
		{
			"an event is seen before the next one is made", `/usr/bin/python3 -c '
import os, ssl, socket, http.client
proxy = os.environ["HTTPS_PROXY"].split("//")[1].split(":")
host = os.environ["BOUND"].split(":")
c = http.client.HTTPSConnection(proxy[0], int(proxy[1]))
c.set_tunnel(host[0], int(host[1]))
c.putrequest("POST", "/stream"); c.putheader("Content-Length", "3"); c.endheaders()
r = c.getresponse()
print(r.readline().decode(), end="")
c.send(b"yes")
print(r.read().decode())
'`, "data: one\n\ndata: yes <nil>",
		},
		{
			"a WebSocket is passed on, with the value in its handshake", `/usr/bin/python3 -c '
import os, ssl, http.client
proxy = os.environ["HTTPS_PROXY"].split("//")[1].split(":")
host = os.environ["BOUND"].split(":")
c = http.client.HTTPSConnection(proxy[0], int(proxy[1]))
c.set_tunnel(host[0], int(host[1]))
c.putrequest("GET", "/socket")
for k, v in {"Connection": "Upgrade", "Upgrade": "websocket", "X-Key": os.environ["TOKEN"]}.items(): c.putheader(k, v)
c.endheaders()
f = c.sock.makefile("rwb", 0)
head = b""
while not head.endswith(b"\r\n\r\n"): head += f.read(1)
print(head.decode().splitlines()[0], "X-Key: 20" in head.decode())
for word in [b"ping", b"pong"]:
    f.write(word); print(f.read(4).decode())
'`, "HTTP/1.1 101 Switching Protocols True\nping\npong\n",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newScene(t)
			p.secret(sandbox.Secret{}) // its host's TLS is opened
			res := p.shell(t, p.create(t), row.script)
			if !strings.Contains(string(res.Stdout), row.want) {
				t.Error(text(res))
			}
			if n := len(p.bound.conns); n != 1 {
				t.Errorf("%d connections to the server, want 1", n)
			}
		})
	}
}
