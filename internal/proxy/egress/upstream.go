package egress

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// dialUpstream connects through the user's own proxy. That proxy is the user's
// configuration, so its address is not checked; it resolves the name.
func dialUpstream(ctx context.Context, up *url.URL, host hosts.Host, port uint16) (net.Conn, error) {
	proxyPort := up.Port()
	if proxyPort == "" {
		proxyPort = "80"
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(up.Hostname(), proxyPort))
	if err != nil {
		return nil, fmt.Errorf("the upstream proxy: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	rest, err := connectThrough(c, up, host, port)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("the upstream proxy: %w", err)
	}
	if len(rest) == 0 {
		return c, nil
	}
	return &prefixConn{Conn: c, prefix: rest}, nil
}

func connectThrough(c net.Conn, up *url.URL, host hosts.Host, port uint16) (rest []byte, err error) {
	authority := host.Join(port)
	head := "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n"
	if up.User != nil {
		password, _ := up.User.Password()
		head += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(up.User.Username()+":"+password)) + "\r\n"
	}
	if _, err := io.WriteString(c, head+"\r\n"); err != nil {
		return nil, err
	}
	br := bufio.NewReader(io.LimitReader(c, maxHeader))
	res, err := http.ReadResponse(br, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %d to CONNECT", res.StatusCode)
	}
	return br.Peek(br.Buffered())
}
