//go:build linux

package testnet

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// DialTimeout limits the time to connect, and the time without data on a connection.
const DialTimeout = 3 * time.Second

// Visit is an event at a server: a connection, a TLS handshake on it, or a request.
type Visit struct {
	To     netip.AddrPort // the address that was reached
	own    bool           // the address belongs to the machine
	hello  bool           // of a handshake, with the server name in host
	Host   string         // of a request, without a port; or of a handshake
	Method string
	Path   string
	Header http.Header
	text   string // a body, or data that is not a request
	TLS    bool
}

func (v Visit) String() string {
	kind := "connection"
	switch {
	case v.hello:
		kind = fmt.Sprintf("TLS for %q", v.Host)
	case v.Method != "":
		kind = fmt.Sprintf("%s http://%s%s %v", v.Method, v.Host, v.Path, v.Header)
	}
	return fmt.Sprintf("%s at %s (the machine's own: %v) %q", kind, v.To, v.own, v.text)
}

// isPermitted reports whether the case may make a visit.
func (w *Network) isPermitted(v Visit) bool {
	has := func(host string) bool {
		return slices.ContainsFunc(addressesOf(host), func(a string) bool { return netip.MustParseAddr(a).Unmap() == v.To.Addr() }) ||
			host == v.To.Addr().String()
	}
	if v.hello && v.Host == "" {
		v.Host = v.To.Addr().String()
	}
	switch {
	case v.own:
		return false
	case v.Method == "" && !v.hello && v.text == "":
		return slices.ContainsFunc(w.want.Good, has)
	}
	return has(v.Host) && slices.Contains(w.want.Good, v.Host)
}

// note records a visit, and returns the server's answer to it.
func (w *Network) note(v Visit) (verdict string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.visits = append(w.visits, v)
	if w.isPermitted(v) {
		return Permitted
	}
	return Forbidden
}

// Answers of the servers. A client that receives Forbidden has reached a server that it must not reach.
const (
	Permitted = "permitted"
	Forbidden = "forbidden"
)

// Website has the servers of the test network.
type Website struct {
	network    *Network
	plain, tls chan net.Conn
	listeners  []string // addresses of connections that only synchronise; see marks

	mu   sync.Mutex
	open map[*seenConn]bool
}

func newWebsite(w *Network) *Website {
	s := &Website{network: w, plain: make(chan net.Conn), tls: make(chan net.Conn), open: map[*seenConn]bool{}}
	server := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute, TLSConfig: w.Authority.config(w)}
	go func() { _ = server.Serve(queueListener(s.plain)) }()          // runs as long as the tests
	go func() { _ = server.ServeTLS(queueListener(s.tls), "", "") }() // runs as long as the tests
	return s
}

// queueListener returns connections that another listener has accepted.
type queueListener chan net.Conn

func (q queueListener) Accept() (net.Conn, error) { return <-q, nil }
func (q queueListener) Close() error              { return nil }
func (q queueListener) Addr() net.Addr            { return &net.TCPAddr{} }

// marks returns the addresses at which connections do not count as visits.
func (s *Website) marks() []string { return s.listeners }

func (s *Website) listen(own bool, ports ...string) error {
	for _, port := range ports {
		l, err := net.Listen("tcp", ":"+port) //nolint:noctx // as long as the tests
		if err != nil {
			return err
		}
		mark := "93.184.216.250:" + port
		if own {
			mark = "127.0.0.250:" + port
		}
		s.listeners = append(s.listeners, mark)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				s.accept(c, own)
			}
		}()
	}
	return nil
}

// accept records connections in their order.
func (s *Website) accept(c net.Conn, own bool) {
	to := netip.MustParseAddrPort(c.LocalAddr().String())
	to = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	s.network.mu.Lock()
	mark := s.network.marks[to.String()]
	delete(s.network.marks, to.String())
	s.network.mu.Unlock()
	if mark != nil {
		_ = c.Close()
		close(mark)
		return
	}
	s.network.note(Visit{To: to, own: own})
	seen := &seenConn{Conn: c, br: bufio.NewReader(c), to: to, own: own, closed: make(chan struct{})}
	seen.end = sync.OnceFunc(func() {
		close(seen.closed)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, seen)
	})
	s.mu.Lock()
	s.open[seen] = true
	s.mu.Unlock()
	go s.serve(seen)
}

