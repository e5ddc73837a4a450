package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// copyChunk bounds one splice(2) loop, so that idle times are seen; big enough that
// setting deadlines costs nothing.
const copyChunk = 4 << 20

type closeWriter interface{ CloseWrite() error }

// relay copies both ways until both ends have said all, one end breaks, or nothing
// moves for idle. An end of stream is passed on by itself, because half-closed
// connections are used (ssh, git). It closes neither connection.
func relay(a, b net.Conn, idle time.Duration) {
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	var both sync.WaitGroup
	both.Go(func() { oneWay(a, b, idle, &last) })
	oneWay(b, a, idle, &last)
	both.Wait()
}

// oneWay copies src to dst. When it ends other than by the end of src, it breaks both
// connections, so that the other direction ends too.
func oneWay(dst, src net.Conn, idle time.Duration, last *atomic.Int64) {
	if err := copyIdle(dst, src, idle, last); err != nil {
		past := time.Unix(1, 0)
		_ = dst.SetDeadline(past)
		_ = src.SetDeadline(past)
		// A past deadline alone is undone when the other direction sets its next one.
		_ = dst.Close()
		_ = src.Close()
		return
	}
	if c, ok := dst.(closeWriter); ok {
		_ = c.CloseWrite()
		return
	}
	_ = dst.Close()
}

// copyIdle returns nil at the end of src. io.CopyN between two TCP connections is
// splice(2) on Linux: the bytes do not enter our memory.
func copyIdle(dst, src net.Conn, idle time.Duration, last *atomic.Int64) error {
	for {
		start := time.Now()
		if err := src.SetReadDeadline(start.Add(idle)); err != nil {
			return err
		}
		if err := dst.SetWriteDeadline(start.Add(2 * idle)); err != nil {
			return err
		}
		n, err := io.CopyN(dst, src, copyChunk)
		if n > 0 {
			last.Store(time.Now().UnixNano())
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case time.Since(start) >= 2*idle:
			return err // the write timed out; bytes are lost
		case time.Since(time.Unix(0, last.Load())) >= idle:
			return err
		}
	}
}

// prefixConn is a connection of which something has been read already.
type prefixConn struct {
	net.Conn

	prefix []byte
}

// Read returns the prefix first.
func (c *prefixConn) Read(p []byte) (int, error) {
	if len(c.prefix) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.prefix)
	c.prefix = c.prefix[n:]
	return n, nil
}

// CloseWrite passes the end of the stream on.
func (c *prefixConn) CloseWrite() error {
	if w, ok := c.Conn.(closeWriter); ok {
		return w.CloseWrite()
	}
	return c.Close()
}
