package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/tcpserver"
)

// startTCP runs a server that hands each connection to f, and returns its port.
func startTCP(tb testing.TB, f func(net.Conn)) (port string) {
	tb.Helper()
	_, port, _ = net.SplitHostPort(tcpserver.Start(tb, func(c *net.TCPConn) { f(c) }).Addr().String())
	return port
}

func echo(c net.Conn) { _, _ = io.Copy(c, c) }

func Test_TLS_Through_A_Tunnel(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, cert, host string }{
		{"a name", "ok.example", "ok.example"},
		{"a name in another case", "ok.example", "OK.example"},
		{"an address", "127.0.0.1", "127.0.0.1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, row.cert)
			b := newBed(t, network{Allow: []string{"https://" + row.cert + ":" + w.port, "https://127.0.0.1:" + w.port}})
			res, text := fetch(t, b.client(t, w.roots), "GET", "https://"+row.host+":"+w.port+"/x")
			if events := b.take(); res.StatusCode != 200 || !strings.HasPrefix(text, "GET /x from ") || len(events) != 0 {
				t.Fatalf("%d %q %+v", res.StatusCode, text, events)
			}
		})
	}
}

func Test_Tunnels_That_Are_Refused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, allow, target string
		kind                Kind
		want                string
	}{
		{"an unlisted host", "ok.example", "evil.example:443", KindHost, "--allow evil.example"},
		{"a suffix", "ok.example", "ok.example.evil.example:443", KindHost, "--allow ok.example.evil.example"},
		{"a prefix", "ok.example", "not-ok.example:443", KindHost, "--allow not-ok.example"},
		{"an unlisted port", "ok.example", "ok.example:22", KindHost, "--allow ok.example:22"},
		{"an address", "ok.example", "127.0.0.1:443", KindHost, "--allow 127.0.0.1"},
		{"an address in octal", "ok.example", "0177.1:443", KindHost, "--allow 127.0.0.1"},
		{"an address as a number", "ok.example", "2130706433:443", KindHost, "--allow 127.0.0.1"},
		{"an IPv6 address", "ok.example", "[::1]:443", KindHost, "--allow ::1"},
		{"a mapped address", "ok.example", "[::ffff:127.0.0.1]:443", KindHost, "--allow 127.0.0.1"},
		{"a name with a private address", "ok.example", "ok.example:443", KindAddress, "--allow 127.0.0.1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, network{Allow: []string{row.allow}})
			_, _, res := b.connect(t, row.target)
			if res.StatusCode != 403 || res.Header.Get("X-Agent-Sandbox-Denied") == "" {
				t.Fatalf("got %d %v", res.StatusCode, res.Header)
			}
			if !strings.Contains(res.Body, row.want) {
				t.Fatalf("%q, want %q", res.Body, row.want)
			}
			if e := b.expect(t, row.kind); e.Allow != row.want {
				t.Fatalf("%+v", e)
			}
		})
	}
}

// helloFor returns the ClientHello that Go's TLS client sends for a server name.
func helloFor(tb testing.TB, name string) []byte {
	tb.Helper()
	a, b := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(a, &tls.Config{ServerName: name, InsecureSkipVerify: true}).HandshakeContext(context.Background()) //nolint:gosec // nothing is trusted: only the first message is wanted
	}()
	defer func() { _ = b.Close(); _ = a.Close(); <-done }()
	head := make([]byte, 5)
	if _, err := io.ReadFull(b, head); err != nil {
		tb.Fatal(err)
	}
	body := make([]byte, binary.BigEndian.Uint16(head[3:]))
	if _, err := io.ReadFull(b, body); err != nil {
		tb.Fatal(err)
	}
	return slices.Concat(head, body)
}

// fragment cuts the message in a record into records of n bytes.
func fragment(record []byte, n int) []byte {
	var out []byte
	for body := record[5:]; len(body) > 0; {
		k := min(n, len(body))
		out = append(out, 22, 3, 1, byte(k>>8), byte(k))
		out = append(out, body[:k]...)
		body = body[k:]
	}
	return out
}

