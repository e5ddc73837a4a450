package curl

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

// conn is a connection to a server, or to a proxy for it.
type conn struct {
	net.Conn

	br       *bufio.Reader
	origin   string
	absolute bool // requests name the whole URL: the proxy reads them
	number   int
	used     bool // it has carried a request before
	remote   *net.TCPAddr
	local    *net.TCPAddr
}

// pool keeps connections between the requests of one command.
type pool struct {
	way     Way
	idle    map[string]*conn
	numbers int
}

func (p *pool) take(key string) *conn {
	c := p.idle[key]
	delete(p.idle, key)
	return c
}

// maxIdle bounds the idle connections of a pool.
const maxIdle = 8

func (p *pool) put(c *conn) {
	if old := p.idle[c.origin]; old != nil || len(p.idle) >= maxIdle {
		_ = c.Close()
		return
	}
	if p.idle == nil {
		p.idle = map[string]*conn{}
	}
	p.idle[c.origin] = c // bounded: maxIdle
}

func (p *pool) close() {
	for _, c := range p.idle {
		_ = c.Close()
	}
	p.idle = nil
}

// open returns a connection that is good for the address, and notes the times that it took.
func (t *transfer) open(ctx context.Context) (*conn, *fault) {
	a := t.url
	key := a.origin()
	t.began = time.Now()
	if c := t.tool.pool.take(key); c != nil {
		t.info("Re-using existing connection! (#%d) with host %s", c.number, a.host)
		c.used = true
		t.wget.reuses(t)
		return c, nil
	}
	if t.config.connectTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.config.connectTimeout)
		defer cancel()
	}
	if !t.tool.way.Proxied {
		t.info("  Trying %s...", net.JoinHostPort(a.host, strconv.Itoa(int(a.port))))
	}
	t.wget.dials(t)
	raw, err := t.tool.way.Dial(ctx, a.host, a.port)
	if err != nil {
		f := dialFault(timeoutOr(ctx, err), a.host, a.port, time.Since(t.began).Milliseconds())
		t.wget.failed(t, f)
		t.info("%s", f.text)
		t.unresolved = f.code == codeResolve
		return nil, f
	}
	t.wget.dialed()
	t.stats.connects++
	t.stats.connect = t.elapsed()
	c := &conn{Conn: raw, br: bufio.NewReaderSize(raw, 16<<10), origin: key, number: t.tool.pool.numbers}
	t.tool.pool.numbers++
	c.remote, _ = raw.RemoteAddr().(*net.TCPAddr)
	c.local, _ = raw.LocalAddr().(*net.TCPAddr)
	t.connected(c)
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	f := t.establish(ctx, c)
	if !stop() && f != nil {
		f = &fault{codeTimeout, "SSL connection timeout", context.Cause(ctx)}
	}
	if f != nil {
		_ = raw.Close()
		return nil, f
	}
	return c, nil
}

// connected prints the connection's addresses.
func (t *transfer) connected(c *conn) {
	a := t.url
	if c.remote != nil {
		t.info("Connected to %s (%s) port %d (#%d)", a.host, c.remote.IP, c.remote.Port, c.number)
		return
	}
	t.info("Connected to the proxy of the sandbox for %s port %d (#%d)", a.host, a.port, c.number)
}

// establish makes the tunnel and TLS where they are needed.
func (t *transfer) establish(ctx context.Context, c *conn) *fault {
	if t.tool.way.Proxied {
		if t.url.scheme == "http" && !t.config.proxyTunnel {
			c.absolute = true
			return nil
		}
		if f := t.tunnel(c); f != nil {
			return f
		}
	}
	if t.url.scheme != "https" {
		return nil
	}
	config, f := t.tlsConfig()
	if f != nil {
		return f
	}
	t.info("ALPN: offers http/1.1")
	secure := tls.Client(&buffered{c.Conn, c.br}, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		f := tlsFault(err, t.url.host)
		t.info("%s", f.text)
		return f
	}
	t.stats.appConnect = t.elapsed()
	t.stats.verified = config.InsecureSkipVerify
	t.describeTLS(secure.ConnectionState())
	c.Conn, c.br = secure, bufio.NewReaderSize(secure, 16<<10)
	return nil
}

// buffered is a connection of which something may have been read ahead.
type buffered struct {
	net.Conn

	br *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.br.Read(p) }

