//go:build linux

package attacker

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// attackFollow requests URLs through the proxy and follows redirects; after "direct" it uses no proxy.
func attackFollow(args []string) {
	proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: testnet.ProxyAddr})
	for _, arg := range args {
		if arg == "direct" {
			proxy = nil
			continue
		}
		redirected := proxy == nil
		client := &http.Client{
			Timeout: 2 * testnet.DialTimeout,
			Transport: &http.Transport{
				Proxy: proxy, DisableKeepAlives: true,
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the attacker trusts every server
			},
			CheckRedirect: func(*http.Request, []*http.Request) error {
				redirected = true
				return nil
			},
		}
		answer := ""
		res, err := client.Get(arg) //nolint:noctx // it has a timeout
		if err == nil {
			data, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			answer = string(data)
		}
		switch {
		case strings.HasPrefix(answer, testnet.Forbidden):
			report(arg, nil)
		case !redirected:
			fmt.Printf("BROKEN %s did not redirect: %v %.100q\n", arg, err, answer)
		default:
			report(arg, fmt.Errorf("%w %.100q", err, answer))
		}
	}
}

// attackCoalesce sends a request to one host on an HTTP/2 connection to another, as
// browsers do if the certificate is valid for both. It also sends only the preface on a
// connection that did not negotiate HTTP/2.
func attackCoalesce(args []string) {
	tunnel := func(protocols ...string) (*tls.Conn, error) {
		p := Probe{Via: "connect", To: args[0]}
		c, err := (&net.Dialer{Timeout: testnet.DialTimeout}).Dial("tcp", testnet.ProxyAddr)
		if err != nil {
			return nil, err
		}
		if _, err = p.open(c); err != nil {
			return nil, err
		}
		name, _ := p.hostPort()
		inner := tls.Client(c, &tls.Config{ServerName: name, NextProtos: protocols, InsecureSkipVerify: true}) //nolint:gosec // the attacker trusts every server
		return inner, inner.HandshakeContext(context.Background())
	}
	for _, protocols := range [][]string{{"h2"}, {"h2", "http/1.1"}} {
		what := fmt.Sprintf("%q for %s on a connection to %s", protocols, args[1], args[0])
		client := &http.Client{Timeout: 2 * testnet.DialTimeout, Transport: &http.Transport{
			ForceAttemptHTTP2: true,
			DialTLSContext:    func(context.Context, string, string) (net.Conn, error) { return tunnel(protocols...) },
		}}
		req, err := http.NewRequest(http.MethodGet, "https://"+args[0]+"/", nil) //nolint:noctx // it has a timeout
		if err == nil {
			req.Host = args[1]
			var res *http.Response
			if res, err = client.Do(req); err == nil {
				data, _ := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if !strings.HasPrefix(string(data), testnet.Forbidden) {
					err = fmt.Errorf("%s %.100q", res.Proto, data)
				}
			}
		}
		report(what, err)
	}
	c, err := tunnel("http/1.1")
	if err != nil {
		fmt.Println("BROKEN", err)
		return
	}
	if _, err = io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err == nil {
		answer, _ := readVerdict(c, "\x00\x00\x00\x04\x01")
		if !strings.HasPrefix(answer, "\x00\x00") {
			err = fmt.Errorf("%.100q", answer)
		}
	}
	report("HTTP/2 that was not agreed on", err)
}
