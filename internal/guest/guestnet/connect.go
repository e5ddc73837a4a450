package guestnet

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// Bounds on a proxy's answer; it can be another program's proxy.
const (
	maxConnectHead = 16 << 10
	maxConnectText = 4 << 10
)

// connectTarget is the authority of a CONNECT request.
func connectTarget(host, port string) (string, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return "", fmt.Errorf("%.20q is not a port", port)
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if addr, err := netip.ParseAddr(inner); err == nil && addr.Is6() && addr.Zone() == "" {
		return netip.AddrPortFrom(addr, uint16(n)).String(), nil
	}
	// A blank or a line end would begin another word or line of the request.
	if host == "" || len(host) > 253 || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r >= 0x7f }) ||
		strings.ContainsAny(host, ":[]/@") {
		return "", fmt.Errorf("%.100q is not a host", host)
	}
	return host + ":" + strconv.FormatUint(n, 10), nil
}

// connectProxy returns the address of the proxy from the environment, or else of the sandbox's
// own proxy, and the value of Proxy-Authorization, which may be empty. It resolves no names,
// because a sandbox has no name server.
func connectProxy(env []string) (addr netip.AddrPort, auth string, err error) {
	addr = netip.MustParseAddrPort(ProxyAddr)
	text := process.Variable(env, "HTTP_PROXY")
	if text == "" {
		text = process.Variable(env, "http_proxy")
	}
	if text == "" {
		return addr, "", nil
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" {
		return addr, "", errors.New("HTTP_PROXY is not http://[USER:PASSWORD@]ADDRESS:PORT")
	}
	host := u.Hostname()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return addr, "", errors.New("HTTP_PROXY does not name the proxy by its address")
	}
	port := uint64(80)
	if u.Port() != "" {
		if port, err = strconv.ParseUint(u.Port(), 10, 16); err != nil {
			return addr, "", errors.New("HTTP_PROXY has an impossible port")
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(port)), auth, nil
}

// connectRequest returns the request for a tunnel to target.
func connectRequest(target, auth string) []byte {
	head := "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n"
	if auth != "" {
		head += "Proxy-Authorization: " + auth + "\r\n"
	}
	return []byte(head + "\r\n")
}

// connectAnswer reads a proxy's answer. A refusal is a *proxyRefusal. The bytes that remain in r
// belong to the tunnel.
func connectAnswer(r *bufio.Reader) error {
	left := maxConnectHead
	line := func() (string, error) {
		text, err := r.ReadSlice('\n')
		left -= len(text)
		switch {
		case errors.Is(err, bufio.ErrBufferFull), left < 0:
			return "", errors.New("the proxy's answer is too long")
		case err != nil:
			return "", errors.New("the proxy ended the connection without an answer")
		}
		return string(bytes.TrimRight(text, "\r\n")), nil
	}
	status, err := line()
	if err != nil {
		return err
	}
	version, rest, _ := strings.Cut(status, " ")
	code, _, _ := strings.Cut(rest, " ")
	if !strings.HasPrefix(version, "HTTP/1.") || len(code) != 3 {
		return errors.New("what answers at the proxy's address does not speak HTTP")
	}
	length := int64(maxConnectText)
	for {
		field, err := line()
		if err != nil {
			return err
		}
		if field == "" {
			break
		}
		name, value, _ := strings.Cut(field, ":")
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); strings.EqualFold(name, "Content-Length") && err == nil && n >= 0 {
			length = min(n, length)
		}
	}
	if code[0] == '2' {
		return nil // a Content-Length means nothing here (RFC 9110 §9.3.6)
	}
	text, _ := io.ReadAll(io.LimitReader(r, length)) // a part of the reason is better than none
	return &proxyRefusal{status: rest, text: strings.ToValidUTF8(string(text), "?")}
}

// proxyRefusal is the error with which a proxy refuses a tunnel.
type proxyRefusal struct{ status, text string }

// Error returns the proxy's text with its line breaks.
func (r *proxyRefusal) Error() string {
	var b strings.Builder
	b.WriteString("the proxy answered " + session.Printable(r.status))
	for line := range strings.Lines(r.text) {
		b.WriteString("\n" + session.Printable(strings.TrimRight(line, "\r\n")))
	}
	return b.String()
}
