package egress

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// CA is a certificate authority that clients in the sandbox trust. The key must never
// be visible inside.
type CA struct {
	Cert []byte // PEM, one certificate that may sign others
	Key  []byte // PEM, PKCS #8, PKCS #1 or SEC 1
}

const (
	leafLife  = 24 * time.Hour
	maxLeaves = 512
)

// NewCA creates an authority for one run with the validity life.
func NewCA(life time.Duration) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Internal, "make a CA: %w", err)
	}
	tmpl := template("agent-sandbox", life)
	tmpl.IsCA, tmpl.MaxPathLenZero = true, true
	tmpl.KeyUsage = x509.KeyUsageCertSign
	cert, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Internal, "make a CA: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Internal, "make a CA: %w", err)
	}
	return &CA{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}, nil
}

func template(name string, life time.Duration) *x509.Certificate {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) // crypto/rand never fails since Go 1.24
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life), // clocks inside may be slow
	}
}

// authority issues certificates on demand.
type authority struct {
	cert  *x509.Certificate
	key   any
	roots func() (*x509.CertPool, error)
	leaf  *ecdsa.PrivateKey // one key for all certificates; it never leaves this process

	mu     sync.Mutex
	leaves map[hosts.Host]*tls.Certificate
}

func newAuthority(ca CA, extra []byte) (*authority, error) {
	pair, err := tls.X509KeyPair(ca.Cert, ca.Key)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "network.ca: %w", err)
	}
	if !pair.Leaf.IsCA || (pair.Leaf.KeyUsage != 0 && pair.Leaf.KeyUsage&x509.KeyUsageCertSign == 0) {
		return nil, sandbox.Errorf(sandbox.Invalid, "network.ca: the certificate is not an authority's")
	}
	if time.Now().After(pair.Leaf.NotAfter) {
		return nil, sandbox.Errorf(sandbox.Invalid, "network.ca: the certificate has expired")
	}
	if block, _ := pem.Decode(extra); len(extra) > 0 && block == nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "network.roots: no certificate in it")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Internal, "make a key: %w", err)
	}
	return &authority{cert: pair.Leaf, key: pair.PrivateKey, roots: trusted(extra), leaf: key, leaves: make(map[hosts.Host]*tls.Certificate)}, nil
}

// trusted returns a function that loads the system's authorities and those in extra on
// its first call.
func trusted(extra []byte) func() (*x509.CertPool, error) {
	return sync.OnceValues(func() (*x509.CertPool, error) {
		roots, err := x509.SystemCertPool()
		if err != nil {
			return nil, sandbox.Errorf(sandbox.Unavailable, "the system's certificate authorities: %w", err)
		}
		if len(extra) > 0 && !roots.AppendCertsFromPEM(extra) {
			return nil, sandbox.Errorf(sandbox.Invalid, "network.roots: no certificate in it")
		}
		return roots, nil
	})
}

// upstream verifies servers like a client without a proxy.
func (a *authority) upstream() (*tls.Config, error) {
	roots, err := a.roots()
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}, err
}

func (a *authority) certificate(h hosts.Host) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.leaves[h]; c != nil && time.Until(c.Leaf.NotAfter) > leafLife/2 {
		return c, nil
	}
	tmpl := template("", leafLife)
	if tmpl.NotAfter.After(a.cert.NotAfter) {
		tmpl.NotAfter = a.cert.NotAfter
	}
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if h.IsAddr() {
		tmpl.IPAddresses = []net.IP{h.Addr().AsSlice()}
	} else {
		tmpl.DNSNames = []string{h.Name()}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, a.leaf.Public(), a.key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves)
	}
	c := &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: a.leaf, Leaf: parsed}
	a.leaves[h] = c
	return c, nil
}

// inspect ends the client's TLS here and answers the requests in it.
func (c *client) inspect(ctx context.Context, o origin, hello []byte) {
	cert, err := c.proxy.authority.certificate(o.host)
	if err != nil {
		c.proxy.report(deny(KindSNI, o.host, o.port, hosts.Verdict{Reason: "no certificate could be made"}))
		return
	}
	ahead, err := c.br.Peek(c.br.Buffered())
	if err != nil {
		return
	}
	inner := tls.Server(&prefixConn{Conn: c.conn, prefix: append(hello, ahead...)}, &tls.Config{
		Certificates: []tls.Certificate{*cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		SessionTicketsDisabled: true, // a ticket could carry a session to another host
	})
	_ = c.conn.SetDeadline(time.Now().Add(c.proxy.options.HeaderTimeout))
	if err := inner.HandshakeContext(ctx); err != nil {
		if isDistrust(err) {
			c.proxy.report(deny(KindSNI, o.host, o.port, hosts.Verdict{
				Reason: "the client does not trust the CA that this host is inspected with",
			}))
		}
		return
	}
	_ = c.conn.SetDeadline(time.Time{})
	defer inner.Close()
	(&client{session: c.session, conn: inner, br: bufio.NewReader(inner)}).serveHTTP(ctx, &o)
}

// isDistrust reports whether err is an alert of RFC 8446 §6.2 about certificates.
func isDistrust(err error) bool {
	var alert tls.AlertError
	if !errors.As(err, &alert) {
		var op *net.OpError
		return errors.As(err, &op) && op.Op == "remote error"
	}
	return alert >= 42 && alert <= 48
}
