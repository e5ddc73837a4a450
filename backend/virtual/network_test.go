package virtual

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// bed has two servers, of which a policy allows one.
type bed struct {
	open, shut, secure *httptest.Server
	ca                 string // file with the authority that has signed for secure

	mu      sync.Mutex
	seen    []string // requests, with Authorization
	denials []sandbox.Denial
}

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.seen = append(b.seen, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"), body))
		b.mu.Unlock()
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		_, _ = fmt.Fprintf(w, "hello from %s\n", r.URL.Path)
	})
	b.open, b.shut = httptest.NewServer(handler), httptest.NewServer(handler)
	b.secure = httptest.NewUnstartedServer(handler)
	cert, ca := pair(t)
	b.secure.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	b.secure.StartTLS()
	b.ca = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(b.ca, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.open.Close()
		b.shut.Close()
		b.secure.Close()
	})
	return b
}

// pair returns a certificate for loopback with the authority that has signed it.
func pair(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	sign := func(parent *x509.Certificate, by *ecdsa.PrivateKey, ca bool) (*ecdsa.PrivateKey, *x509.Certificate) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: fmt.Sprint("test ", ca)},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: ca, BasicConstraintsValid: true,
			DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		if parent == nil {
			parent, by = c, key
		}
		der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
		if err != nil {
			t.Fatal(err)
		}
		if c, err = x509.ParseCertificate(der); err != nil {
			t.Fatal(err)
		}
		return key, c
	}
	caKey, ca := sign(nil, nil, true)
	key, leaf := sign(ca, caKey, false)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Raw})
}

func address(s *httptest.Server) string { return s.Listener.Addr().String() }

// machine returns a shell with the network of a policy.
func (b *bed) machine(t *testing.T, p sandbox.Policy, env ...string) (*network, *shell.Shell) {
	t.Helper()
	env = append(env, "HOME="+t.TempDir(), "SSL_CERT_FILE="+b.ca)
	plan, err := policy.Resolve(sandbox.Spec{Env: env, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	n, err := openNetwork(t.Context(), plan, networkOptions{HostEnv: env, Denied: func(d sandbox.Denial) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.denials = append(b.denials, d)
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	vars := n.environ(append(plan.Env, "PATH=/usr/bin", "OPEN="+address(b.open), "SHUT="+address(b.shut), "SECURE="+address(b.secure)))
	sh := shell.New(shell.Options{Env: vars, Commands: coreutils.Commands()})
	t.Cleanup(sh.Close)
	if err := sh.Register(n.commands()...); err != nil {
		t.Fatal(err)
	}
	return n, sh
}

func (b *bed) run(t *testing.T, sh *shell.Shell, script string) (out, msg string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(20*time.Second))
	defer cancel()
	var o, e bytes.Buffer
	res, err := sh.Run(ctx, script, shell.Stdio{Stdout: &o, Stderr: &e})
	if err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), res.Status
}

func (b *bed) take() (seen []string, denials []sandbox.Denial) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen, denials = b.seen, b.denials
	b.seen, b.denials = nil, nil
	return seen, denials
}

func allow(rules ...string) sandbox.Policy {
	return sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: rules}}
}

