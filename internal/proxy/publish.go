package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
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

// Publish listens on the plan's published ports, all or none. Exists: a port is in use.
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
			e := sandbox.Errorf(sandbox.Unavailable, "publish port %d: %w", one.Host, err)
			if errors.Is(err, syscall.EACCES) {
				return nil, e.WithHint("ports from 1024 on need no rights: --publish PORT:%d", one.Port)
			}
			return nil, e
		}
		p.listeners, p.ports = append(p.listeners, l), append(p.ports, one.Port)
	}
	return p, nil
}

// Serve forwards connections inside until ctx ends. Then it closes the listeners, and returns
// when all connections have ended: nil if ctx ended, otherwise the error of a listener.
func (p *Ports) Serve(ctx context.Context, dial Dial) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, p.Close)()
	slots := make(chan struct{}, maxInward)
	errs := make([]error, len(p.listeners))
	var all sync.WaitGroup
	for i, l := range p.listeners {
		all.Go(func() {
			err := accept(ctx, l, slots, func(conn net.Conn) {
				all.Go(func() {
					defer func() { <-slots }()
					forward(ctx, conn, dial, p.ports[i])
				})
			})
			if err != nil {
				errs[i] = sandbox.Errorf(sandbox.Internal, "%s is published no more: %w", l.Addr(), err)
				cancel()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// accept passes the connections of l to serve, each with a slot, until ctx or l ends.
func accept(ctx context.Context, l net.Listener, slots chan struct{}, serve func(net.Conn)) error {
	for {
		// Waiting before Accept keeps further connections in the kernel's queue.
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if err == nil {
			serve(conn)
			continue
		}
		<-slots
		if egress.RetryAccept(ctx, err) {
			continue
		}
		if ctx.Err() == nil {
			return err
		}
	}
}

// Close stops listening. It may be called more than once.
func (p *Ports) Close() {
	for _, l := range p.listeners {
		_ = l.Close()
	}
}

// forward connects outside with a port inside until both directions have ended.
func forward(ctx context.Context, outside net.Conn, dial Dial, port uint16) {
	defer outside.Close()
	inside, err := dial(ctx, port)
	if err != nil {
		// The kernel sends a reset if a port has no listener.
		if tcp, ok := outside.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		return
	}
	defer inside.Close()
	both := func() { _, _ = outside.Close(), inside.Close() }
	defer context.AfterFunc(ctx, both)()
	var late *time.Timer
	broken := sync.OnceFunc(func() { late = time.AfterFunc(breakTime, both) })
	var ways sync.WaitGroup
	ways.Go(func() { oneWay(inside, outside, broken) })
	ways.Go(func() { oneWay(outside, inside, broken) })
	ways.Wait()
	if late != nil {
		late.Stop()
	}
}

// breakTime limits the time that one direction continues after the other one broke: an answer
// may still arrive, but a silent server must not hold the connection forever.
const breakTime = 5 * time.Second

// oneWay copies until from ends, and then ends that direction of to. If to is closed, the
// rest of from has no reader.
func oneWay(to, from net.Conn, broken func()) {
	_, err := io.Copy(to, from)
	if w, ok := to.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
	if err == nil {
		return
	}
	if r, ok := from.(interface{ CloseRead() error }); ok {
		_ = r.CloseRead()
	}
	broken()
}