func Test_The_First_Bytes_Of_A_Tunnel_Are_Checked(t *testing.T) {
	t.Parallel()
	good, evil, none := helloFor(t, "ok.example"), helloFor(t, "evil.example"), helloFor(t, "")
	nul := append([]byte(nil), good...)
	nul[strings.Index(string(good), "ok.example")+2] = 0
	for _, row := range []struct {
		name, rule, host string // the rule's HOST is host:port
		send             []byte
		kind             Kind // empty: the sent bytes come back
	}{
		{"the right name", "https://HOST", "ok.example", good, ""},
		{"the right name in two records", "https://HOST", "ok.example", fragment(good, 300), ""},
		{"the right name in small records", "https://HOST", "ok.example", fragment(good, 40), ""},
		{"more records than anybody makes", "https://HOST", "ok.example", fragment(good, 1), KindSNI},
		{"another name", "https://HOST", "ok.example", evil, KindSNI},
		{"another name in two records", "https://HOST", "ok.example", fragment(evil, 100), KindSNI},
		{"no name", "https://HOST", "ok.example", none, KindSNI},
		{"no name for an address", "https://HOST", "127.0.0.1", none, ""},
		{"a name for an address", "https://HOST", "127.0.0.1", good, KindSNI},
		{"a NUL in the name", "https://HOST", "ok.example", nul, KindSNI},
		{"a second message in the record", "https://HOST", "ok.example", withTrailer(good), KindSNI},
		{"a record that is too long", "https://HOST", "ok.example", []byte{22, 3, 1, 0xff, 0xff, 1}, KindSNI},
		{"an empty record", "https://HOST", "ok.example", []byte{22, 3, 1, 0, 0, 1}, KindSNI},
		{"an endless message", "https://HOST", "ok.example", []byte{22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff}, KindSNI},
		{"another message", "https://HOST", "ok.example", []byte{22, 3, 1, 0, 4, 2, 0, 0, 1}, KindSNI},
		{"something else where TLS belongs", "https://HOST", "ok.example", []byte("SSH-2.0-x\r\n"), KindSNI},
		{"plain HTTP where TLS belongs", "https://HOST", "ok.example", []byte("GET / HTTP/1.1\r\n\r\n"), KindSNI},
		{"SSL 2 where TLS belongs", "https://HOST", "ok.example", []byte{0x80, 0x2e, 1, 3, 1, 0}, KindSNI},
		{"TLS where HTTP belongs", "http://HOST", "ok.example", good, KindSNI},
		{"anything on a port by itself", "HOST", "ok.example", []byte("SSH-2.0-x\r\n"), ""},
		{"one odd byte on a port by itself", "HOST", "ok.example", []byte{22}, ""},
		{"the right name on a port by itself", "HOST", "ok.example", good, ""},
		{"another name on a port by itself", "HOST", "ok.example", evil, KindSNI},
		{"another name where nothing is looked at", "tcp://HOST", "ok.example", evil, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var got atomic.Int64
			port := startTCP(t, func(c net.Conn) {
				n, _ := io.Copy(c, c)
				got.Add(n)
			})
			target := row.host + ":" + port
			b := newBed(t, network{Allow: []string{strings.ReplaceAll(row.rule, "HOST", target), everywhere}})
			if row.host == "127.0.0.1" {
				b = newBed(t, network{Allow: []string{strings.ReplaceAll(row.rule, "HOST", target)}})
			}
			c, br, res := b.connect(t, target)
			if res.StatusCode != 200 {
				t.Fatalf("CONNECT: %d", res.StatusCode)
			}
			_, _ = c.Write(row.send)
			_ = c.(*net.TCPConn).CloseWrite()
			back, _ := io.ReadAll(br)
			if row.kind == "" {
				if string(back) != string(row.send) || len(b.take()) != 0 {
					t.Fatalf("%q came back for %q; %+v", back, row.send, b.take())
				}
				return
			}
			b.expect(t, row.kind)
			if n := got.Load(); n != 0 {
				t.Fatalf("the server saw %d bytes", n)
			}
		})
	}
}

func withTrailer(record []byte) []byte {
	out := append(append([]byte(nil), record...), 1, 0, 0, 0)
	binary.BigEndian.PutUint16(out[3:], uint16(len(out)-5))
	return out
}

func Test_A_Server_May_Speak_First(t *testing.T) {
	t.Parallel()
	port := startTCP(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "220 hello\n")
		echo(c)
	})
	b := newBed(t, network{Allow: []string{"mail.example:" + port, everywhere}})
	c, br, _ := b.connect(t, "mail.example:"+port)
	if line, err := br.ReadString('\n'); err != nil || line != "220 hello\n" {
		t.Fatalf("%q %v", line, err)
	}
	_, _ = io.WriteString(c, "EHLO\n")
	if line, err := br.ReadString('\n'); err != nil || line != "EHLO\n" {
		t.Fatalf("%q %v", line, err)
	}
}

