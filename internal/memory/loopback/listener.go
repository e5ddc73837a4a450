// Package loopback is a network in memory: a listener and the connections to it.
package loopback

import (
	"context"
	"net"
	"sync"
)

// Listener accepts connections that Dial makes in memory. No process of the host can connect to it.
// It is safe for concurrent use.
type Listener struct {
	arriving chan net.Conn
	closed   chan struct{}
	close    func()
}

// New returns a listener. The caller closes it.
func New() *Listener {
	l := &Listener{arriving: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.arriving:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept. It may be called more than once.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr returns a placeholder: the listener has no address.
func (l *Listener) Addr() net.Addr { return memoryAddr{} }

// Dial connects. It fails with net.ErrClosed, or with the cause of ctx.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	mine, theirs := newPipe()
	select {
	case l.arriving <- theirs:
		return mine, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return "memory" }
