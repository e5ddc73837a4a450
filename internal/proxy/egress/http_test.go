package egress

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func Test_The_Proxy_Checks_Plain_Requests(t *testing.T) {
	t.Parallel()
	w := startWeb(t, "")
	b := newBed(t, network{Allow: []string{"ok.example:" + w.port, "GET http://api.example:" + w.port + "/repos/**", everywhere}})
	c := b.client(t, nil)
	for _, row := range []struct {
		name, method, url string
		status            int
		want              string
		kind              Kind
	}{
		{"an allowed host", "GET", "http://ok.example:PORT/a?b=c", 200, "GET /a?b=c from ok.example:PORT", ""},
		{"an allowed host in another case", "GET", "http://OK.example.:PORT/", 200, "GET / from ok.example:PORT", ""},
		{"an encoded slash stays one", "GET", "http://ok.example:PORT/@a%2fb", 200, "GET /@a%2fb from", ""},
		{"two slashes first stay a path", "GET", "http://ok.example:PORT//evil.example/x", 200, "GET //evil.example/x from ok.example", ""},
		{"an allowed request", "GET", "http://api.example:PORT/repos/a", 200, "GET /repos/a", ""},
		{"another host", "GET", "http://evil.example:PORT/", 403, "--allow evil.example:PORT", KindHost},
		{"another port", "GET", "http://ok.example:1/", 403, "--allow ok.example:1", KindHost},
		{"another path", "GET", "http://api.example:PORT/user", 403, "--allow 'GET http://api.example:PORT/user'", KindMethod},
		{"another method", "POST", "http://api.example:PORT/repos/a", 403, "--allow 'POST http://api.example", KindMethod},
		{"trace", "TRACE", "http://ok.example:PORT/", 403, "never passed on", KindMethod},
	} {
		t.Run(row.name, func(t *testing.T) {
			b.take()
			port := func(s string) string { return strings.ReplaceAll(s, "PORT", w.port) }
			res, text := fetch(t, c, row.method, port(row.url))
			if res.StatusCode != row.status || !strings.Contains(text, port(row.want)) {
				t.Fatalf("got %d %q, want %d %q", res.StatusCode, text, row.status, port(row.want))
			}
			events := b.take()
			if row.kind == "" {
				if len(events) != 0 {
					t.Fatalf("events of an allowed request: %+v", events)
				}
				return
			}
			if len(events) != 1 || events[0].Kind != row.kind || res.Header.Get("X-Agent-Sandbox-Denied") != events[0].Reason {
				t.Fatalf("the events are %+v, the header %q", events, res.Header.Get("X-Agent-Sandbox-Denied"))
			}
		})
	}
}

func Test_Addresses_Behind_Allowed_Names(t *testing.T) {
	t.Parallel()
	b := newBed(t, network{Allow: []string{"ok.example"}})
	res, text := fetch(t, b.client(t, nil), "GET", "http://ok.example/")
	if res.StatusCode != 403 || !strings.Contains(text, "127.0.0.1 is a loopback address") {
		t.Fatalf("%d %q", res.StatusCode, text)
	}
	if e := b.expect(t, KindAddress); e.Allow != "--allow 127.0.0.1" || e.Host != "ok.example" {
		t.Fatalf("%+v", e)
	}
}

func Test_A_Name_That_Does_Not_Exist(t *testing.T) {
	t.Parallel()
	b := newBed(t, network{Allow: []string{"gone.example"}}, func(o *Options) {
		o.Resolver = startDNS(t, func(string) []string { return nil })
	})
	res, text := fetch(t, b.client(t, nil), "GET", "http://gone.example/")
	if res.StatusCode != 502 || !strings.Contains(text, "no such host: gone.example") || len(b.take()) != 0 {
		t.Fatalf("%d %q", res.StatusCode, text)
	}
}

