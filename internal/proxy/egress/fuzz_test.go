package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// errNoNetwork is the error of every connection of the fuzzed proxy.
var errNoNetwork = errors.New("no network here")

func FuzzRequest(f *testing.F) {
	for _, row := range malformedRequests {
		if len(row.raw) < 4096 {
			f.Add([]byte(strings.ReplaceAll(row.raw, "HOST", "ok.example")))
		}
	}
	for _, s := range []string{
		"GET http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\n\r\n",
		"POST http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"CONNECT ok.example:443 HTTP/1.1\r\nHost: ok.example:443\r\n\r\nhello",
		"CONNECT ok.example:80 HTTP/1.1\r\nHost: ok.example:80\r\n\r\nGET / HTTP/1.1\r\nHost: ok.example\r\n\r\n",
		"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x03\x0aok.example\x01\xbb",
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb",
	} {
		f.Add([]byte(s))
	}
	hello := helloFor(f, "ok.example")
	f.Add(append([]byte("CONNECT ok.example:443 HTTP/1.1\r\nHost: ok.example:443\r\n\r\n"), hello...))
	f.Add(append([]byte("CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n"), hello...))
	ca := testCA(f)
	rules := compile(f, hosts.Policy{Allow: []string{"ok.example", "GET api.example/repos/**", "8.8.4.4"}, Inspectable: true})
	ok := netip.MustParseAddr("8.8.8.8") // the resolver's answer for every name
	resolver := startDNS(f, func(name string) []string {
		if name != "ok.example" && name != "api.example" {
			panic("a lookup of " + name)
		}
		return []string{ok.String()}
	})
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := New(Options{
			Rules: rules, CA: ca, Resolver: resolver, HeaderTimeout: time.Second, IdleTimeout: time.Second,
			Secrets: []Secret{{Name: "KEY", Placeholder: placeholder, Value: value, Hosts: []string{"http://ok.example"}}},
			Denied: func(e Event) {
				if strings.ContainsAny(e.Reason+e.Host+e.Allow, "\r\n\x00\x1b") || strings.Contains(e.Reason, value) {
					t.Errorf("the event %+v is not safe to print", e)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		p.dialer.connect = func(_ context.Context, a netip.AddrPort) (net.Conn, error) {
			if a.Addr() != ok && a.Addr() != netip.MustParseAddr("8.8.4.4") || a.Port() != 80 && a.Port() != 443 {
				t.Errorf("%q made a connection to %s", raw, a)
			}
			return nil, errNoNetwork
		}
		fuzzOnce(t, p, raw)
	})
}

// fuzzOnce sends raw to the proxy and waits until it has closed the connection.
func fuzzOnce(t *testing.T, p *Proxy, raw []byte) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := p.newSession(ctx)
	inside, ours := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer ours.Close()
		s.handle(ctx, ours)
	}()
	read := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(inside)
		read <- all
	}()
	_, _ = inside.Write(raw)
	// A pipe has no half-closed state: the end of the input closes it.
	_ = inside.Close()
	if out := <-read; bytes.Contains(out, []byte(value)) {
		t.Errorf("%q gave the secret away", raw)
	}
	<-done
	s.transport.CloseIdleConnections()
	s.conns.Wait()
}

// smallHello is a ClientHello with only a server name, because the time of fuzzing grows
// with the square of the seeds' size.
func smallHello(name string) []byte {
	vector := func(size int, parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		length := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
		return append(length[4-size:], body...)
	}
	sni := append([]byte{0, 0}, vector(2, vector(2, []byte{0}, vector(2, []byte(name))))...)
	hello := bytes.Join([][]byte{{3, 3}, make([]byte, 32), vector(1), vector(2, []byte{0x13, 1}), vector(1, []byte{0}), vector(2, sni)}, nil)
	return append([]byte{22, 3, 1}, vector(2, []byte{1}, vector(3, hello))...)
}

func FuzzClientHello(f *testing.F) {
	hello := smallHello("a.b")
	if _, raw, err := readHello(newReader(hello)); err != nil || len(raw) != len(hello) {
		f.Fatal(err)
	}
	f.Add(hello)
	f.Add(fragment(hello, 20))
	f.Add(withTrailer(hello))
	f.Add([]byte{22, 3, 1, 0, 4, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		body, got, err := readHello(newReader(raw))
		if len(got) > maxHello+5*maxHelloRecords {
			t.Fatalf("%d bytes were stored", len(got))
		}
		if err != nil {
			return
		}
		if !bytes.HasPrefix(raw, got) {
			t.Fatal("what is passed on is not what came")
		}
		if name, err := serverName(body); err == nil && len(name) > 0 && !bytes.Contains(raw, []byte(name[:1])) {
			t.Fatalf("the name %q is not in the message", name)
		}
	})
}

// crypto/tls represents the upstream servers: if it finds a name, readHello must find the
// same name or refuse. This is not a fuzz target, because the randomness of crypto/tls makes
// coverage unrepeatable.
func Test_Server_Names_Are_Those_That_Crypto_TLS_Finds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same mutations every time
	good, both := helloFor(t, "ok.example"), 0
	for range 20000 {
		raw := bytes.Clone(good)
		for range 1 + random.IntN(3) {
			at := 5 + random.IntN(len(raw)-5)
			switch random.IntN(3) {
			case 0:
				raw[at] = byte(random.Uint32())
			case 1:
				raw = slices.Delete(raw, at, at+1)
			default:
				raw = slices.Insert(raw, at, raw[5+random.IntN(len(raw)-5)])
			}
		}
		binary.BigEndian.PutUint16(raw[3:], uint16(len(raw)-5))
		body, got, err := readHello(newReader(raw))
		if err != nil {
			continue
		}
		name, err := serverName(body)
		std, ok := standardName(t, got)
		if err != nil || !ok {
			continue
		}
		both++
		if name != std && name != std+"." {
			t.Fatalf("we read %q, crypto/tls reads %q in %x", name, std, raw)
		}
	}
	if both < 100 {
		t.Fatalf("only %d messages were read by both", both)
	}
}

func newReader(raw []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(raw)) }

var errSeen = errors.New("seen")

// standardName returns the server name that crypto/tls finds in a ClientHello; ok is
// false when it refuses the message.
func standardName(t *testing.T, raw []byte) (name string, ok bool) {
	t.Helper()
	c := &memory{r: bytes.NewReader(raw)}
	_ = tls.Server(c, &tls.Config{MinVersion: tls.VersionTLS10, GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) { //nolint:gosec // no session comes of it
		name, ok = h.ServerName, true
		return nil, errSeen
	}}).HandshakeContext(context.Background()) // a context that ends would need a goroutine, which slows down fuzzing
	return name, ok
}

// memory is a connection that reads from a buffer and drops written bytes.
type memory struct {
	net.Conn

	r io.Reader
}

func (m *memory) Read(p []byte) (int, error)  { return m.r.Read(p) }
func (m *memory) Write(p []byte) (int, error) { return len(p), nil }
func (m *memory) Close() error                { return nil }