func Test_Each_Direction_Ends_By_Itself(t *testing.T) {
	t.Parallel()
	port := startTCP(t, func(c net.Conn) {
		all, _ := io.ReadAll(c) // the server gets the end although the client still reads
		fmt.Fprintf(c, "%d bytes", len(all))
	})
	b := newBed(t, network{Allow: []string{"tcp://ok.example:" + port, everywhere}})
	c, br, _ := b.connect(t, "ok.example:"+port)
	_, _ = c.Write(make([]byte, 1<<20))
	_ = c.(*net.TCPConn).CloseWrite()
	if text, err := io.ReadAll(br); err != nil || string(text) != "1048576 bytes" {
		t.Fatalf("%q %v", text, err)
	}
}

func Test_Idle_Tunnels_End(t *testing.T) {
	t.Parallel()
	port := startTCP(t, echo)
	b := newBed(t, network{Allow: []string{"tcp://ok.example:" + port, everywhere}}, func(o *Options) { o.IdleTimeout = 100 * time.Millisecond })
	c, br, _ := b.connect(t, "ok.example:"+port)
	_, _ = io.WriteString(c, "x\n")
	if line, err := br.ReadString('\n'); err != nil || line != "x\n" {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := br.ReadByte(); err == nil {
		t.Fatal("more came")
	} else if n, ok := err.(net.Error); ok && n.Timeout() { //nolint:errorlint // our own deadline comes unwrapped
		t.Fatal("the tunnel did not end")
	}
}

func Test_A_Name_That_Changes_Its_Address(t *testing.T) {
	t.Parallel()
	port := startTCP(t, echo)
	var queries atomic.Int64
	b := newBed(t, network{Allow: []string{"tcp://rebind.example:" + port, everywhere}}, func(o *Options) {
		o.Resolver = startDNS(t, func(string) []string {
			if queries.Add(1) <= 2 { // one lookup is a query for A and one for AAAA
				return []string{"127.0.0.1"}
			}
			return []string{"127.0.0.2", "169.254.169.254", "::1", "64:ff9b::7f00:1"}
		})
	})
	c, br, res := b.connect(t, "rebind.example:"+port)
	_, _ = io.WriteString(c, "x\n")
	if line, err := br.ReadString('\n'); res.StatusCode != 200 || err != nil || line != "x\n" {
		t.Fatalf("%d %q %v", res.StatusCode, line, err)
	}
	if n := queries.Load(); n != 2 {
		t.Fatalf("the name was looked up with %d queries, want 2", n)
	}
	if _, _, res := b.connect(t, "rebind.example:"+port); res.StatusCode != 403 {
		t.Fatalf("the changed name got %d", res.StatusCode)
	}
	_ = c.Close()
	b.expect(t, KindAddress)
}

func Test_Only_Checked_Addresses_Of_A_Name_Are_Tried(t *testing.T) {
	t.Parallel()
	port := startTCP(t, echo)
	b := newBed(t, network{Allow: []string{"tcp://mixed.example:" + port, everywhere}}, func(o *Options) {
		o.Resolver = startDNS(t, func(string) []string { return []string{"::1", "127.0.0.2", "10.255.255.1", "127.0.0.1"} })
	})
	c, br, res := b.connect(t, "mixed.example:"+port)
	_, _ = io.WriteString(c, "x\n")
	if line, err := br.ReadString('\n'); res.StatusCode != 200 || err != nil || line != "x\n" {
		t.Fatalf("%d %q %v", res.StatusCode, line, err)
	}
}

func Test_The_Proxy_Serves_SOCKS5(t *testing.T) {
	t.Parallel()
	port := startTCP(t, echo)
	var p [2]byte
	var n int
	_, _ = fmt.Sscan(port, &n)
	binary.BigEndian.PutUint16(p[:], uint16(n))
	at := string(p[:])
	const hi, noAuth = "\x05\x01\x00", "\x05\x00"
	name := func(s string) string { return "\x05\x01\x00\x03" + string([]byte{byte(len(s))}) + s + at }
	for _, row := range []struct {
		name, token, send, want string
		kind                    Kind
	}{
		{"a name", "", hi + name("ok.example"), noAuth + "\x05\x00", ""},
		{"a name in another case", "", hi + name("OK.example."), noAuth + "\x05\x00", ""},
		{"an address", "", hi + "\x05\x01\x00\x01\x7f\x00\x00\x01" + at, noAuth + "\x05\x00", ""},
		{"an address as a name", "", hi + name("0x7f.1"), noAuth + "\x05\x00", ""},
		{"a mapped address", "", hi + "\x05\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x7f\x00\x00\x01" + at, noAuth + "\x05\x00", ""},
		{"another name", "", hi + name("evil.example"), noAuth + "\x05\x02", KindHost},
		{"a NUL in the name", "", hi + name("evil.example\x00.ok.example"), noAuth + "\x05\x02", KindMalformed},
		{"a NUL after the name", "", hi + name("ok.example\x00.evil.example"), noAuth + "\x05\x02", KindMalformed},
		{"an empty name", "", hi + name(""), noAuth + "\x05\x02", KindMalformed},
		{"another address", "", hi + "\x05\x01\x00\x01\x7f\x00\x00\x02" + at, noAuth + "\x05\x02", KindHost},
		{"metadata", "", hi + "\x05\x01\x00\x01\xa9\xfe\xa9\xfe\x00\x50", noAuth + "\x05\x02", KindHost},
		{"port 0", "", hi + "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x00", noAuth + "\x05\x02", KindMalformed},
		{"UDP", "", hi + "\x05\x03\x00\x01\x7f\x00\x00\x01" + at, noAuth + "\x05\x07", ""},
		{"BIND", "", hi + "\x05\x02\x00\x01\x7f\x00\x00\x01" + at, noAuth + "\x05\x07", ""},
		{"an unknown type of address", "", hi + "\x05\x01\x00\x09", noAuth + "\x05\x08", ""},
		{"no method", "", "\x05\x00", "\x05\xff", ""},
		{"no token", "right", hi, "\x05\xff", ""},
		{"a wrong token", "right", "\x05\x01\x02\x01\x01x\x05wrong", "\x05\x02\x01\x01", ""},
		{"the right token", "right", "\x05\x02\x00\x02\x01\x01x\x05right" + name("ok.example"), "\x05\x02\x01\x00\x05\x00", ""},
		{"a password without a request for one", "", "\x05\x01\x02\x01\x01x\x01y" + name("ok.example"), "\x05\x02\x01\x00\x05\x00", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, network{Allow: []string{"tcp://ok.example:" + port, "127.0.0.1:" + port}}, func(o *Options) { o.Token = row.token })
			c := b.dial(t)
			_, _ = io.WriteString(c, row.send)
			got := make([]byte, len(row.want))
			if _, err := io.ReadFull(c, got); err != nil || string(got) != row.want {
				t.Fatalf("got %q %v, want %q", got, err, row.want)
			}
			_ = c.Close()
			if row.kind != "" {
				b.expect(t, row.kind)
			} else if err := b.end(); err != nil || len(b.take()) != 0 {
				t.Fatalf("%v, events for what is allowed", err)
			}
		})
	}
}

