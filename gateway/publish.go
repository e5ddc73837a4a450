package gateway

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Dial connects to a port on the sandbox's loopback.
type Dial func(ctx context.Context, port uint16) (net.Conn, error)

// maxInward bounds the connections to published ports at one time; others wait.
const maxInward = 512

// Ports are a sandbox's published ports: listeners on 127.0.0.1 of the host.
type Ports struct {
	listeners []net.Listener
	ports     []uint16
}

// Publish listens on the plan's published ports, all or none. A port that is taken
// is an Exists error.
func Publish(ctx context.Context, plan *policy.Plan) (*Ports, error) {
	p := &Ports{}
	var config net.ListenConfig
	for _, one := range plan.Publish {
		l, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(one.Host))))
		if err != nil {
			p.Close()
			if errors.Is(err, syscall.EADDRINUSE) {
				return nil, sandbox.Errorf(sandbox.Exists, "port %d of 127.0.0.1 is taken", one.Host).
					WithHint("publish it on another one: --publish PORT:%d", one.Port)
			}
			return nil, sandbox.Errorf(sandbox.Unavailable, "publish port %d: %w", one.Host, err)
		}
		p.listeners, p.ports = append(p.listeners, l), append(p.ports, one.Port)
	}
	return p, nil
}

// Serve carries connections inside until ctx ends, closes the listeners, and returns
// when all connections have ended.
func (p *Ports) Serve(ctx context.Context, dial Dial) {
	defer context.AfterFunc(ctx, p.Close)()
	slots := make(chan struct{}, maxInward)
	var all sync.WaitGroup
	for i, l := range p.listeners {
		all.Go(func() {
			for {
				slots <- struct{}{}
				conn, err := l.Accept()
				if err != nil {
					<-slots
					return
				}
				all.Go(func() {
					defer func() { <-slots }()
					carry(ctx, conn, dial, p.ports[i])
				})
			}
		})
	}
	all.Wait()
}

// Close stops listening. It may be called more than once.
func (p *Ports) Close() {
	for _, l := range p.listeners {
		_ = l.Close()
	}
}

// carry connects outside with inside until both directions have ended.
func carry(ctx context.Context, outside net.Conn, dial Dial, port uint16) {
	defer outside.Close()
	inside, err := dial(ctx, port)
	if err != nil {
		// As the kernel would say that nobody listens.
		if tcp, ok := outside.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return
	}
	defer inside.Close()
	defer context.AfterFunc(ctx, func() { _, _ = outside.Close(), inside.Close() })()
	var both sync.WaitGroup
	both.Go(func() { oneWay(inside, outside) })
	both.Go(func() { oneWay(outside, inside) })
	both.Wait()
}

// oneWay copies until from ends, and passes the end on. When to is gone, what from
// still says has no reader.
func oneWay(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if w, ok := to.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
	if r, ok := from.(interface{ CloseRead() error }); ok && err != nil {
		_ = r.CloseRead()
	}
}