func (t *transfer) describeTLS(s tls.ConnectionState) {
	if !t.tool.verbose {
		return
	}
	t.info("SSL connection using %s / %s", map[uint16]string{
		tls.VersionTLS10: "TLSv1.0", tls.VersionTLS11: "TLSv1.1", tls.VersionTLS12: "TLSv1.2", tls.VersionTLS13: "TLSv1.3",
	}[s.Version], tls.CipherSuiteName(s.CipherSuite))
	if s.NegotiatedProtocol == "" {
		t.info("ALPN: server did not agree on a protocol. Uses default.")
	} else {
		t.info("ALPN: server accepted %s", s.NegotiatedProtocol)
	}
	if len(s.PeerCertificates) == 0 {
		return
	}
	cert := s.PeerCertificates[0]
	const form = "Jan _2 15:04:05 2006 GMT"
	t.info("Server certificate:")
	t.info(" subject: %s", cert.Subject)
	t.info(" start date: %s", cert.NotBefore.UTC().Format(form))
	t.info(" expire date: %s", cert.NotAfter.UTC().Format(form))
	t.info(" issuer: %s", cert.Issuer)
	if t.config.insecure {
		t.info(" SSL certificate verify result: not looked at, continuing anyway.")
	} else {
		t.info(" SSL certificate verify ok.")
	}
}

// tlsConfig returns the TLS configuration.
func (t *transfer) tlsConfig() (*tls.Config, *fault) {
	c := t.config
	config := &tls.Config{
		ServerName: t.url.host, NextProtos: []string{"http/1.1"}, MinVersion: c.tlsMin, MaxVersion: c.tlsMax,
		InsecureSkipVerify: c.insecure, //nolint:gosec // That is what -k asks for.
	}
	if config.MinVersion == 0 {
		config.MinVersion = tls.VersionTLS12
	}
	if c.noALPN {
		config.NextProtos = nil
	}
	switch {
	case c.insecure:
	case c.caFile != "":
		pem, err := t.tool.readFile(c.caFile)
		config.RootCAs = x509.NewCertPool()
		if err != nil || !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, failed(codeCACert, "error setting certificate file: %s", c.caFile)
		}
	case t.tool.way.Roots != nil:
		roots, err := t.tool.way.Roots()
		if err != nil {
			return nil, failed(codeCACert, "the authorities to trust cannot be read")
		}
		config.RootCAs = roots
	}
	if c.certFile != "" {
		pair, f := t.clientCert()
		if f != nil {
			return nil, f
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func (t *transfer) clientCert() (tls.Certificate, *fault) {
	name, _, _ := cutPassword(t.config.certFile)
	cert, err := t.tool.readFile(name)
	if err != nil {
		return tls.Certificate{}, failed(codeCert, "could not load PEM client certificate from %s, OpenSSL error error:80000002:system library::No such file or directory, (no key found, wrong pass phrase, or wrong file format?)", name)
	}
	key := cert
	if t.config.keyFile != "" {
		if key, err = t.tool.readFile(t.config.keyFile); err != nil {
			return tls.Certificate{}, failed(codeCert, "unable to set private key file: '%s' type PEM", t.config.keyFile)
		}
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, failed(codeCert, "unable to set private key file: '%s' type PEM", cmpOr(t.config.keyFile, name))
	}
	return pair, nil
}

// tunnel asks the proxy for a way through.
func (t *transfer) tunnel(c *conn) *fault {
	target := net.JoinHostPort(t.url.host, strconv.Itoa(int(t.url.port)))
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if agent := t.userAgent(); agent != "" {
		head += "User-Agent: " + agent + "\r\n"
	}
	head += "Proxy-Connection: Keep-Alive\r\n"
	if len(t.config.proxyHeaders) > 0 {
		head += strings.Join(t.config.proxyHeaders, "\r\n") + "\r\n"
	}
	t.showSent(head + "\r\n")
	if _, err := c.Write([]byte(head + "\r\n")); err != nil {
		return receiveFault(err)
	}
	res, err := t.readHead(c, !t.config.suppressConnect)
	if err != nil {
		if errors.Is(err, errNoAnswer) {
			return failed(codeReceive, "Proxy CONNECT aborted")
		}
		return receiveFault(err)
	}
	t.stats.proxyStatus = res.status
	if res.status/100 != 2 {
		t.info("CONNECT tunnel failed, response %d", res.status)
		return failed(codeReceive, "CONNECT tunnel failed, response %d", res.status)
	}
	t.info("CONNECT tunnel established, response %d", res.status)
	return nil
}

// timeoutOr returns the end of the context in the place of an error that it caused.
func timeoutOr(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}