func Test_Other_Protocols_Are_Closed(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]string{"SOCKS4": "\x04\x01\x00\x50\x7f\x00\x00\x01\x00", "TLS": "\x16\x03\x01\x00\x05hello", "nothing known": "\x00\x00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, network{})
			c := b.dial(t)
			_, _ = io.WriteString(c, send)
			if back, _ := io.ReadAll(c); len(back) != 0 {
				t.Fatalf("%q came back", back)
			}
			b.expect(t, KindMalformed)
		})
	}
}

func Test_Connections_Wait_For_Their_Turn(t *testing.T) {
	t.Parallel()
	port := startTCP(t, echo)
	b := newBed(t, network{Allow: []string{"tcp://ok.example:" + port, everywhere}}, func(o *Options) { o.MaxConns = 1 })
	first, _, _ := b.connect(t, "ok.example:"+port)
	second := b.dial(t)
	fmt.Fprintf(second, "CONNECT ok.example:%s HTTP/1.1\r\nHost: ok.example:%s\r\n\r\n", port, port)
	_ = second.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := second.Read(make([]byte, 1)); err == nil {
		t.Fatalf("%d bytes came before there was a place", n)
	}
	_ = first.Close()
	_ = second.SetReadDeadline(time.Now().Add(20 * time.Second))
	if res, err := readReply(bufio.NewReader(second), http.MethodConnect); err != nil || res.StatusCode != 200 {
		t.Fatalf("%v %v", res, err)
	}
}

func Test_The_End_Of_Serve_Closes_All_Connections(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	port := startTCP(t, func(c net.Conn) { echo(c); close(ended) })
	w := startWeb(t, "")
	b := newBed(t, network{Allow: []string{"tcp://ok.example:" + port, "ok.example:" + w.port, everywhere}})
	c, br, _ := b.connect(t, "ok.example:"+port)
	fetch(t, b.client(t, nil), "GET", "http://ok.example:"+w.port+"/") // leaves idle connections on both sides
	half := b.dial(t)
	_, _ = io.WriteString(half, "GET http")
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	<-ended
	if _, err := br.ReadByte(); err == nil {
		t.Fatal("the tunnel goes on")
	}
	_ = c.Close()
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", b.addr); err == nil {
		t.Fatal("the listener goes on")
	}
}

