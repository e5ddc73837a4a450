package session

import (
	"context"
	"encoding/binary"
	"io"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Shared is a sandbox that one process holds and others use.
type Shared struct {
	// Start is the Start of its Instance.
	Start func(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error)
	// Busy is told 1 before a command is started, and -1 when its end has been told to the client.
	Busy func(n int)
	// Operation answers what is not a command, in at most 64 KiB; an unknown one is an error.
	Operation func(ctx context.Context, name string) (answer []byte, err error)
}

// Share serves one connection of another process's [Client] until it ends; what that client started and did
// not wait for is killed then. A command's Env is what comes on top of the policy's, and its Dir may be empty.
// The other process is trusted: it is for the caller to know who connects.
func Share(ctx context.Context, conn io.ReadWriteCloser, s Shared) error {
	if err := greet(ctx, conn); err != nil {
		_ = conn.Close()
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return accept(conn, func(a *asked) { a.share(ctx, s) })
}

func (a *asked) share(ctx context.Context, s Shared) {
	if a.req.Op != "" {
		a.operate(ctx, s)
		return
	}
	s.Busy(1)
	defer s.Busy(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdio := sandbox.Stdio{Stdout: a.out.kind(frameOutput), Stderr: a.out.kind(frameErrors)}
	if a.in != nil {
		stdio.Stdin = a.in
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
	if err != nil && ctx.Err() == nil {
		_ = a.out.frame(frameFailed, nil) // it breaks off; the client says so
		return
	}
	_ = a.out.frame(frameExit, exitFrame(exit.Code, exit.Signal)) // the client is gone otherwise
}

// begin starts the command and says so before anything that it writes.
func (a *asked) begin(ctx context.Context, s Shared, stdio sandbox.Stdio) (sandbox.Process, error) {
	a.out.mu.Lock()
	defer a.out.mu.Unlock()
	p, err := s.Start(ctx, sandbox.Cmd{
		Args: plainStrings(a.req.Args), Env: plainStrings(a.req.Env), Dir: a.req.Dir, TTY: a.req.TTY,
	}, stdio)
	if err != nil {
		return nil, err
	}
	_ = writeFrame(a.out.w, frameBegun, make([]byte, 4)) // a client that is gone is noticed by relay
	return p, nil
}

// relay passes on what the client says, until it wants the command dead or is gone.
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

// operate answers an operation as a command would that prints the answer.
func (a *asked) operate(ctx context.Context, s Shared) {
	answer, err := s.Operation(ctx, a.req.Op)
	if err != nil {
		a.refuse(err)
		return
	}
	_ = a.out.frame(frameBegun, make([]byte, 4)) // the client is gone otherwise, also below
	_ = a.out.frame(frameOutput, answer)
	_ = a.out.frame(frameExit, exitFrame(0, 0))
}

// Operate asks a shared sandbox for an operation.
func (c *Client) Operate(ctx context.Context, name string) ([]byte, error) {
	var answer answerBuffer
	s, err := c.openStream()
	if err != nil {
		return nil, err
	}
	p := &Process{name: name, stdio: sandbox.Stdio{Stdout: &answer}, stream: s, done: make(chan struct{})}
	p.stop = context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := p.begin(request{Op: name}); err != nil {
		p.stop()
		p.close()
		return nil, firstOf(ctx.Err(), err)
	}
	_, err = p.Wait()
	return answer.data, err
}

// answerBuffer keeps one answer.
type answerBuffer struct{ data []byte }

func (b *answerBuffer) Write(p []byte) (int, error) {
	if len(b.data)+len(p) > maxData {
		return 0, errFrame
	}
	b.data = append(b.data, p...)
	return len(p), nil
}
