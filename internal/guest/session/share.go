package session

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/mux"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Shared is a sandbox that one process holds and other processes use.
type Shared struct {
	// Start is the Start method of its Instance.
	Start func(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error)
	// Busy is called with 1 before a command is started, and with -1 when the client knows its end.
	Busy func(n int)
	// Dial connects to a port on the loopback inside; nil: it is Unsupported.
	Dial func(ctx context.Context, port int) (net.Conn, error)
	// Listen listens inside, like that of [sandbox.Relayer]; nil: it is Unsupported.
	Listen func(ctx context.Context, address string) (net.Listener, error)
	// Operation executes operations that are not commands.
	Operation Operation
	// Of returns another sandbox that this process holds, for a client of [Client.Of]; nil: there is one sandbox.
	Of func(sandbox string) (Shared, error)
}

// Share serves one connection of another process's [Client] until it ends. It then kills the client's running commands. A
// command's Env is added to the policy's, and its Dir may be empty. The other process is trusted: the caller authenticates
// it.
func Share(ctx context.Context, conn io.ReadWriteCloser, s Shared) error {
	r, err := greet(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	accept(ctx, mux.Server(conn, r), sharer{ctx, s})
	return nil
}

// sharer serves one client.
type sharer struct {
	ctx context.Context //nolint:containedctx // of Share, which it does not outlive
	Shared
}

func (s sharer) command(a *asked) { a.share(s.ctx, s.Shared) }

func (sharer) setUp(Setup) (tell, error) {
	return nil, sandbox.Errorf(sandbox.Unsupported, "only the process that created the sandbox sets it up")
}

// dial connects to ports only, like Dial.
func (s sharer) dial(ctx context.Context, t target) (net.Conn, error) {
	port, ok := t.port()
	if s.Dial == nil || !ok {
		return nil, sandbox.Errorf(sandbox.Unsupported, "this sandbox cannot be dialed at %s", t.Addr)
	}
	return s.Dial(ctx, port)
}

func (s sharer) listen(ctx context.Context, r Relay) (net.Listener, error) {
	if s.Listen == nil {
		return nil, sandbox.Errorf(sandbox.Unsupported, "this sandbox does not support listening inside")
	}
	return s.Listen(ctx, r.Listen)
}

func (a *asked) share(ctx context.Context, s Shared) {
	if a.req.Sandbox != "" {
		var err error
		if s, err = s.of(a.req.Sandbox); err != nil {
			a.refuse(err)
			return
		}
	}
	if a.req.Op != "" {
		a.operate(ctx, s.Operation)
		return
	}
	s.Busy(1)
	defer s.Busy(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdio := sandbox.Stdio{Stdout: a.out.kind(frameOutput), Stderr: a.out.kind(frameErrors)}
	if a.in != nil {
		stdio.Stdin = a.in
		if a.req.Typed != nil {
			stdio.Stdin = typed{a.in, *a.req.Typed}
		}
	}
	p, err := a.begin(ctx, s, stdio)
	if err != nil {
		a.refuse(err)
		return
	}
	go func() {
		a.relay(p)
		cancel()
	}()
	exit, err := p.Wait()
	// If the sandbox has ended with the command, its exit status is unknown: it is not 0.
	if err != nil && (ctx.Err() == nil || exit == sandbox.Exit{}) {
		if errors.Is(err, sandbox.ErrClosed) {
			a.refuse(err) // why the sandbox has ended
			return
		}
		_ = a.out.last(frameFailed, nil) // the client reports the broken session
		return
	}
	_ = a.out.last(frameExit, exitFrame(exit)) // otherwise the client has gone
}

func (s Shared) of(name string) (Shared, error) {
	if s.Of == nil {
		return Shared{}, sandbox.Errorf(sandbox.NotFound, "no sandbox %.50q", name)
	}
	return s.Of(name)
}

// begin starts the command, and sends frameBegun before its output.
func (a *asked) begin(ctx context.Context, s Shared, stdio sandbox.Stdio) (sandbox.Process, error) {
	a.out.mu.Lock()
	defer a.out.mu.Unlock()
	p, err := s.Start(ctx, sandbox.Cmd{
		Args: plainStrings(a.req.Args), Env: plainStrings(a.req.Env), Dir: a.req.Dir, TTY: a.req.TTY, Leave: a.req.Leave,
	}, stdio)
	if err != nil {
		return nil, err
	}
	_ = writeFrame(a.out.w, frameBegun, make([]byte, 4)) // relay detects that the client has gone
	return p, nil
}

// relay forwards the client's frames until it kills the command or has gone.
func (a *asked) relay(p sandbox.Process) {
	for {
		kind, data, err := a.frames.next()
		if err != nil {
			return
		}
		switch {
		case kind == frameSignal && len(data) == 1:
			err = p.Signal(syscall.Signal(data[0]))
		case kind == frameSize && len(data) == 4:
			if t, ok := p.(sandbox.Resizer); ok {
				err = t.Resize(sandbox.Terminal{Rows: binary.BigEndian.Uint16(data), Cols: binary.BigEndian.Uint16(data[2:])})
			}
		default:
			return
		}
		if err != nil {
			return
		}
	}
}
