package egress

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/policy/hosts"
)

// SOCKS5, RFC 1928 and RFC 1929.
const (
	socksVersion    = 5
	socksNoAuth     = 0
	socksPassword   = 2
	socksNoMethod   = 0xff
	socksConnect    = 1
	socksIPv4       = 1
	socksName       = 3
	socksIPv6       = 4
	replyDone       = 0
	replyFailed     = 1
	replyDenied     = 2
	replyNoHost     = 4
	replyRefused    = 5
	replyNoCommand  = 7
	replyNoAddrType = 8
)

func (c *client) serveSOCKS(ctx context.Context) {
	_ = c.conn.SetReadDeadline(time.Now().Add(c.proxy.options.HeaderTimeout))
	if !c.socksGreeting() {
		return
	}
	var head [4]byte
	if _, err := io.ReadFull(c.br, head[:]); err != nil || head[0] != socksVersion {
		return
	}
	if head[1] != socksConnect {
		c.socksReply(replyNoCommand)
		return
	}
	host, port, err := c.socksAddress(head[3])
	var d *denial
	switch {
	case errors.As(err, &d):
		socksAnswer{c}.refuse(d)
	case err != nil:
	case head[3] != socksIPv4 && head[3] != socksIPv6 && head[3] != socksName:
		c.socksReply(replyNoAddrType)
	default:
		c.tunnel(ctx, host, port, socksAnswer{c})
	}
}

// socksGreeting negotiates the method and checks the token, if any.
func (c *client) socksGreeting() bool {
	var head [2]byte
	if _, err := io.ReadFull(c.br, head[:]); err != nil {
		return false
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c.br, methods); err != nil {
		return false
	}
	method := byte(socksNoMethod)
	for _, m := range methods {
		if m == socksPassword || (m == socksNoAuth && c.proxy.options.Token == "" && method == socksNoMethod) {
			method = m
		}
	}
	if !c.write(string([]byte{socksVersion, method})) || method == socksNoMethod {
		return false
	}
	if method == socksNoAuth {
		return true
	}
	if v, err := c.br.ReadByte(); err != nil || v != 1 {
		return false
	}
	if _, err := c.socksString(); err != nil {
		return false
	}
	password, err := c.socksString()
	if err != nil {
		return false
	}
	if !c.proxy.isValidToken(password) {
		c.write("\x01\x01")
		return false
	}
	return c.write("\x01\x00")
}

// socksString reads a length and that number of bytes.
func (c *client) socksString() (string, error) {
	n, err := c.br.ReadByte()
	if err != nil {
		return "", err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(c.br, b)
	return string(b), err
}

// socksAddress returns the zero Host for an unknown type.
func (c *client) socksAddress(kind byte) (hosts.Host, uint16, error) {
	var host hosts.Host
	var err error
	switch kind {
	case socksIPv4, socksIPv6:
		b := make([]byte, 4)
		if kind == socksIPv6 {
			b = make([]byte, 16)
		}
		if _, err := io.ReadFull(c.br, b); err != nil {
			return hosts.Host{}, 0, err
		}
		addr, _ := netip.AddrFromSlice(b)
		host = hosts.OfAddr(addr)
	case socksName:
		name, rerr := c.socksString()
		if rerr != nil {
			return hosts.Host{}, 0, rerr
		}
		if host, err = hosts.ParseHost(name); err != nil {
			err = newMalformed(0, "%v", err)
		}
	default:
		return hosts.Host{}, 0, nil
	}
	var b [2]byte
	if _, rerr := io.ReadFull(c.br, b[:]); rerr != nil {
		return hosts.Host{}, 0, rerr
	}
	port := binary.BigEndian.Uint16(b[:])
	if err == nil && port == 0 {
		err = newMalformed(0, "port 0")
	}
	return host, port, err
}

func (c *client) socksReply(code byte) bool {
	return c.write(string([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0}))
}

// socksAnswer answers a SOCKS client's request.
type socksAnswer struct{ c *client }

func (a socksAnswer) accept() bool { return a.c.socksReply(replyDone) }

func (a socksAnswer) refuse(d *denial) {
	a.c.proxy.report(d)
	if a.c.socksReply(replyDenied) {
		a.c.linger()
	}
}

func (a socksAnswer) fail(err error) {
	code := byte(replyFailed)
	if _, ok := errors.AsType[*gatewayError](err); ok {
		code = replyNoHost
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		code = replyRefused
	}
	if a.c.socksReply(code) {
		a.c.linger()
	}
}