func Test_The_Allow_List_Holds_In_Memory(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	p := allow(address(b.open), address(b.secure), "localhost:1-65535", "GET,HEAD http://127.0.0.2:1-65535/pub/**")
	_, sh := b.machine(t, p)
	for _, row := range []struct {
		name, script string
		out, msg     string // parts
		status       int
		denied       string // the target; "": nothing is
		seen         int
	}{
		{"a listed host", "curl -sS http://$OPEN/a", "hello from /a\n", "", 0, "", 1},
		{"twice on one connection", "curl -sS http://$OPEN/a http://$OPEN/b -d x", "hello from /a\nhello from /b\n", "", 0, "", 2},
		{"a listed host over TLS", "curl -sSk https://$SECURE/s", "hello from /s\n", "", 0, "", 1},
		{"another host", "curl -sS http://$SHUT/", "agent-sandbox refused this connection.\nhost: 127.0.0.1\n", "", 0, "SHUT", 0},
		{"another host, told by status", "curl -sSf http://$SHUT/", "", "curl: (22) The requested URL returned error: 403\n", 22, "SHUT", 0},
		{"another host over TLS", "curl -sS https://$SHUT/", "", "curl: (56) CONNECT tunnel failed, response 403\n", 56, "SHUT", 0},
		{"a redirection to another host", "curl -sSL http://$OPEN/?to=http://$SHUT/x", "agent-sandbox refused this connection.", "", 0, "SHUT", 1},
		{"a redirection to another host over TLS", "curl -sSL http://$OPEN/?to=https://$SHUT/x", "", "CONNECT tunnel failed, response 403", 56, "SHUT", 1},
		{"a name that leads to a private address", "curl -sS -w '%{http_code}' -o /tmp/o http://localhost:${SHUT#*:}/", "403", "", 0, "localhost", 0},
		{"a private address", "curl -sS -o /tmp/o -w '%{http_code}' http://10.1.2.3/", "403", "", 0, "10.1.2.3", 0},
		{"the metadata service", "curl -sSf http://169.254.169.254/latest", "", "error: 403", 22, "169.254.169.254", 0},
		{"another host with wget", "wget -nv -O- http://$SHUT/", "", "ERROR 403: Forbidden by agent-sandbox: no rule allows 127.0.0.1", 8, "SHUT", 0},
		{"another host over TLS with wget", "wget -nv -O- https://$SHUT/", "", "Proxy tunneling failed: response 403\n", 4, "SHUT", 0},
		{"a tunnel that is asked for", "curl -sSp http://$SHUT/", "", "CONNECT tunnel failed, response 403", 56, "SHUT", 0},
		{"a method that is not listed", "curl -sSf -X DELETE http://127.0.0.2:${OPEN#*:}/pub/x", "", "error: 403", 22, "127.0.0.2", 0},
		{"a body that is refused while it is sent", "printf '%3000000d' 1 | curl -sS -o /tmp/o -w '%{http_code}' -T - http://$SHUT/", "403", "", 0, "SHUT", 0},
		{"a name of this host", "curl -sS -o /tmp/o -w '%{http_code}' http://localhost:1/", "403", "", 0, "localhost", 0},
		{"a proxy of one's own", "curl -sS -x http://$SHUT http://$OPEN/", "", "curl: option -x: the sandbox decides which way requests go\n", 2, "", 0},
		{"an address of one's own", "curl -sS --resolve a:1:127.0.0.1 http://$OPEN/", "", "curl: option --resolve: the sandbox decides which way requests go\n", 2, "", 0},
		{"variables that name a proxy", "http_proxy=http://$SHUT https_proxy=http://$SHUT curl -sS http://$OPEN/", "hello", "", 0, "", 1},
		{"another Host field than the URL's", "curl -sS -o /tmp/o -w '%{http_code}' -H 'Host: other.test' http://$OPEN/", "400", "", 0, "OPEN", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			b.take()
			out, msg, status := b.run(t, sh, row.script)
			seen, denials := b.take()
			if !strings.Contains(out, row.out) || !strings.Contains(msg, row.msg) || (row.msg == "") != (msg == "") || status != row.status {
				t.Errorf("%s\nstdout %q\n  want %q\nstderr %q\n  want %q\nstatus %d, want %d", row.script, out, row.out, msg, row.msg, status, row.status)
			}
			if len(seen) != row.seen {
				t.Errorf("servers saw %q, want %d requests", seen, row.seen)
			}
			want := strings.NewReplacer("SHUT", address(b.shut), "OPEN", address(b.open)).Replace(row.denied)
			switch {
			case want == "" && len(denials) > 0:
				t.Errorf("denied: %+v", denials)
			case want != "" && (len(denials) != 1 || !strings.HasPrefix(denials[0].Target, want)):
				t.Errorf("denied: %+v, want one of %s", denials, want)
			}
		})
	}
}

func Test_A_Refusal_Says_What_The_Proxy_Would_Say_To_The_Real_Curl(t *testing.T) {
	t.Parallel()
	require.Command(t, "curl", "")
	b := newBed(t)
	n, sh := b.machine(t, allow(address(b.open)))
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var served sync.WaitGroup
	served.Go(func() { _ = n.gateway.Serve(ctx, l) })
	defer served.Wait()
	defer cancel()
	for _, script := range []string{
		"curl -s http://$OPEN/a", "curl -s -i http://$SHUT/", "curl -sS https://$SHUT/", "curl -sS -i https://$SHUT/", "curl -sS -f http://$SHUT/",
		"curl -s -d a=b http://$OPEN/b", "curl -sSL http://$OPEN/?to=http://$SHUT/", "curl -s -o out -w '%{http_code} %{http_connect}' https://$SHUT/",
		"curl -s -I http://$SHUT/", "curl -s -w '%{http_code} %{num_connects} %{size_download}' http://$OPEN/c http://$OPEN/d",
	} {
		t.Run(script, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
			cmd.Dir = t.TempDir()
			cmd.Env = []string{
				"PATH=/usr/bin:/bin", "OPEN=" + address(b.open), "SHUT=" + address(b.shut), "HOME=" + cmd.Dir,
				"http_proxy=http://" + l.Addr().String(), "https_proxy=http://" + l.Addr().String(),
			}
			var o, e bytes.Buffer
			cmd.Stdout, cmd.Stderr = &o, &e
			var exit *exec.ExitError
			if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			out, msg, status := b.run(t, sh, script)
			if undated(out) != undated(o.String()) || msg != e.String() || status != cmd.ProcessState.ExitCode() {
				t.Errorf("stdout %q\n  want %q\nstderr %q\n  want %q\nstatus %d, want %d", out, o.String(), msg, e.String(), status, cmd.ProcessState.ExitCode())
			}
		})
	}
}

