//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// inspected are the flags of a list whose TLS is opened.
var inspected = []string{"--ca", "ephemeral", "--allow", "GET https://allowed.test/**"}

// servers is the environment of a host that trusts the test network.
var servers = []string{"SSL_CERT_FILE={ca}"}

func requests() []escape {
	careless := control{Every: true}
	good := &online{Good: []string{"allowed.test"}, Naive: true}
	tls := func(p probe) probe {
		p.Via, p.TLS = "connect", true
		if p.To == "" {
			p.To = "allowed.test:443"
		}
		return p
	}
	plain := func(p probe) probe {
		p.Via = "plain"
		if p.To == "" {
			p.To = "http://allowed.test/"
		}
		return p
	}
	return []escape{
		{
			ID: "E21.15", Name: "the TLS server name is the host that was asked for", Matrix: rowRequests, Control: careless,
			Flags: rules("allowed.test"), Net: good,
			Go: probes(append(answered(tls(probe{SNI: "evil.test"}), tls(probe{SNI: "evil.test", Pieces: 1}), tls(probe{SNI: "-"}), tls(probe{SNI: "www.allowed.test"}),
				probe{Via: "socks", To: "allowed.test:443", TLS: true, SNI: "evil.test"}),
				tls(probe{Good: true}), tls(probe{Good: true, Pieces: 50}))...),
		},
		{
			ID: "E21.16", Name: "nor is it one that two servers would read differently", Matrix: rowRequests,
			Flags: rules("allowed.test"), Net: good,
			Go: probes(tls(probe{Good: true}), tls(probe{SNI: "aaaaaaaaaaaaa", Swap: evilAddr}), tls(probe{SNI: "allowed.testx", Swap: "allowed.test\x00"}),
				tls(probe{SNI: "allowed.testx.evil.test", Swap: "allowed.test\x00.evil.test"}), tls(probe{SNI: "evil.testx.allowed.test", Swap: "evil.test\x00.allowed.test"})),
		},
		{
			ID: "E21.17", Name: "in TLS that is inspected every request is for the host of the tunnel", Matrix: rowRequests, Control: careless,
			Flags: inspected, Env: servers, Net: good,
			Go: probes(tls(probe{Good: true}), tls(probe{Host: "evil.test"}), tls(probe{Host: "evil.test:443"}), tls(probe{Target: "https://evil.test/"}), tls(probe{SNI: "evil.test", Host: "evil.test"}),
				tls(probe{Host: "allowed.test.evil.test"}), tls(probe{Raw: "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"})),
		},
		{
			ID: "E21.18", Name: "in TLS that is inspected no connection is shared with a second host", Matrix: rowRequests,
			Flags: inspected, Env: servers, Net: good, Go: []string{"coalesce", "allowed.test:443", "evil.test"},
		},
		{
			ID: "E21.19", Name: "a plain request is for one host: address, Host field and tunnel agree", Matrix: rowRequests, Control: careless,
			Flags: rules("allowed.test"), Net: good,
			Go: probes(plain(probe{Good: true}), plain(probe{Host: "evil.test"}), plain(probe{Host: "allowed.test.evil.test"}), plain(probe{To: "http://evil.test/", Host: "allowed.test"}),
				plain(probe{Host: "evil.test:80"}), probe{Via: "connect", To: "allowed.test:80", Host: "evil.test"}, probe{Via: "connect", To: "allowed.test:80", Target: "http://evil.test/"},
				probe{Via: "connect", To: "evil.test:80", Inner: "allowed.test:80"}, plain(probe{Host: "evil.test\r\nX: allowed.test"}),
				probe{Via: "connect", To: "allowed.test:80", Raw: "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"},
				probe{Via: "connect", To: "allowed.test:80", Raw: "CONNECT evil.test:80 HTTP/1.1\r\nHost: evil.test:80\r\n\r\n"}),
		},
		{
			ID: "E21.20", Name: "a redirect does not lead out of the list", Matrix: rowRequests,
			Flags: rules("allowed.test"), Net: good,
			Go: []string{
				"follow", "http://allowed.test/?redirect=http://evil.test/", "http://allowed.test/?redirect=https://evil.test/", "https://allowed.test/?redirect=http://127.0.0.1:7001/",
				"http://allowed.test/?redirect=http://" + evilAddr + "/", "https://allowed.test/?redirect=http://169.254.169.254/latest",
			},
			Control: careless,
		},
		{
			ID: "E21.21", Name: "no request is hidden in another", Matrix: rowRequests,
			Flags: rules("lenient.test"), Net: &online{Good: []string{"lenient.test"}, Naive: true}, Go: probes(smuggling()...), Control: careless,
		},
		{
			ID: "E21.22", Name: "no request is hidden in another that is inspected", Matrix: rowRequests,
			Flags: []string{"--ca", "ephemeral", "--allow", "GET,POST https://lenient.test/**"}, Env: servers, Net: &online{Good: []string{"lenient.test"}, Naive: true},
			Go: probes(smuggledInTLS()...),
		},
		{
			ID: "E21.23", Name: "rules for methods and paths cannot be walked around", Matrix: rowRequests, Control: careless,
			Flags: rules("GET http://allowed.test/pub/**"), Net: &online{Good: []string{"allowed.test"}, Naive: true}, Hold: onlyBelow("/pub/"),
			Go: probes(append(allowed([]probe{{Via: "plain", To: "http://allowed.test/pub/a"}}), answered(walks(plain)...)...)...),
		},
		{
			ID: "E21.24", Name: "on the ports of the web nothing but the web is spoken", Matrix: rowRequests, Control: careless,
			Flags: rules("allowed.test", "http://a.allowed.test", "https://b.allowed.test"),
			Net:   &online{Good: []string{"allowed.test"}, Asks: []string{".allowed.test"}, Naive: true},
			Go: probes(probe{Good: true, Via: "connect", To: "allowed.test:80"}, tls(probe{Good: true}), probe{Via: "connect", To: "allowed.test:443", Raw: "SSH-2.0-x\r\n"},
				probe{Via: "connect", To: "allowed.test:80", Raw: "SSH-2.0-x\r\n"}, probe{Via: "socks", To: "allowed.test:443", Raw: "\x00\x01raw raw\r\n"}, probe{Via: "connect", To: "a.allowed.test:80", TLS: true},
				probe{Via: "connect", To: "b.allowed.test:443"}),
		},
		{
			ID: "E21.25", Name: "the proxy speaks no other protocol of proxies", Matrix: rowRequests, Control: careless,
			Flags: rules("allowed.test", "*.allowed.test:1-65535"), Net: good,
			Go: probes(probe{Good: true, Via: "socks", To: "allowed.test:80"}, probe{Name: "SOCKS 4", Via: "socks4", To: "evil.test:80"},
				probe{Name: "SOCKS 5: bind a port of the host", Base64: []byte("\x05\x01\x00\x05\x02\x00\x03\x0callowed.test\x00\x50"), Expect: "\x05\x00\x05\x00\x00\x01"},
				probe{Name: "SOCKS 5: UDP", Base64: []byte("\x05\x01\x00\x05\x03\x00\x03\x0callowed.test\x00\x50"), Expect: "\x05\x00\x05\x00\x00\x01"}),
		},
	}
}

