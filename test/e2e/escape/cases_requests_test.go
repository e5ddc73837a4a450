//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

// inspected are the flags of an allow-list whose TLS is inspected.
var inspected = []string{"--ca", "ephemeral", "--allow", "GET https://allowed.test/**"}

// servers is the environment of a host that trusts the certificates of the test network.
var servers = []string{"SSL_CERT_FILE={ca}"}

func requests() []escape {
	careless := control{Every: true}
	good := &testnet.Limits{Good: []string{"allowed.test"}, Naive: true}
	tls := func(p attacker.Probe) attacker.Probe {
		p.Via, p.TLS = "connect", true
		if p.To == "" {
			p.To = "allowed.test:443"
		}
		return p
	}
	plain := func(p attacker.Probe) attacker.Probe {
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
			Go: attacker.ProbeArgs(append(answered(tls(attacker.Probe{SNI: "evil.test"}), tls(attacker.Probe{SNI: "evil.test", Pieces: 1}), tls(attacker.Probe{SNI: "-"}), tls(attacker.Probe{SNI: "www.allowed.test"}),
				attacker.Probe{Via: "socks", To: "allowed.test:443", TLS: true, SNI: "evil.test"}),
				tls(attacker.Probe{Good: true}), tls(attacker.Probe{Good: true, Pieces: 50}))...),
		},
		{
			ID: "E21.16", Name: "nor is it one that two servers would read differently", Matrix: rowRequests,
			Flags: rules("allowed.test"), Net: good,
			Go: attacker.ProbeArgs(tls(attacker.Probe{Good: true}), tls(attacker.Probe{SNI: "aaaaaaaaaaaaa", Swap: testnet.EvilAddr}), tls(attacker.Probe{SNI: "allowed.testx", Swap: "allowed.test\x00"}),
				tls(attacker.Probe{SNI: "allowed.testx.evil.test", Swap: "allowed.test\x00.evil.test"}), tls(attacker.Probe{SNI: "evil.testx.allowed.test", Swap: "evil.test\x00.allowed.test"})),
		},
		{
			ID: "E21.17", Name: "in TLS that is inspected every request is for the host of the tunnel", Matrix: rowRequests, Control: careless,
			Flags: inspected, Env: servers, Net: good,
			Go: attacker.ProbeArgs(tls(attacker.Probe{Good: true}), tls(attacker.Probe{Host: "evil.test"}), tls(attacker.Probe{Host: "evil.test:443"}), tls(attacker.Probe{Target: "https://evil.test/"}), tls(attacker.Probe{SNI: "evil.test", Host: "evil.test"}),
				tls(attacker.Probe{Host: "allowed.test.evil.test"}), tls(attacker.Probe{Raw: "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"})),
		},
		{
			ID: "E21.18", Name: "in TLS that is inspected no connection is shared with a second host", Matrix: rowRequests,
			Flags: inspected, Env: servers, Net: good, Go: []string{"coalesce", "allowed.test:443", "evil.test"},
		},
		{
			ID: "E21.19", Name: "a plain request is for one host: address, Host field and tunnel agree", Matrix: rowRequests, Control: careless,
			Flags: rules("allowed.test"), Net: good,
			Go: attacker.ProbeArgs(plain(attacker.Probe{Good: true}), plain(attacker.Probe{Host: "evil.test"}), plain(attacker.Probe{Host: "allowed.test.evil.test"}), plain(attacker.Probe{To: "http://evil.test/", Host: "allowed.test"}),
				plain(attacker.Probe{Host: "evil.test:80"}), attacker.Probe{Via: "connect", To: "allowed.test:80", Host: "evil.test"}, attacker.Probe{Via: "connect", To: "allowed.test:80", Target: "http://evil.test/"},
				attacker.Probe{Via: "connect", To: "evil.test:80", Inner: "allowed.test:80"}, plain(attacker.Probe{Host: "evil.test\r\nX: allowed.test"}),
				attacker.Probe{Via: "connect", To: "allowed.test:80", Raw: "GET / HTTP/1.1\r\nHost: allowed.test\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n"},
				attacker.Probe{Via: "connect", To: "allowed.test:80", Raw: "CONNECT evil.test:80 HTTP/1.1\r\nHost: evil.test:80\r\n\r\n"}),
		},
		{
			ID: "E21.20", Name: "a redirect does not lead out of the list", Matrix: rowRequests,
			Flags: rules("allowed.test"), Net: good,
			Go: []string{
				"follow", "http://allowed.test/?redirect=http://evil.test/", "http://allowed.test/?redirect=https://evil.test/", "https://allowed.test/?redirect=http://127.0.0.1:7001/",
				"http://allowed.test/?redirect=http://" + testnet.EvilAddr + "/", "https://allowed.test/?redirect=http://169.254.169.254/latest",
			},
			Control: careless,
		},
		{
			ID: "E21.21", Name: "no request is hidden in another", Matrix: rowRequests,
			Flags: rules("lenient.test"), Net: &testnet.Limits{Good: []string{"lenient.test"}, Naive: true}, Go: attacker.ProbeArgs(smuggling()...), Control: careless,
		},
		{
			ID: "E21.22", Name: "no request is hidden in another that is inspected", Matrix: rowRequests,
			Flags: []string{"--ca", "ephemeral", "--allow", "GET,POST https://lenient.test/**"}, Env: servers, Net: &testnet.Limits{Good: []string{"lenient.test"}, Naive: true},
			Go: attacker.ProbeArgs(smuggledInTLS()...),
		},
		{
			ID: "E21.23", Name: "rules for methods and paths cannot be walked around", Matrix: rowRequests, Control: careless,
			Flags: rules("GET http://allowed.test/pub/**"), Net: &testnet.Limits{Good: []string{"allowed.test"}, Naive: true}, Hold: onlyBelow("/pub/"),
			Go: attacker.ProbeArgs(append(allowed([]attacker.Probe{{Via: "plain", To: "http://allowed.test/pub/a"}}), answered(walks(plain)...)...)...),
		},
		{
			ID: "E21.24", Name: "on the ports of the web nothing but the web is spoken", Matrix: rowRequests, Control: careless,
			Flags: rules("allowed.test", "http://a.allowed.test", "https://b.allowed.test"),
			Net:   &testnet.Limits{Good: []string{"allowed.test"}, Asks: []string{".allowed.test"}, Naive: true},
			Go: attacker.ProbeArgs(attacker.Probe{Good: true, Via: "connect", To: "allowed.test:80"}, tls(attacker.Probe{Good: true}), attacker.Probe{Via: "connect", To: "allowed.test:443", Raw: "SSH-2.0-x\r\n"},
				attacker.Probe{Via: "connect", To: "allowed.test:80", Raw: "SSH-2.0-x\r\n"}, attacker.Probe{Via: "socks", To: "allowed.test:443", Raw: "\x00\x01raw raw\r\n"}, attacker.Probe{Via: "connect", To: "a.allowed.test:80", TLS: true},
				attacker.Probe{Via: "connect", To: "b.allowed.test:443"}),
		},
		{
			ID: "E21.25", Name: "the proxy speaks no other protocol of proxies", Matrix: rowRequests, Control: careless,
			Flags: rules("allowed.test", "*.allowed.test:1-65535"), Net: good,
			Go: attacker.ProbeArgs(attacker.Probe{Good: true, Via: "socks", To: "allowed.test:80"}, attacker.Probe{Name: "SOCKS 4", Via: "socks4", To: "evil.test:80"},
				attacker.Probe{Name: "SOCKS 5: bind a port of the host", Base64: []byte("\x05\x01\x00\x05\x02\x00\x03\x0callowed.test\x00\x50"), Expect: "\x05\x00\x05\x00\x00\x01"},
				attacker.Probe{Name: "SOCKS 5: UDP", Base64: []byte("\x05\x01\x00\x05\x03\x00\x03\x0callowed.test\x00\x50"), Expect: "\x05\x00\x05\x00\x00\x01"}),
		},
	}
}