// Connections returns the open connections.
func (s *Website) Connections() []*seenConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.open))
}

// WaitReleased waits until all connections have ended, and returns an error for one that has not.
func (s *Website) WaitReleased() error {
	for _, c := range s.Connections() {
		select {
		case <-c.closed:
		case <-time.After(DialTimeout):
			return fmt.Errorf("a connection to %s is still open", c.to)
		}
	}
	return nil
}

// seenConn is a connection whose first bytes may have been read ahead.
type seenConn struct {
	net.Conn

	br  *bufio.Reader
	to  netip.AddrPort
	own bool

	closed chan struct{}
	end    func()
}

// Close may be called more than once.
func (c *seenConn) Close() error {
	defer c.end()
	return c.Conn.Close()
}

// Read returns the data that was read ahead first.
func (c *seenConn) Read(p []byte) (int, error) { return c.br.Read(p) }

// httpBegins matches the beginning of a request, and not other protocols that begin with letters.
var httpBegins = regexp.MustCompile(`^([A-Za-z]{4}|[A-Za-z]{1,3} )`)

var requestLine = regexp.MustCompile(`[A-Z]+ (\S+) HTTP/[0-9.]+\s`)

func (s *Website) serve(c *seenConn) {
	first, err := c.br.Peek(1)
	switch {
	case err != nil:
		_ = c.Close()
	case first[0] == 22:
		s.tls <- c
	case c.to.Addr().String() == KnownHosts["lenient.test"][0]:
		s.lenient(c)
	default:
		if begin, err := c.br.Peek(4); err != nil || !httpBegins.Match(begin) {
			text, _ := c.br.Peek(c.br.Buffered())
			_, _ = io.WriteString(c, s.network.note(Visit{To: c.to, own: c.own, text: string(text)})+" raw\n")
			_ = c.Close()
			return
		}
		s.plain <- c
	}
}

// lenient finds a request at any place that some server might parse as one. The hidden requests of the
// attacks contain the word smuggled.
func (s *Website) lenient(c *seenConn) {
	defer c.Close()
	var all []byte
	answered := 0
	buf := make([]byte, 4096)
	for {
		_ = c.SetReadDeadline(time.Now().Add(DialTimeout))
		n, err := c.Read(buf)
		all = append(all, buf[:n]...)
		found := requestLine.FindAllSubmatch(all, -1)
		for ; answered < len(found); answered++ {
			v := Visit{To: c.to, own: c.own, Host: "lenient.test", Method: "lenient", Path: string(found[answered][1])}
			if strings.Contains(v.Path, "smuggled") {
				v.Host = "smuggled"
			}
			body := s.network.note(v) + " " + v.Path + "\n"
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		}
		if err != nil {
			return
		}
	}
}

// ServeHTTP answers with Permitted or Forbidden.
func (s *Website) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	v := Visit{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header, TLS: r.TLS != nil, Host: hostOnly(r.Host)}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	v.text = string(body)
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		to := netip.MustParseAddrPort(addr.String())
		v.To = netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
	}
	v.own = slices.Contains([]string{OwnIPv4, OwnIPv6}, v.To.Addr().String()) || v.To.Addr().IsLoopback()
	verdict := s.network.note(v)
	if to := r.URL.Query().Get("redirect"); to != "" && err == nil {
		http.Redirect(rw, r, to, http.StatusTemporaryRedirect)
		return
	}
	_, _ = fmt.Fprintf(rw, "%s %s %s%s at %s\n", verdict, r.Method, r.Host, v.Path, v.To)
}

// hostOnly removes a port and the dot at the end.
func hostOnly(s string) string {
	if h, _, err := net.SplitHostPort(s); err == nil {
		s = h
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(s, "[]")), ".")
}

// handshake records the server name and returns a certificate for it.
func (w *Network) handshake(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c, ok := hello.Conn.(*seenConn)
	if !ok {
		return nil, errors.New("the connection was not accepted by this server")
	}
	w.note(Visit{To: c.to, own: c.own, hello: true, Host: strings.ToLower(hello.ServerName)})
	return w.Authority.certificate(hello.ServerName, c.to.Addr())
}