// answered are attempts that have succeeded when the allowed server answers them, too.
func answered(list ...probe) []probe {
	for i := range list {
		list[i].Expect = verdictPermitted
	}
	return list
}

// onlyBelow holds when only GET below a path has arrived.
func onlyBelow(dir string) func(*host, outcome) error {
	return func(h *host, _ outcome) error {
		var errs []error
		for _, v := range h.world.seen() {
			if v.method != "" && (v.method != http.MethodGet || path.Clean(v.path) != v.path || !strings.HasPrefix(v.path, dir)) {
				errs = append(errs, fmt.Errorf("this request arrived: %s", v))
			}
		}
		return errors.Join(errs...)
	}
}

// smuggling are requests of which some server sees two.
func smuggling() []probe {
	const hidden = "GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n"
	begin := "POST http://lenient.test/ HTTP/1.1\r\nHost: lenient.test\r\n"
	list := []string{
		begin + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		begin + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + hidden,
		begin + "Content-Length: 0\r\nContent-Length: 44\r\n\r\n" + hidden,
		begin + "Content-Length: 0, 44\r\n\r\n" + hidden, begin + "Content-Length: +44\r\n\r\n" + hidden, begin + "Content-Length: 0x2c\r\n\r\n" + hidden,
		begin + "Content-Length : 44\r\n\r\n" + hidden, begin + "Content-Length:\r\n 44\r\n\r\n" + hidden,
		begin + "Transfer-Encoding: xchunked\r\n\r\n" + hidden, begin + "Transfer-Encoding: chunked, identity\r\n\r\n" + hidden,
		begin + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + hidden,
		begin + "Transfer-Encoding:\x0bchunked\r\n\r\n" + hidden, begin + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + hidden,
		begin + "X: y\n\n" + hidden, begin + "X: y\r\r\n\r\r\n" + hidden, begin + "X: a\r\n b\r\n\r\n" + hidden, begin + "X: y\x00\r\n\r\n" + hidden,
		begin + " X: y\r\n\r\n" + hidden, begin + "X\r\n\r\n" + hidden,
		begin + "Transfer-Encoding: chunked\r\n\r\n1;x\n" + hidden + "\r\n0\r\n\r\n",
		begin + "Transfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n " + hidden,
		"POST http://lenient.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden,
		"GET http://lenient.test/ HTTP/1.1 GET /smuggled HTTP/1.1\r\nHost: lenient.test\r\n\r\n",
		"GET http://lenient.test/\rGET\t/smuggled HTTP/1.1\r\nHost: lenient.test\r\n\r\n" + hidden,
	}
	out := []probe{{Good: true, Via: "plain", To: "http://lenient.test/"}}
	for _, text := range list {
		out = append(out, probe{Via: "plain", Raw: text})
	}
	return out
}

