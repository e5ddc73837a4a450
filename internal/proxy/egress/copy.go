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

type closeWriter interface{ CloseWrite() error }

// relay copies in both directions until both have ended, one connection breaks, or no byte was copied
// for the time idle. It ends each direction separately, because programs use half-closed connections
// (ssh, git). It does not close the connections.
func relay(a, b net.Conn, idle time.Duration) {
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	var both sync.WaitGroup
	both.Go(func() { oneWay(a, b, idle, &last) })
	oneWay(b, a, idle, &last)
	both.Wait()
}

// oneWay copies src to dst. If it ends otherwise than by the end of src, it breaks both connections,
// so that the other direction ends too.
func oneWay(dst, src net.Conn, idle time.Duration, last *atomic.Int64) {
	if err := copyIdle(dst, src, idle, last); err != nil {
		past := time.Unix(1, 0)
		_ = dst.SetDeadline(past)
		_ = src.SetDeadline(past)
		// A past deadline alone is not enough: the other direction replaces it by its next deadline.
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

// copyIdle returns nil at the end of src.
func copyIdle(dst, src net.Conn, idle time.Duration, last *atomic.Int64) error {
	m := moverOf(dst, src)
	for {
		if err := src.SetReadDeadline(time.Now().Add(idle)); err != nil {
			return err
		}
		err := m.wait()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(time.Unix(0, last.Load())) < idle:
			continue // the other direction is active
		case err != nil:
			return err
		}
		now := time.Now()
		last.Store(now.UnixNano())
		// Read available bytes at once: the deadline must not pass before the write.
		if err := src.SetReadDeadline(now.Add(2 * idle)); err != nil {
			return err
		}
		if err := dst.SetWriteDeadline(now.Add(idle)); err != nil {
			return err
		}
		if err := m.move(); err != nil {
			return err
		}
		last.Store(time.Now().UnixNano())
	}
}

// mover copies the bytes of one connection to another in pieces.
type mover interface {
	// wait returns nil when a piece has arrived, io.EOF at the end.
	wait() error
	// move sends that piece. An error is final: a part of the piece may be lost.
	move() error
}

// copyBuffer is the maximum size of a buffered piece.
const copyBuffer = 32 << 10

// buffers are shared, because most connections wait most of the time.
var buffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

// bufferedMover works with all kinds of connections.
type bufferedMover struct {
	dst, src net.Conn
	piece    []byte
	buf      [copyBuffer]byte
}

func (m *bufferedMover) wait() error {
	n, err := m.src.Read(m.buf[:])
	m.piece = m.buf[:n]
	if n > 0 {
		return nil // the next call returns the error again
	}
	return err
}

func (m *bufferedMover) move() error {
	_, err := m.dst.Write(m.piece)
	return err
}

// prefixConn is a connection from which a prefix was already read.
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

// CloseWrite closes the writing side of the connection.
func (c *prefixConn) CloseWrite() error {
	if w, ok := c.Conn.(closeWriter); ok {
		return w.CloseWrite()
	}
	return c.Close()
}