func Test_The_Proxy_Connects_Through_Another_Proxy(t *testing.T) {
	t.Parallel()
	w := startWeb(t, "ok.example")
	plain := startWeb(t, "")
	outer := newBed(t, network{Allow: []string{"ok.example:" + w.port, "ok.example:" + plain.port, everywhere}}, func(o *Options) { o.Token = "outer" })
	up := &url.URL{Scheme: "http", Host: outer.addr, User: url.UserPassword("x", "outer")}
	inner := newBed(t, network{Allow: []string{"https://ok.example:" + w.port, "ok.example:" + plain.port, "gone.example:1", "10.0.0.0/8"}, Upstream: up})
	if res, text := fetch(t, inner.client(t, w.roots), "GET", "https://ok.example:"+w.port+"/x"); res.StatusCode != 200 {
		t.Fatalf("%d %q", res.StatusCode, text)
	}
	if res, text := fetch(t, inner.client(t, nil), "GET", "http://ok.example:"+plain.port+"/x"); res.StatusCode != 200 {
		t.Fatalf("%d %q", res.StatusCode, text)
	}
	if _, _, res := inner.connect(t, "gone.example:1"); res.StatusCode != 502 {
		t.Fatalf("what the outer proxy refuses got %d", res.StatusCode)
	}
	if _, _, res := inner.connect(t, "127.0.0.1:"+w.port); res.StatusCode != 403 {
		t.Fatalf("an address got %d", res.StatusCode)
	}
}

func Test_Curl_Uses_The_Proxy(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	w := startWeb(t, "")
	host := "ok.example:" + w.port
	b := newBed(t, network{Allow: []string{host, everywhere}}, func(o *Options) { o.Token = "right" })
	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"by its environment", []string{"http://" + host + "/x"}, "GET /x from " + host},
		{"in a tunnel", []string{"--proxytunnel", "http://" + host + "/x"}, "GET /x from " + host},
		{"over SOCKS5", []string{"--proxy", "socks5h://x:right@" + b.addr, "http://" + host + "/x"}, "GET /x from " + host},
		{"an international name that is not allowed", []string{"http://bücher.example/"}, "no rule allows xn--bcher-kva.example"},
		{"a body", []string{"--data", "abc", "http://" + host + "/x"}, "POST /x from " + host},
		{"without the proxy's token", []string{"--proxy", "http://" + b.addr, "http://" + host + "/x"}, "needs the token"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), curl, append([]string{"--silent", "--show-error", "--max-time", "20"}, row.args...)...)
			cmd.Env = append(Environ(b.addr, "right", "", ""), "LC_ALL=C.UTF-8")
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), row.want) {
				t.Fatalf("%q %v, want %q", out, err, row.want)
			}
		})
	}
}

func Test_A_Thousand_Tunnels_At_Once(t *testing.T) {
	const count = 1000
	port := startTCP(t, echo)
	b := newBed(t, network{Allow: []string{"tcp://ok.example:" + port, everywhere}})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var open, all sync.WaitGroup
	var failed atomic.Int64
	release := make(chan struct{})
	open.Add(count)
	for range count {
		all.Go(func() {
			defer func() { <-release }()
			defer open.Done()
			c := b.dial(t)
			fmt.Fprintf(c, "CONNECT ok.example:%s HTTP/1.1\r\nHost: ok.example:%s\r\n\r\nping\n", port, port)
			br := bufio.NewReader(c)
			res, err := readReply(br, http.MethodConnect)
			if err != nil || res.StatusCode != 200 {
				failed.Add(1)
				return
			}
			if line, err := br.ReadString('\n'); err != nil || line != "ping\n" {
				failed.Add(1)
			}
		})
	}
	open.Wait()
	runtime.ReadMemStats(&after)
	close(release)
	all.Wait()
	if n := failed.Load(); n != 0 {
		t.Fatalf("%d of %d tunnels failed", n, count)
	}
	// Clients, proxy and servers are all in this process.
	used := (after.HeapInuse + after.StackInuse - before.HeapInuse - before.StackInuse) / count
	t.Logf("%d KiB of heap and stacks for each tunnel, both its ends included", used>>10)
	if used > 256<<10 {
		t.Fatalf("a tunnel takes %d bytes", used)
	}
}
