package session

import (
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxArgument limits the argument of an operation, in bytes.
const maxArgument = 1 << 20

// operate answers an operation like a command that prints the answer.
func (a *asked) operate(ctx context.Context, do Operation) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a client sends no more frames: this is its end
		_, _, _ = a.frames.next()
		cancel()
	}()
	out := &answer{out: a.out}
	if err := do(ctx, a.req.Op, a.req.Arg, out); err != nil {
		a.refuse(err)
		return
	}
	_, _ = out.Write(nil) // an error means that the client has gone, also below
	_ = a.out.last(frameExit, exitFrame(sandbox.Exit{}))
}

// answer is the writer of an operation. Before the first byte it sends frameBegun. So an operation that fails before it
// is refused like a command.
type answer struct {
	out   *frameWriter
	begun sync.Once
	err   error
}

func (w *answer) Write(p []byte) (int, error) {
	w.begun.Do(func() { w.err = w.out.frame(frameBegun, make([]byte, 4)) })
	if w.err != nil {
		return 0, w.err
	}
	return w.out.kind(frameOutput).Write(p)
}

// Operate executes an operation of a shared sandbox with an argument that is sent as JSON; nil: none. It writes the answer to w as it
// arrives, and returns at its end.
func (c *Client) Operate(ctx context.Context, name string, arg any, w io.Writer) error {
	req := request{Sandbox: c.sandbox, Op: name}
	if arg != nil {
		var err error
		if req.Arg, err = json.Marshal(arg); err != nil {
			return err
		}
		if len(req.Arg) > maxArgument {
			return sandbox.Errorf(sandbox.Invalid, "the argument of %s has more than %d bytes", name, maxArgument)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s, err := c.openStream()
	if err != nil {
		return err
	}
	p := &Process{mux: c.mux, name: name, stdio: sandbox.Stdio{Stdout: w}, stream: s, done: make(chan struct{})}
	p.stop = context.AfterFunc(ctx, func() { _ = s.Close() })
	if err := p.begin(req); err != nil {
		p.stop()
		p.close()
		return firstOf(ctx.Err(), err)
	}
	_, err = p.Wait()
	if err != nil {
		return firstOf(ctx.Err(), err)
	}
	return nil
}

// Hold begins an operation that lasts until release is called, and returns when the first byte of its answer has arrived. The caller
// calls release, which waits for the end of the operation.
func Hold(ctx context.Context, operate func(ctx context.Context, answer io.Writer) error) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- operate(ctx, &firstByte{begun: begun}) }()
	select {
	case <-begun:
		return func() {
			cancel()
			<-ended //nolint:errcheck // the context's
		}, nil
	case err = <-ended:
		cancel()
		return nil, err
	}
}

// firstByte closes begun when the first byte is written to it.
type firstByte struct{ begun chan struct{} }

func (s *firstByte) Write(p []byte) (int, error) {
	if s.begun != nil && len(p) > 0 {
		close(s.begun)
		s.begun = nil
	}
	return len(p), nil
}
