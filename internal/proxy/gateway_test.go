package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// certificate returns a new authority as PEM.
func certificate(t *testing.T) *egress.CA {
	t.Helper()
	ca, err := egress.NewCA(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func count(text []byte) (certs int) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return certs
		}
		certs++
	}
}

func Test_Authorities_Of_The_Environment(t *testing.T) {
	one, two := certificate(t), certificate(t)
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "one.pem"), "talk\n"+string(one.Cert))
	both := write(t, filepath.Join(dir, "key.pem"), string(one.Key)+string(one.Cert)+"password: "+value)
	key := write(t, filepath.Join(dir, "id"), string(one.Key))
	empty := t.TempDir()
	hashed := t.TempDir()
	write(t, filepath.Join(hashed, "a.0"), string(two.Cert))
	write(t, filepath.Join(hashed, "b.0"), string(two.Cert))
	write(t, filepath.Join(hashed, "c.key"), string(two.Key))
	link := filepath.Join(dir, "planted")
	if err := os.Symlink(key, link); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		env    []string
		system bool
		own    [][]byte
		error  string
	}{
		{"the system's when nothing is said", nil, true, nil, ""},
		{"SSL_CERT_FILE in its place", []string{"SSL_CERT_FILE=" + file}, false, [][]byte{one.Cert}, ""},
		{"nothing but certificates goes inside", []string{"SSL_CERT_FILE=" + both}, false, [][]byte{one.Cert}, ""},
		{"SSL_CERT_DIR beside its file, each certificate once", []string{"SSL_CERT_DIR=" + empty + ":" + hashed + ":/missing"}, true, [][]byte{two.Cert}, ""},
		{"both", []string{"SSL_CERT_FILE=" + file, "SSL_CERT_DIR=" + hashed}, false, [][]byte{one.Cert, two.Cert}, ""},
		{"the system's file and a directory", []string{"SSL_CERT_FILE=" + bundles[0], "SSL_CERT_DIR=" + hashed}, true, [][]byte{two.Cert}, ""},
		{"a file and the system's directory", []string{"SSL_CERT_FILE=" + file, "SSL_CERT_DIR=" + directories[0] + "/"}, true, [][]byte{one.Cert}, ""},
		{"the system's own places", []string{"SSL_CERT_FILE=" + bundles[0], "SSL_CERT_DIR=" + directories[0]}, true, nil, ""},
		{"a link that commands planted shows nothing", []string{"SSL_CERT_FILE=" + link}, false, nil, "SSL_CERT_FILE: no certificate in "},
		{"a file that is gone", []string{"SSL_CERT_FILE=/missing"}, false, nil, "SSL_CERT_FILE: open /missing: no such file"},
		{"a device", []string{"SSL_CERT_FILE=/dev/zero"}, false, nil, "/dev/zero is not a regular file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			system, own, err := authorities(row.env)
			if row.error != "" {
				if err == nil || !strings.Contains(err.Error(), row.error) {
					t.Errorf("got %v, want %q", err, row.error)
				}
				return
			}
			if err != nil || !bytes.Equal(own, bytes.Join(row.own, nil)) {
				t.Errorf("got %d certificates, %v, want %d", count(own), err, len(row.own))
			}
			if base, _ := systemAuthorities(); (len(system) > 0) != (row.system && len(base) > 0) {
				t.Errorf("%d of the system's", count(system))
			}
			if bytes.Contains(append(system, own...), []byte("PRIVATE KEY")) {
				t.Error("there is a private key in it")
			}
		})
	}
}

