//go:build linux

package docker_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// way is a company's proxy, as in network.upstream, and the listener of the only server that it connects to, for every
// host. The server has a certificate for its host that the company has signed.
type way struct {
	proxy string // its URL
	ca    string // the file with the company's certificate

	config *tls.Config
	conns  chan net.Conn
	done   chan struct{}
	once   sync.Once

	mu    sync.Mutex
	hosts []string
}

func newWay(t *testing.T, host string) *way {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	w := &way{
		ca: filepath.Join(t.TempDir(), "ca.pem"), conns: make(chan net.Conn), done: make(chan struct{}),
		config: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS12},
	}
	write(t, w.ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	w.proxy = s.URL
	return w
}

// ServeHTTP answers a CONNECT.
func (w *way) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.hosts = append(w.hosts, r.Method+" "+r.Host)
	w.mu.Unlock()
	c, _, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		panic(err) // HTTP/1 connections can be hijacked
	}
	if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		_ = c.Close() // the client has disconnected
		return
	}
	select {
	case w.conns <- tls.Server(c, w.config):
	case <-w.done:
		_ = c.Close()
	}
}

// asked returns the requests that the proxy received, each once.
func (w *way) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(w.hosts)))
}

// Accept returns a connection to the server.
func (w *way) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (w *way) Close() error {
	w.once.Do(func() { close(w.done) })
	return nil
}

// Addr returns no real address.
func (w *way) Addr() net.Addr { return &net.TCPAddr{} }
