package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// bed is a proxy on loopback with a name server of its own.
type bed struct {
	proxy *Proxy
	addr  string
	end   func() error // ends Serve and returns its error

	mu     sync.Mutex
	events []Event
	some   chan struct{} // contains a token after the first event
}

// everywhere allows tests to reach servers on loopback.
const everywhere = "127.0.0.1/32:1-65535"

func newBed(tb testing.TB, p network, change ...func(*Options)) *bed {
	tb.Helper()
	b := &bed{some: make(chan struct{}, 1)}
	o := Options{
		Rules: compile(tb, hosts.Policy{Allow: p.Allow, Inspect: p.Inspect, Inspectable: p.CA != nil}), CA: p.CA, Roots: p.Roots, Upstream: p.Upstream,
		Resolver: startDNS(tb, func(string) []string { return []string{"127.0.0.1"} }),
		Denied: func(e Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, e)
			select {
			case b.some <- struct{}{}:
			default:
			}
		},
		HeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute,
	}
	for _, f := range change {
		f(&o)
	}
	var err error
	if b.proxy, err = New(o); err != nil {
		tb.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.proxy.Serve(ctx, l) }()
	b.end = sync.OnceValue(func() error { cancel(); return <-done })
	tb.Cleanup(func() {
		if err := b.end(); err != nil {
			tb.Error(err)
		}
	})
	return b
}

// take returns the events so far and clears them.
func (b *bed) take() []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.events
	b.events = nil
	return out
}

// expect waits for an event, and ends the proxy so that it reports all events. It fails
// the test if there is another event.
func (b *bed) expect(t *testing.T, kind Kind) Event {
	t.Helper()
	select {
	case <-b.some:
	case <-time.After(deadline.Scale(20 * time.Second)):
		t.Fatal("there is no event")
	}
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	events := b.take()
	if len(events) != 1 || events[0].Kind != kind {
		t.Fatalf("the events are %+v, want one of kind %s", events, kind)
	}
	return events[0]
}

func (b *bed) dial(tb testing.TB) net.Conn {
	tb.Helper()
	c, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", b.addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

// reply is a complete response, without the data that comes through a tunnel.
type reply struct {
	StatusCode int
	Header     http.Header
	Proto      string
	Close      bool
	Body       string
}

// readReply reads the response to a request.
func readReply(br *bufio.Reader, method string) (reply, error) {
	res, err := http.ReadResponse(br, &http.Request{Method: method})
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	r := reply{StatusCode: res.StatusCode, Header: res.Header, Proto: res.Proto, Close: res.Close}
	if res.StatusCode == http.StatusSwitchingProtocols || (method == http.MethodConnect && res.StatusCode == http.StatusOK) {
		return r, nil
	}
	text, err := io.ReadAll(res.Body)
	r.Body = string(text)
	return r, err
}

// connect opens a tunnel.
func (b *bed) connect(tb testing.TB, target string) (net.Conn, *bufio.Reader, reply) {
	tb.Helper()
	c := b.dial(tb)
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	br := bufio.NewReader(c)
	res, err := readReply(br, http.MethodConnect)
	if err != nil {
		tb.Fatal(err)
	}
	return c, br, res
}

// client is a real HTTP client that uses the proxy.
func (b *bed) client(tb testing.TB, roots *x509.CertPool) *http.Client {
	tb.Helper()
	tr := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: b.addr}),
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	tb.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 20 * time.Second}
}

func fetch(tb testing.TB, c *http.Client, method, url string, header ...string) (reply, string) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), method, url, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := c.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return reply{StatusCode: res.StatusCode, Header: res.Header, Proto: res.Proto, Close: res.Close}, string(text)
}

// web is a server that records its requests.
type web struct {
	*httptest.Server

	port  string
	roots *x509.CertPool
	hits  atomic.Int64

	mu   sync.Mutex
	last *http.Request
	body string
}

// startWeb starts a server. It uses TLS if a name for the certificate is given.
func startWeb(tb testing.TB, name string) *web {
	tb.Helper()
	w := &web{}
	w.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.hits.Add(1)
		text, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.last, w.body = r, string(text)
		w.mu.Unlock()
		fmt.Fprintf(rw, "%s %s from %s", r.Method, r.RequestURI, r.Host)
	}))
	if name != "" {
		w.serveTLS(tb, name)
	} else {
		w.Start()
	}
	tb.Cleanup(w.Close)
	_, w.port, _ = net.SplitHostPort(w.Listener.Addr().String())
	return w
}

func (w *web) serveTLS(tb testing.TB, name string) {
	tb.Helper()
	ca := testCA(tb)
	a, err := newAuthority(*ca, nil)
	if err != nil {
		tb.Fatal(err)
	}
	w.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	h, err := hosts.ParseHost(name)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := a.certificate(h)
	if err != nil {
		tb.Fatal(err)
	}
	w.TLS.Certificates = []tls.Certificate{*c}
	w.StartTLS()
	w.roots = pool(tb, ca.Cert)
}

func (w *web) seen() (*http.Request, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last, w.body
}

func pool(tb testing.TB, pem []byte) *x509.CertPool {
	tb.Helper()
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(pem) {
		tb.Fatal("no certificate in the PEM")
	}
	return p
}

// startDNS answers A and AAAA queries with what answer returns for the name.
func startDNS(tb testing.TB, answer func(name string) []string) *net.Resolver {
	tb.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(tb.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if out, err := answerDNS(buf[:n], answer); err == nil {
				_, _ = conn.WriteTo(out, from)
			}
		}
	}()
	tb.Cleanup(func() { _ = conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func answerDNS(query []byte, answer func(string) []string) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	if q.Type == dnsmessage.TypeA || q.Type == dnsmessage.TypeAAAA {
		found := answer(strings.TrimSuffix(q.Name.String(), "."))
		if found == nil {
			m.RCode = dnsmessage.RCodeNameError
		}
		for _, text := range found {
			a := netip.MustParseAddr(text)
			h := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type, TTL: 0}
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
	}
	return m.Pack()
}

func testCA(tb testing.TB) *CA {
	tb.Helper()
	ca, err := NewCA(time.Hour)
	if err != nil {
		tb.Fatal(err)
	}
	return ca
}

// compile compiles rules that must be valid.
func compile(tb testing.TB, p hosts.Policy) *hosts.Rules {
	tb.Helper()
	r, err := hosts.Compile(p)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// network configures a bed's proxy: its rules, and the means to connect and to inspect.
type network struct {
	Allow, Inspect []string
	CA             *CA
	Roots          []byte
	Upstream       *url.URL
}