func smuggledInTLS() []probe {
	out := []probe{{Good: true, Via: "connect", To: "lenient.test:443", TLS: true}}
	for _, p := range smuggling() {
		if !p.Good {
			out = append(out, probe{Via: "connect", To: "lenient.test:443", TLS: true, Raw: strings.Replace(p.Raw, "http://lenient.test/", "/", 1)})
		}
	}
	return out
}

// walks are requests that lead out of /pub on some server, or are no GET.
func walks(plain func(probe) probe) []probe {
	var out []probe
	for _, path := range []string{
		"/", "/admin", "/pub/../admin", "/pub/%2e%2e/admin", "/pub/..%2fadmin", "/pub/.%2e/admin", "/pub/..;/admin", `/pub/..\admin`, "/pub/%252e%252e/admin",
		"//pub/a", "/PUB/a", "/pub%2fa", "/pub/a/../../admin", "/pub//../../admin", "/%70ub/../admin",
	} {
		out = append(out, plain(probe{To: "http://allowed.test" + path}))
	}
	for _, method := range []string{"POST", "get", "Get", "PUT", "DELETE", "PROPFIND", "G"} {
		out = append(out, plain(probe{To: "http://allowed.test/pub/a", Method: method}))
	}
	for _, field := range []string{"X-HTTP-Method-Override: DELETE", "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "x-method-override: PUT"} {
		out = append(out, plain(probe{To: "http://allowed.test/pub/a", Fields: field + "\r\n"}))
	}
	return append(out, probe{Via: "connect", To: "allowed.test:80", Target: "/admin"})
}
