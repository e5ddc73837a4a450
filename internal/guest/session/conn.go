package session

import (
	"io"
	"net"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
)

// conn is a connection in a stream of the session.
type conn struct {
	*mux.Stream

	remote net.Addr
	closed func() // called once
	once   sync.Once
}

func newConn(s *mux.Stream, remote net.Addr, closed func()) *conn {
	return &conn{Stream: s, remote: remote, closed: closed}
}

// Close ends both directions, like Close of a TCP connection. It drops bytes that the other end still
// sends.
func (c *conn) Close() error {
	c.once.Do(c.closed)
	return c.Stream.Close()
}

// abort ends both directions so that the other end gets an error.
func (c *conn) abort() {
	c.once.Do(c.closed)
	c.Reset()
}

// LocalAddr names the session.
func (c *conn) LocalAddr() net.Addr { return sessionAddr{} }

// sessionAddr is the address of this end of a connection in a session.
type sessionAddr struct{}

func (sessionAddr) Network() string { return "session" }
func (sessionAddr) String() string  { return "session" }

// RemoteAddr returns the address at the other end.
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// breakTime limits how long one direction continues after the other one broke: an answer may still arrive.
const breakTime = 5 * time.Second

// join copies between two connections until both directions have ended, and closes them.
func join(a, b net.Conn) {
	broken := func() {
		cut(a)
		cut(b)
	}
	var late *time.Timer
	deaf := sync.OnceFunc(func() { late = time.AfterFunc(breakTime, broken) })
	var ways sync.WaitGroup
	ways.Go(func() { oneWay(a, b, deaf, broken) })
	ways.Go(func() { oneWay(b, a, deaf, broken) })
	ways.Wait()
	if late != nil {
		late.Stop()
	}
	_, _ = a.Close(), b.Close()
}

// cut closes a connection so that the other end gets an error instead of the end.
func cut(c net.Conn) {
	switch c := c.(type) {
	case *conn:
		c.abort()
	case *net.TCPConn:
		_, _ = c.SetLinger(0), c.Close()
	default:
		_ = c.Close()
	}
}

// oneWay copies until from ends, and then ends that direction of to.
func oneWay(to, from net.Conn, deaf, broken func()) {
	buf := make([]byte, maxData)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, werr := to.Write(buf[:n]); werr != nil { // further data has no reader
				if r, ok := from.(interface{ CloseRead() error }); ok {
					_ = r.CloseRead()
				}
				deaf()
				return
			}
		}
		switch {
		case err == io.EOF: //nolint:errorlint // an end without an end frame is not EOF
			if w, ok := to.(interface{ CloseWrite() error }); ok {
				_ = w.CloseWrite()
			}
			return
		case err != nil:
			broken()
			return
		}
	}
}