// answered also accepts the answer of the allowed server as a success of the probes.
func answered(list ...attacker.Probe) []attacker.Probe {
	for i := range list {
		list[i].Expect = testnet.Permitted
	}
	return list
}

// onlyBelow returns a check that the servers received only GET requests below a path.
func onlyBelow(dir string) func(*host, outcome) error {
	return func(h *host, _ outcome) error {
		var errs []error
		for _, v := range h.network.Visits() {
			if v.Method != "" && (v.Method != http.MethodGet || path.Clean(v.Path) != v.Path || !strings.HasPrefix(v.Path, dir)) {
				errs = append(errs, fmt.Errorf("this request arrived: %s", v))
			}
		}
		return errors.Join(errs...)
	}
}

// smuggling returns requests that some servers parse as two.
func smuggling() []attacker.Probe {
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
	out := []attacker.Probe{{Good: true, Via: "plain", To: "http://lenient.test/"}}
	for _, text := range list {
		out = append(out, attacker.Probe{Via: "plain", Raw: text})
	}
	return out
}

func smuggledInTLS() []attacker.Probe {
	out := []attacker.Probe{{Good: true, Via: "connect", To: "lenient.test:443", TLS: true}}
	for _, p := range smuggling() {
		if !p.Good {
			out = append(out, attacker.Probe{Via: "connect", To: "lenient.test:443", TLS: true, Raw: strings.Replace(p.Raw, "http://lenient.test/", "/", 1)})
		}
	}
	return out
}

// walks returns requests that some server resolves to a path outside /pub, or that are
// not GET.
func walks(plain func(attacker.Probe) attacker.Probe) []attacker.Probe {
	var out []attacker.Probe
	for _, path := range []string{
		"/", "/admin", "/pub/../admin", "/pub/%2e%2e/admin", "/pub/..%2fadmin", "/pub/.%2e/admin", "/pub/..;/admin", `/pub/..\admin`, "/pub/%252e%252e/admin",
		"//pub/a", "/PUB/a", "/pub%2fa", "/pub/a/../../admin", "/pub//../../admin", "/%70ub/../admin",
	} {
		out = append(out, plain(attacker.Probe{To: "http://allowed.test" + path}))
	}
	for _, method := range []string{"POST", "get", "Get", "PUT", "DELETE", "PROPFIND", "G"} {
		out = append(out, plain(attacker.Probe{To: "http://allowed.test/pub/a", Method: method}))
	}
	for _, field := range []string{"X-HTTP-Method-Override: DELETE", "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "x-method-override: PUT"} {
		out = append(out, plain(attacker.Probe{To: "http://allowed.test/pub/a", Fields: field + "\r\n"}))
	}
	return append(out, attacker.Probe{Via: "connect", To: "allowed.test:80", Target: "/admin"})
}