// undated removes the Date field.
func undated(s string) string {
	before, after, ok := strings.Cut(s, "Date: ")
	if !ok {
		return s
	}
	_, after, _ = strings.Cut(after, "\n")
	return before + after
}

func Test_A_Secret_Is_Put_In_Outside_And_Never_Seen_Inside(t *testing.T) {
	t.Parallel()
	const value = "s3cr3t-value-of-the-host"
	b := newBed(t)
	p := allow(address(b.open), address(b.secure))
	p.Network.CA = policy.EphemeralCA
	p.Secrets = map[string]sandbox.Secret{
		"TOKEN": {FromEnv: "HOST_TOKEN", Hosts: []string{"http://" + address(b.open), "https://" + address(b.secure)}},
	}
	n, sh := b.machine(t, p, "HOST_TOKEN="+value, "COPY=x "+value)
	b.take()
	out, msg, status := b.run(t, sh, `env; curl -sS -H "Authorization: Bearer $TOKEN" http://$OPEN/plain; curl -sS -H "Authorization: Bearer $TOKEN" https://$SECURE/tls`)
	if status != 0 || msg != "" || !strings.Contains(out, "hello from /plain\nhello from /tls\n") {
		t.Fatalf("status %d\n%s%s", status, out, msg)
	}
	if strings.Contains(out, value) || !strings.Contains(out, "TOKEN=") || strings.Contains(out, "PROXY") || strings.Contains(out, "CA_BUNDLE") {
		t.Errorf("inside there was\n%s", out)
	}
	seen, denials := b.take()
	if len(seen) != 2 || !strings.Contains(seen[0], "Bearer "+value) || !strings.Contains(seen[1], "Bearer "+value) || len(denials) > 0 {
		t.Errorf("servers saw %q, denied %+v", seen, denials)
	}
	out, _, _ = b.run(t, sh, `curl -sS -o /tmp/o -w '%{http_code}' -d "$TOKEN" http://$SHUT/`)
	if _, denials = b.take(); out != "403" || len(denials) != 1 {
		t.Errorf("another host: %q, denied %+v", out, denials)
	}
	if len(n.files()) != 0 {
		t.Errorf("files %+v", n.files())
	}
}

func Test_Programs_Of_The_Network_Are_There_Where_Something_Is_Allowed(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for _, row := range []struct {
		name   string
		policy sandbox.Policy
		there  bool
	}{
		{"no network", sandbox.Policy{}, false},
		{"an allow-list", allow(address(b.open)), true},
		{"the host's network", sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkHost}}, true},
		{"secrets alone", sandbox.Policy{Secrets: map[string]sandbox.Secret{"HOME_TOKEN": {FromEnv: "HT", Hosts: []string{"a.test"}}}}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, sh := b.machine(t, row.policy, "HT=a-long-secret-value")
			out, _, status := b.run(t, sh, "type curl wget > /tmp/o 2>&1 && curl -sS http://$OPEN/x && wget -qO- http://$OPEN/y")
			if there := status == 0 && out == "hello from /x\nhello from /y\n"; there != row.there {
				t.Errorf("status %d, %q", status, out)
			}
		})
	}
}

func Test_Closing_The_Network_Ends_Waiting_Requests(t *testing.T) {
	t.Parallel()
	hang, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer hang.Close()
	arrived := make(chan struct{})
	go func() {
		if c, err := hang.Accept(); err == nil {
			close(arrived)
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	b := newBed(t)
	n, sh := b.machine(t, allow(hang.Addr().String()))
	done := make(chan int)
	go func() {
		_, _, status := b.run(t, sh, "curl -s http://"+hang.Addr().String()+"/")
		done <- status
	}()
	<-arrived
	n.close()
	<-done
	if _, msg, status := b.run(t, sh, "curl -sS http://$OPEN/"); status != 7 {
		t.Errorf("behind the end: status %d, %s", status, msg)
	}
}

func Test_A_Nil_Network_Has_Nothing(t *testing.T) {
	t.Parallel()
	var none *network
	if none.files() != nil || none.commands() != nil || len(none.environ([]string{"A=b"})) != 1 || none.dropped() != nil {
		t.Error("a nil network has something")
	}
	none.close()
}