// malformedRequests never reach a server; HOST is an allowed one.
var malformedRequests = []struct {
	name, raw string
	status    int
}{
	{"another Host field", "GET http://HOST/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400},
	{"another port in the Host field", "GET http://HOST/ HTTP/1.1\r\nHost: ok.example:1\r\n\r\n", 400},
	{"two Host fields", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n", 400},
	{"no Host field", "GET http://HOST/ HTTP/1.1\r\n\r\n", 400},
	{"a NUL in the Host field", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\x00\r\n\r\n", 400},
	{"user information", "GET http://HOST@evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"user information before the host", "GET http://user@HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"a backslash before the path", "GET http://HOST\\@evil.example/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"an escape in the host", "GET http://ok%2eexample/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"a fragment", "GET http://HOST/#@evil.example HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"a broken escape", "GET http://HOST/%zz HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"a path alone", "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"https as a plain request", "GET https://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"another scheme", "GET ftp://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"Content-Length and Transfer-Encoding", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"two lengths", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nabcde", 400},
	{"two lengths in one field", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 5, 5\r\n\r\nabcde", 400},
	{"a length with a sign", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: +5\r\n\r\nabcde", 400},
	{"a hexadecimal length", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0x5\r\n\r\nabcde", 400},
	{"a length beyond all numbers", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
	{"another coding", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
	{"a coding with a vertical tab", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", 400},
	{"two codings", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
	{"a coding in HTTP/1.0", "POST http://HOST/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"space before the colon", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
	{"a folded field", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: b\r\n c\r\n\r\n", 400},
	{"a field without a name", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n: b\r\n\r\n", 400},
	{"a field without a colon", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nhello\r\n\r\n", 400},
	{"LF alone", "GET http://HOST/ HTTP/1.1\nHost: HOST\n\n", 400},
	{"CR alone", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: b\rX-C: d\r\n\r\n", 400},
	{"two spaces in the request line", "GET  http://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"a tab in the request line", "GET\thttp://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"HTTP/0.9", "GET http://HOST/\r\n\r\n", 400},
	{"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	{"HTTP/1.2", "GET http://HOST/ HTTP/1.2\r\nHost: HOST\r\n\r\n", 505},
	{"a header too long", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-A: " + strings.Repeat("a", maxHeader) + "\r\n\r\n", 431},
	{"a request line too long", "GET http://HOST/" + strings.Repeat("a", maxHeader) + " HTTP/1.1\r\nHost: HOST\r\n\r\n", 431},
	{"too many fields", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n" + strings.Repeat("X-A: b\r\n", maxFields+1) + "\r\n", 431},
	{"an unknown expectation", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nExpect: magic\r\nContent-Length: 1\r\n\r\na", 417},
	{"CONNECT without a port", "CONNECT ok.example HTTP/1.1\r\nHost: ok.example\r\n\r\n", 400},
	{"CONNECT with a URL", "CONNECT http://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
	{"CONNECT with another Host field", "CONNECT HOST HTTP/1.1\r\nHost: evil.example\r\n\r\n", 400},
	{"CONNECT with a body", "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\nContent-Length: 1\r\n\r\na", 400},
	{"CONNECT with user information", "CONNECT ok.example@evil.example:443 HTTP/1.1\r\nHost: HOST\r\n\r\n", 400},
}

func Test_Malformed_Requests_Reach_No_Server(t *testing.T) {
	t.Parallel()
	for _, row := range malformedRequests {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, "")
			host := "ok.example:" + w.port
			b := newBed(t, network{Allow: []string{host, everywhere}})
			c := b.dial(t)
			go func() { _, _ = io.WriteString(c, strings.ReplaceAll(row.raw, "HOST", host)) }()
			res, err := readReply(bufio.NewReader(c), http.MethodGet)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != row.status || !res.Close {
				t.Fatalf("got %d, close %v; want %d and the end", res.StatusCode, res.Close, row.status)
			}
			b.expect(t, KindMalformed)
			if n := w.hits.Load(); n != 0 {
				t.Fatalf("the server saw %d requests", n)
			}
		})
	}
}

// Each text is one request, or one request and data that must never become a second one.
func Test_Requests_Are_Written_Anew(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, raw string
		hits      int64
		check     func(r *http.Request, body string) bool
	}{
		{
			"connection fields are dropped", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nX-Stay: 2\r\nProxy-Authorization: Basic eDp5\r\nKeep-Alive: 5\r\nTE: trailers\r\n\r\n", 1,
			func(r *http.Request, _ string) bool {
				return r.Header.Get("X-Hop") == "" && r.Header.Get("X-Stay") == "2" && r.Header.Get("Te") == "" &&
					r.Header.Get("Proxy-Authorization") == "" && r.Header.Get("User-Agent") == ""
			},
		},
		{
			"h2c is dropped", "GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n", 1,
			func(r *http.Request, _ string) bool {
				return r.Header.Get("Upgrade") == "" && r.Header.Get("Http2-Settings") == ""
			},
		},
		{
			"a chunked body", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nTransfer-Encoding: Chunked\r\nTrailer: X-T\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n", 1,
			func(r *http.Request, body string) bool { return body == "abcde" && len(r.Trailer) == 0 },
		},
		{
			"a body with a length", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nContent-Length: 5\r\n\r\nabcdeGET http://HOST/evil HTTP/1.1\r\n", 1,
			func(_ *http.Request, body string) bool { return body == "abcde" },
		},
		{
			"an expectation is met here", "POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", 1,
			func(r *http.Request, body string) bool { return body == "abc" && r.Header.Get("Expect") == "" },
		},
		{
			"two requests", "GET http://HOST/1 HTTP/1.1\r\nHost: HOST\r\n\r\nGET http://HOST/2 HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n", 2,
			func(r *http.Request, _ string) bool { return r.RequestURI == "/2" },
		},
		{
			"HTTP/1.0", "GET http://HOST/ HTTP/1.0\r\n\r\n", 1,
			func(r *http.Request, _ string) bool { return r.Proto == "HTTP/1.1" },
		},
		{
			"bytes that need an escape", "GET http://HOST/a{b}\"\xc3\xbc%2F HTTP/1.0\r\n\r\n", 1,
			func(r *http.Request, _ string) bool { return r.RequestURI == "/a%7Bb%7D%22%C3%BC%2F" },
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, "")
			host := "ok.example:" + w.port
			b := newBed(t, network{Allow: []string{host, everywhere}})
			c := b.dial(t)
			_, _ = io.WriteString(c, strings.ReplaceAll(row.raw, "HOST", host))
			text, err := io.ReadAll(c)
			if err != nil || !strings.Contains(string(text), " 200 OK\r\n") {
				t.Fatalf("%q %v", text, err)
			}
			r, body := w.seen()
			if w.hits.Load() != row.hits || !row.check(r, body) {
				t.Fatalf("the server saw %d requests, the last one %+v %q", w.hits.Load(), r, body)
			}
		})
	}
}

func Test_Broken_Bodies_Are_Not_Completed(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"a chunk without its end":   "5\r\nabcdeX\r\n0\r\n\r\n",
		"a chunk size that is none": "zz\r\n",
		"a chunk size with LF":      "5\nabcde\r\n0\r\n\r\n",
		"a chunk size too large":    "fffffffffffffffff\r\n",
		"an endless extension":      "1;" + strings.Repeat("a", 1<<20) + "\r\n",
		"a broken trailer":          "1\r\na\r\n0\r\nX Y: 1\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startWeb(t, "")
			host := "ok.example:" + w.port
			b := newBed(t, network{Allow: []string{host, everywhere}})
			c := b.dial(t)
			go func() {
				_, _ = io.WriteString(c, "POST http://"+host+"/ HTTP/1.1\r\nHost: "+host+"\r\nTransfer-Encoding: chunked\r\n\r\n"+raw)
			}()
			text, _ := io.ReadAll(c)
			if strings.Contains(string(text), " 200 OK") {
				t.Fatalf("the request was completed: %q", text)
			}
		})
	}
}

func Test_Override_Fields_Do_Not_Reach_Hosts_With_Request_Rules(t *testing.T) {
	t.Parallel()
	w := startWeb(t, "")
	b := newBed(t, network{Allow: []string{"GET http://api.example:" + w.port + "/**", everywhere}})
	res, _ := fetch(t, b.client(t, nil), "GET", "http://api.example:"+w.port+"/", "X-HTTP-Method-Override", "DELETE")
	if res.StatusCode != 403 || w.hits.Load() != 0 {
		t.Fatalf("got %d", res.StatusCode)
	}
	b.expect(t, KindMethod)
}

func Test_Request_Rules_Hold_Inside_Tunnels(t *testing.T) {
	t.Parallel()
	w := startWeb(t, "")
	target := "api.example:" + w.port
	b := newBed(t, network{Allow: []string{"GET http://" + target + "/repos/**", everywhere}})
	for path, want := range map[string]int{"/repos/a": 200, "/user": 403} {
		c, br, res := b.connect(t, target)
		if res.StatusCode != 200 {
			t.Fatalf("CONNECT: %d", res.StatusCode)
		}
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, target)
		res, err := readReply(br, http.MethodGet)
		if err != nil || res.StatusCode != want {
			t.Fatalf("%s: %v %v, want %d", path, res, err, want)
		}
	}
}

func Test_The_Proxy_Requires_Its_Token(t *testing.T) {
	t.Parallel()
	w := startWeb(t, "")
	host := "ok.example:" + w.port
	b := newBed(t, network{Allow: []string{host, everywhere}}, func(o *Options) { o.Token = "right" })
	for name, row := range map[string]struct {
		user *url.Userinfo
		want int
	}{
		"none":  {nil, 407},
		"wrong": {url.UserPassword("sandbox", "wrong"), 407},
		"empty": {url.UserPassword("right", ""), 407},
		"right": {url.UserPassword("sandbox", "right"), 200},
	} {
		t.Run(name, func(t *testing.T) {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: b.addr, User: row.user})}}
			if res, _ := fetch(t, c, "GET", "http://"+host+"/"); res.StatusCode != row.want {
				t.Fatalf("got %d, want %d", res.StatusCode, row.want)
			}
		})
	}
}

func Test_A_Response_Is_Streamed(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "one\n")
		_ = http.NewResponseController(w).Flush()
		<-next
		_, _ = io.WriteString(w, "two\n")
	}))
	defer srv.Close()
	host := strings.Replace(srv.Listener.Addr().String(), "127.0.0.1", "ok.example", 1)
	b := newBed(t, network{Allow: []string{host, everywhere}})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/", nil)
	res, err := b.client(t, nil).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	br := bufio.NewReader(res.Body)
	one, err := br.ReadString('\n')
	if err != nil || one != "one\n" {
		t.Fatalf("%q %v", one, err)
	}
	close(next)
	if two, err := br.ReadString('\n'); err != nil || two != "two\n" {
		t.Fatalf("%q %v", two, err)
	}
}

func Test_The_Proxy_Passes_WebSockets(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "websocket" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
		line, _ := rw.ReadString('\n')
		_, _ = io.WriteString(c, "echo "+line)
	}))
	defer srv.Close()
	host := strings.Replace(srv.Listener.Addr().String(), "127.0.0.1", "ok.example", 1)
	b := newBed(t, network{Allow: []string{host, everywhere}})
	c := b.dial(t)
	fmt.Fprintf(c, "GET http://%s/ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", host, host)
	br := bufio.NewReader(c)
	res, err := readReply(br, http.MethodGet)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%v %v", res, err)
	}
	fmt.Fprint(c, "hello\n")
	if line, err := br.ReadString('\n'); err != nil || line != "echo hello\n" {
		t.Fatalf("%q %v", line, err)
	}
}

func Test_Slow_Headers_Are_Cut_Off(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]string{
		"nothing":                "",
		"a part of a request":    "GET http://ok.example/ HT",
		"a field after a while":  "GET http://ok.example/ HTTP/1.1\r\nHost: ok.example\r\nX-A: ",
		"a part of a greeting":   "\x05\x02\x00",
		"a part of a SOCKS name": "\x05\x01\x00\x05\x01\x00\x03\x20abc",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t, network{Allow: []string{"ok.example"}}, func(o *Options) { o.HeaderTimeout = 100 * time.Millisecond })
			c := b.dial(t)
			_, _ = io.WriteString(c, begin)
			if _, err := io.Copy(io.Discard, c); err != nil {
				t.Fatalf("the connection did not end: %v", err)
			}
		})
	}
}