func Test_The_Authority_Of_A_File(t *testing.T) {
	ca := certificate(t)
	dir := t.TempDir()
	for _, row := range []struct{ name, text, error string }{
		{"certificate and key", string(ca.Cert) + string(ca.Key), ""},
		{"key and certificate", string(ca.Key) + string(ca.Cert), ""},
		{"no key", string(ca.Cert), "expected a PEM file with a certificate and its private key"},
		{"no certificate", string(ca.Key), "expected a PEM file with a certificate and its private key"},
		{"nothing", "", "expected a PEM file with a certificate and its private key"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := loadAuthority(write(t, filepath.Join(dir, "ca.pem"), row.text))
			switch {
			case row.error != "":
				if err == nil || !strings.Contains(err.Error(), row.error) {
					t.Errorf("got %v", err)
				}
			case err != nil || !bytes.Equal(got.Cert, ca.Cert) || !bytes.Equal(got.Key, ca.Key):
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// served returns a running gateway and a client of it.
func served(t *testing.T, plan *policy.Plan, env []string, denied func(sandbox.Denial)) (*Gateway, *http.Client) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := Open(t.Context(), plan, Options{Addr: l.Addr().String(), Bundle: "/bundle.pem", HostEnv: env, Denied: denied})
	if err != nil {
		t.Fatal(err)
	}
	if !g.IsProxied() {
		t.Fatal("there is no proxy")
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- g.Serve(ctx, l) }()
	roots := x509.NewCertPool()
	for _, f := range g.Files {
		if f.Path == "/bundle.pem" {
			roots.AppendCertsFromPEM(f.Data)
		}
	}
	tr := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: l.Addr().String()}),
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return g, &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

func Test_A_Value_Reaches_Its_Host_Only(t *testing.T) {
	seen := make(chan string, 1)
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header.Get("Authorization") })
	bound, other := httptest.NewTLSServer(handler), httptest.NewServer(handler)
	defer bound.Close()
	defer other.Close()
	trusted := write(t, filepath.Join(t.TempDir(), "roots.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bound.Certificate().Raw})))
	host := strings.TrimPrefix(bound.URL, "https://")
	plan := &policy.Plan{
		Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{host, "http://" + strings.TrimPrefix(other.URL, "http://")}, CA: policy.EphemeralCA},
		Secrets: []policy.Secret{{Name: "TOKEN", FromEnv: "TOKEN", Env: "TOKEN", Hosts: []string{host}, Source: "--secret"}},
	}
	denials := make(chan sandbox.Denial, 10)
	g, client := served(t, plan, []string{"TOKEN=" + value, "SSL_CERT_FILE=" + trusted}, func(d sandbox.Denial) { denials <- d })
	token := lookupVariable(g.Env, "TOKEN")
	for _, row := range []struct {
		name, url string
		status    int
		want      string
	}{
		{"the bound one gets the value", bound.URL, http.StatusOK, "Bearer " + value},
		{"another one gets nothing", other.URL, http.StatusForbidden, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, _ := io.ReadAll(res.Body)
			if res.StatusCode != row.status || bytes.Contains(text, []byte(value)) {
				t.Errorf("got %s: %s", res.Status, text)
			}
			if row.want != "" {
				if got := <-seen; got != row.want {
					t.Errorf("the server got %q", got)
				}
			}
		})
	}
	d := <-denials
	if d.Kind != sandbox.DeniedHost || d.Op != "request" || !strings.Contains(d.Reason, "the placeholder of the secret") || "http://"+d.Target != other.URL {
		t.Errorf("the denial is %+v", d)
	}
	if len(seen) > 0 {
		t.Errorf("the other server got %q", <-seen)
	}
}

func Test_Denials_Name_Their_Rule_And_Its_Place(t *testing.T) {
	plan := &policy.Plan{
		Network:      sandbox.Network{Mode: sandbox.NetworkAllow, Deny: []string{"ads.example.com"}},
		NetworkRules: []policy.NetworkRule{{List: "deny", Rule: "ads.example.com", Source: "config.json:3"}},
	}
	denials := make(chan sandbox.Denial, 10)
	g, client := served(t, plan, nil, func(d sandbox.Denial) { denials <- d })
	if len(g.Files) > 0 || strings.Contains(strings.Join(g.Env, " "), "SSL_CERT_FILE") {
		t.Errorf("there are authorities although nothing is inspected: %v, %v", g.Files, g.Env)
	}
	for _, row := range []struct {
		url  string
		want sandbox.Denial
	}{
		{"http://ads.example.com/", sandbox.Denial{Target: "ads.example.com:80", Rule: "ads.example.com", Source: "config.json:3"}},
		{"https://example.org/", sandbox.Denial{Target: "example.org:443", Fix: "--allow example.org"}},
	} {
		t.Run(row.url, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if res, err := client.Do(req); err == nil {
				_ = res.Body.Close()
			}
			d := <-denials
			if d.Op != "connect" || d.Target != row.want.Target || d.Rule != row.want.Rule || d.Source != row.want.Source || d.Fix != row.want.Fix || d.Reason == "" {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func Test_Faults_Of_The_Plan_Are_Errors(t *testing.T) {
	for _, row := range []struct {
		name string
		plan policy.Plan
		want error
	}{
		{"a CA that is gone", policy.Plan{Network: sandbox.Network{Mode: sandbox.NetworkAllow, CA: "/missing"}}, sandbox.ErrNotFound},
		{"a rule that needs a CA", policy.Plan{Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: []string{"GET https://example.com/x"}}}, sandbox.ErrUnsupported},
		{"a program that is gone", policy.Plan{Secrets: []policy.Secret{{Name: "A", FromCommand: []string{"/missing"}, Env: "A"}}}, sandbox.ErrUnavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			if g, err := Open(t.Context(), &row.plan, Options{}); !errors.Is(err, row.want) || g != nil {
				t.Errorf("got %v, %v", g, err)
			}
		})
	}
}
