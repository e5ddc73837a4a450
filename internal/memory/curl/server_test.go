package curl_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// server answers by path and records the requests, byte by byte.
type server struct {
	addr string

	mu    sync.Mutex
	log   strings.Builder
	tries map[string]int
}

// take returns the recorded requests and clears them.
func (s *server) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.log.String()
	s.log.Reset()
	s.tries = map[string]int{}
	return text
}

func (s *server) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.WriteString(text)
}

// try counts the requests for a path since take.
func (s *server) try(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tries[path]++
	return s.tries[path]
}

func newServer(t *testing.T, config *tls.Config) *server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), tries: map[string]int{}}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				s.serve(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return s
}

// ask is one request.
type ask struct {
	method, target, path string
	header               map[string]string
	body                 string
}

func (s *server) serve(c net.Conn) {
	br := bufio.NewReader(c)
	for {
		a, err := s.read(c, br)
		if err != nil || !s.answer(c, a) {
			return
		}
	}
}

func (s *server) read(c net.Conn, br *bufio.Reader) (*ask, error) {
	a := &ask{header: map[string]string{}}
	var head strings.Builder
	for first := true; ; first = false {
		if b, err := br.Peek(1); err == nil && b[0] == 22 { // TLS
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			return nil, io.EOF
		}
		line, err := br.ReadString('\n')
		if err != nil {
			return nil, err
		}
		head.WriteString(line)
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if first {
			f := strings.Fields(line)
			if len(f) != 3 {
				return nil, io.ErrUnexpectedEOF
			}
			a.method, a.target = f[0], f[1]
			a.path, _, _ = strings.Cut(a.target, "?")
			continue
		}
		k, v, _ := strings.Cut(line, ":")
		a.header[strings.ToLower(k)] = strings.TrimSpace(v)
	}
	s.note(head.String())
	if a.path == "/early" {
		return a, nil
	}
	if a.header["expect"] != "" && a.path != "/no100" {
		_, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
	}
	var body []byte
	var err error
	if a.header["transfer-encoding"] == "chunked" {
		if body, err = io.ReadAll(httputil.NewChunkedReader(br)); err == nil {
			_, err = br.ReadString('\n')
		}
	} else if n, _ := strconv.Atoi(a.header["content-length"]); n > 0 {
		body = make([]byte, n)
		_, err = io.ReadFull(br, body)
	}
	a.body = string(body)
	s.note(a.body + "\n--\n")
	return a, err
}

