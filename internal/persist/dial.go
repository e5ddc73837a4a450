package persist

import (
	"context"
	"net"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// DialChecker is implemented by instances whose ports some policies make unreachable from outside.
type DialChecker interface {
	// CheckDial returns nil if Dial can reach a port on which a command listens, otherwise Unsupported with the reason.
	CheckDial() error
}

// CheckDial returns an error if no port inside an instance can be reached from outside.
func CheckDial(i sandbox.Instance) error {
	if _, ok := sandbox.As[sandbox.Dialer](i); !ok {
		return sandbox.Errorf(sandbox.Unsupported, "sandboxes of this backend have no ports that can be reached")
	}
	if c, ok := sandbox.As[DialChecker](i); ok {
		return c.CheckDial()
	}
	return nil
}

// dial connects to a port inside. The sandbox is not idle until the connection is closed.
func (k *keeper) dial(ctx context.Context, port int) (net.Conn, error) {
	if err := CheckDial(k.instance); err != nil {
		return nil, err
	}
	d, _ := sandbox.As[sandbox.Dialer](k.instance)
	conn, err := d.Dial(ctx, port)
	if err != nil {
		return nil, err
	}
	k.add(&k.working, 1)
	return &dialed{Conn: conn, closed: sync.OnceFunc(func() { k.add(&k.working, -1) })}, nil
}

// listen listens inside. The sandbox is not idle until the listener is closed.
func (k *keeper) listen(ctx context.Context, address string) (net.Listener, error) {
	i, ok := sandbox.As[sandbox.Listener](k.instance)
	if !ok {
		return nil, sandbox.Errorf(sandbox.Unsupported, "this sandbox does not support listening inside")
	}
	l, err := i.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	k.add(&k.working, 1)
	return &listened{Listener: l, closed: sync.OnceFunc(func() { k.add(&k.working, -1) })}, nil
}

// listened is a listener that counts as work of the keeper.
type listened struct {
	net.Listener

	closed func()
}

func (l *listened) Close() error {
	l.closed()
	return l.Listener.Close()
}

// dialed is a connection that counts as work of the keeper.
type dialed struct {
	net.Conn

	closed func()
}

func (d *dialed) Close() error {
	d.closed()
	return d.Conn.Close()
}

// CloseWrite closes the writing side.
func (d *dialed) CloseWrite() error {
	if w, ok := d.Conn.(interface{ CloseWrite() error }); ok {
		return w.CloseWrite()
	}
	return nil
}
