package session

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"path"
	"strconv"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// dialTime limits the time to connect inside: a listener whose queue is full never answers.
const dialTime = 30 * time.Second

// target is the address of a connection inside.
type target struct {
	Network string `json:"network"` // "tcp" or "unix"
	Addr    string `json:"addr"`
}

// localhost stands for 127.0.0.1 and, without a listener there, ::1.
const localhost = "localhost"

// check returns an error unless the address is one inside the sandbox.
func (t target) check() error {
	if len(t.Addr) > maxTarget/2 {
		return sandbox.Errorf(sandbox.Invalid, "an address of %d bytes", len(t.Addr))
	}
	switch t.Network {
	case "unix":
		if !path.IsAbs(t.Addr) {
			return sandbox.Errorf(sandbox.Invalid, "socket %q is not an absolute path", t.Addr)
		}
		return nil
	case "tcp":
		if _, ok := t.port(); ok {
			return nil
		}
		addr, err := netip.ParseAddrPort(t.Addr)
		if err != nil || !addr.Addr().IsLoopback() || addr.Port() == 0 {
			return sandbox.Errorf(sandbox.Invalid, "invalid address %q; expected a port on the loopback inside", t.Addr)
		}
		return nil
	}
	return sandbox.Errorf(sandbox.Invalid, "no network %q", t.Network)
}

// port returns the port if the target is localhost, or false.
func (t target) port() (int, bool) {
	host, text, err := net.SplitHostPort(t.Addr)
	port, perr := strconv.ParseUint(text, 10, 16)
	return int(port), err == nil && perr == nil && port > 0 && host == localhost && t.Network == "tcp"
}

// Dial connects to "tcp" 127.0.0.1:PORT, [::1]:PORT or localhost:PORT, or to a "unix" socket's path, inside
// the sandbox. localhost stands for 127.0.0.1 and, without a listener there, ::1. Unavailable: there is no
// listener. The connection has CloseWrite.
func (c *Client) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	t := target{network, addr}
	if err := t.check(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	s, err := c.ask(ctx, frameDial, data)
	if err != nil {
		return nil, err
	}
	return newConn(s, insideAddr{t}, func() {}), nil
}

// DialPort connects to a port on the loopback inside, like Dial.
func (c *Client) DialPort(ctx context.Context, port int) (net.Conn, error) {
	return c.Dial(ctx, "tcp", net.JoinHostPort(localhost, strconv.Itoa(port)))
}

// ask opens a stream with a frame and waits until the other end has begun; ctx limits only that.
func (c *Client) ask(ctx context.Context, kind byte, data []byte) (*mux.Stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := c.openStream()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _, _ = s.SetDeadline(time.Unix(1, 0)), s.Close() })
	err = c.begin(s, kind, data)
	if !stop() {
		err = firstOf(ctx.Err(), err)
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (c *Client) begin(s *mux.Stream, kind byte, data []byte) error {
	if err := writeFrame(s, kind, data); err != nil {
		return ended(err)
	}
	kind, answer, err := (&frameReader{r: s}).next()
	switch {
	case err != nil:
		return ended(err)
	case kind == frameFailed:
		return refused(answer, "")
	case kind != frameBegun:
		return sandbox.Errorf(sandbox.Internal, "the guest answered with a frame %q", kind)
	}
	return nil
}

// insideAddr is the net.Addr of a target.
type insideAddr struct{ t target }

func (a insideAddr) Network() string { return a.t.Network }
func (a insideAddr) String() string  { return a.t.Addr }

// dial answers a frameDial and forwards the connection until its end.
func (a *asked) dial(ctx context.Context, data []byte, stream *mux.Stream, s server) {
	var t target
	err := json.Unmarshal(data, &t)
	if err == nil {
		err = t.check()
	}
	var inside net.Conn
	if err == nil {
		inside, err = s.dial(ctx, t)
	}
	if err != nil {
		a.refuse(err)
		return
	}
	if a.begun() != nil {
		_ = inside.Close()
		return
	}
	join(newConn(stream, insideAddr{t}, func() {}), inside)
}

// dialInside connects from this process, with its restrictions.
func dialInside(ctx context.Context, t target) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTime}
	addrs := []string{t.Addr}
	if port, ok := t.port(); ok {
		addrs = []string{net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), net.JoinHostPort("::1", strconv.Itoa(port))}
	}
	var first error
	for _, addr := range addrs {
		conn, err := d.DialContext(ctx, t.Network, addr)
		if err == nil {
			return conn, nil
		}
		if first = firstOf(first, err); !errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
	}
	return nil, socketError(t.Addr, first)
}

// socketError turns the kernel's error about a socket into a [sandbox.Error].
func socketError(what string, err error) error {
	code := sandbox.Unavailable
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		err = errno
		switch errno {
		case syscall.EADDRINUSE:
			code = sandbox.Exists
		case syscall.EACCES, syscall.EPERM:
			code = sandbox.Denied
		case syscall.ENOENT:
			code = sandbox.NotFound
		case syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
			code = sandbox.Exhausted
		default:
		}
	}
	return sandbox.Errorf(code, "%s: %w", what, err)
}