// answer responds and reports whether the connection stays open.
func (s *server) answer(c net.Conn, a *ask) bool {
	send := func(format string, args ...any) bool {
		_, err := fmt.Fprintf(c, format, args...)
		return err == nil
	}
	plain := func(status, fields, body string) bool {
		text := body
		if a.method == "HEAD" {
			text = ""
		}
		return send("HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), fields, text)
	}
	parts := strings.SplitN(strings.TrimPrefix(a.path, "/"), "/", 3)
	switch parts[0] {
	case "status":
		return plain(parts[1]+" Whatever", "X-One: 1\r\n", "status "+parts[1]+"\n")
	case "redirect":
		to, _, _ := strings.Cut(a.target[len("/redirect/"+parts[1]+"/"):], "\x00")
		return plain(parts[1]+" Moved", "Location: "+to+"\r\n", "moved\n")
	case "loop":
		return plain("302 Found", "Location: /loop\r\n", "")
	case "cookies":
		return plain("200 OK", "Set-Cookie: a=1\r\nSet-Cookie: b=2; path=/; HttpOnly\r\nSet-Cookie: c=3; Max-Age=4000000000; path=/cookies\r\nSet-Cookie: d=4; domain=example.com\r\nSet-Cookie: e=5; path=/x; expires=Fri, 01 Jan 2038 00:00:00 GMT\r\n", "set\n")
	case "chunked":
		return send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=y\r\n world\n\r\n0\r\nX-Trailer: t\r\n\r\n")
	case "badchunk":
		send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n")
		return false
	case "cutchunk":
		send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello")
		return false
	case "close":
		send("HTTP/1.1 200 OK\r\n\r\nuntil the end\n")
		return false
	case "short":
		send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
		return false
	case "old":
		send("HTTP/1.0 200 OK\r\n\r\nold\n")
		return false
	case "empty":
		return false
	case "ancient":
		send("hello\n")
		return false
	case "hang":
		send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
		_, _ = c.Read(make([]byte, 1))
		return false
	case "silent":
		_, _ = c.Read(make([]byte, 1))
		return false
	case "gzip", "deflate":
		return plain("200 OK", "Content-Encoding: "+parts[0]+"\r\n", pack(parts[0], "packed text\n"))
	case "badgzip":
		return plain("200 OK", "Content-Encoding: gzip\r\n", "this is no gzip at all\n")
	case "range":
		return rangeOf(plain, a)
	case "disposition":
		return plain("200 OK", "Content-Disposition: attachment; filename=\"given name.txt\"\r\n", "content\n")
	case "evil":
		return plain("200 OK", "Content-Disposition: attachment; filename=../../etc/evil\r\n", "content\n")
	case "flaky":
		if s.try(a.path) < 3 {
			return plain("503 Busy", "", "busy\n")
		}
		return plain("200 OK", "", "at last\n")
	case "etag":
		return plain("200 OK", "ETag: \"abc\"\r\nLast-Modified: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Type: text/x\r\n", "tagged\n")
	case "folded":
		return plain("200 OK", "X-B: b\r\nX-A: three\r\nX-A: one\r\n two\r\n", "folded\n")
	case "early":
		send("HTTP/1.1 413 Too Large\r\nContent-Length: 6\r\nConnection: close\r\n\r\nlarge\n")
		_, _ = io.CopyN(io.Discard, c, 1<<20)
		return false
	case "nothing":
		return send("HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n")
	case "auth":
		if strings.HasPrefix(a.header["authorization"], "Digest ") {
			return plain("200 OK", "", "known\n")
		}
		return plain("401 Who", "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", opaque=\"o\"\r\n", "who\n")
	case "continue":
		send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
		return plain("200 OK", "", "hinted\n")
	case "big":
		return plain("200 OK", "", strings.Repeat("0123456789abcde\n", 20000))
	}
	return plain("200 OK", "Content-Type: text/plain\r\n", a.method+" "+a.target+"\n")
}

func rangeOf(plain func(status, fields, body string) bool, a *ask) bool {
	const whole = "0123456789"
	var from, to int
	n, _ := fmt.Sscanf(a.header["range"], "bytes=%d-%d", &from, &to)
	switch {
	case n == 0:
		return plain("200 OK", "", whole)
	case from >= len(whole):
		return plain("416 No", "Content-Range: bytes */10\r\n", "no\n")
	case n == 1:
		to = len(whole) - 1
	}
	to = min(to, len(whole)-1)
	return plain("206 Partial", fmt.Sprintf("Content-Range: bytes %d-%d/10\r\n", from, to), whole[from:to+1])
}

func pack(how, text string) string {
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	if how == "deflate" {
		w = zlib.NewWriter(&b)
	}
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// certificates are an authority and a server's certificate that it has signed.
type certificates struct {
	ca   []byte // PEM
	good *tls.Config
	self *tls.Config // signed by itself
	name *tls.Config // for another name
	past *tls.Config // expired
}

func newCertificates(t *testing.T) *certificates {
	t.Helper()
	caKey, caCert, caDER := certificate(t, nil, nil, func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.Subject = true, true, x509.KeyUsageCertSign, pkix.Name{CommonName: "test authority"}
	})
	leaf := func(parent *x509.Certificate, key *ecdsa.PrivateKey, change func(*x509.Certificate)) *tls.Config {
		k, _, der := certificate(t, parent, key, change)
		return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: k}}, MinVersion: tls.VersionTLS12}
	}
	return &certificates{
		ca:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		good: leaf(caCert, caKey, func(*x509.Certificate) {}),
		self: leaf(nil, nil, func(*x509.Certificate) {}),
		name: leaf(caCert, caKey, func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{"elsewhere.test"}, nil }),
		past: leaf(caCert, caKey, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }),
	}
}

func certificate(t *testing.T, parent *x509.Certificate, by *ecdsa.PrivateKey, change func(*x509.Certificate)) (*ecdsa.PrivateKey, *x509.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test server"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	change(c)
	if parent == nil {
		parent, by = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return key, parsed, der
}

// dial connects as the host would.
func dial(ctx context.Context, host string, port uint16) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
}
