package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Stream connects to the standard input and output of a program that the cluster executes in a pod. The caller closes it.
type Stream struct {
	in     *io.PipeWriter
	out    *bufio.Reader
	said   session.Words // the program's standard error
	cancel context.CancelFunc
	ended  chan struct{} // closed when the program or the connection has ended
	err    error         // when ended is closed: why
}

// EndTime limits how long a program may run after its input has ended.
const EndTime = 3 * time.Second

// Execute starts a program in a container of a pod. The stream does not end with ctx.
func (c *Cluster) Execute(ctx context.Context, pod, container string, command []string) (*Stream, error) {
	executor, err := c.executor(pod, container, command)
	if err != nil {
		return nil, c.wrap(err, "execute in the pod")
	}
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	s := &Stream{in: in, out: bufio.NewReaderSize(out, 64<<10), ended: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: &s.said})
		s.err = c.wrapExit(err, &s.said)
		close(s.ended)
		end := io.EOF
		if s.err != nil {
			end = s.err
		}
		_, _ = stdin.CloseWithError(end), stdout.CloseWithError(end) // documented to return nil
		s.cancel()
	}()
	return s, nil
}

// executor uses WebSockets, which can end an input, and SPDY with servers and proxies that do not support them.
func (c *Cluster) executor(pod, container string, command []string) (remotecommand.Executor, error) {
	at := c.rest.Post().Namespace(c.Namespace).Resource("pods").Name(pod).SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: container, Command: command, Stdin: true, Stdout: true, Stderr: true,
	}, c.params).URL()
	old, err := remotecommand.NewSPDYExecutor(c.config, "POST", at)
	if err != nil {
		return nil, err
	}
	ws, err := remotecommand.NewWebSocketExecutor(c.config, "GET", at.String())
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(ws, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}

// ExitError is the end of a program in a pod with an exit status that is not 0.
type ExitError struct {
	Code int
	Said string // its standard error
}

func (e *ExitError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("the guest ended with %d", e.Code)
	}
	return fmt.Sprintf("the guest ended with %d: %s", e.Code, e.Said)
}

// wrapExit turns the exit status of a program into an [ExitError] with the code Unavailable; nil when it is 0.
func (c *Cluster) wrapExit(err error, said *session.Words) error {
	if exit, ok := errors.AsType[exec.CodeExitError](err); ok {
		return sandbox.Errorf(sandbox.Unavailable, "%w", &ExitError{Code: exit.Code, Said: said.String()})
	}
	return c.wrap(err, "execute in the pod")
}

// Send writes first and waits for the first byte of output. The receiver may read more than first, so the caller writes nothing
// until Send has returned.
func (s *Stream) Send(ctx context.Context, first []byte) error {
	return s.until(ctx, func() error {
		_, err := io.Copy(s.in, bytes.NewReader(first))
		if err == nil {
			_, err = s.out.Peek(1)
		}
		return err
	})
}

// SendMissing reads the line in which the program reports whether it needs first, and sends it if it does.
func (s *Stream) SendMissing(ctx context.Context, first []byte) error {
	var said string
	err := s.until(ctx, func() (err error) {
		said, err = s.out.ReadString('\n')
		return err
	})
	switch {
	case err != nil:
		return err
	case said == guestThere:
		return nil
	case said == guestMissing:
		return s.Send(ctx, first)
	}
	return sandbox.Errorf(sandbox.Unavailable, "unexpected answer %.50q of the pod's door; expected \"+\" or \"-\"", said)
}

// until calls do and, when that fails, returns why: the end of ctx or of the program.
func (s *Stream) until(ctx context.Context, do func() error) error {
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	if do() == nil {
		return nil
	}
	<-s.ended
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.err != nil:
		return s.err
	}
	return sandbox.Errorf(sandbox.Unavailable, "the guest ended at once: %s", s.said.String())
}

func (s *Stream) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *Stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close ends the program's input, and the connection if the program has not ended after [EndTime].
func (s *Stream) Close() error {
	err := s.in.Close()
	time.AfterFunc(EndTime, s.cancel)
	return err
}

// First lines of the script at a pod's door: whether the guest has to be sent.
const (
	guestMissing = "-\n"
	guestThere   = "+\n"
)

// Done returns a channel that is closed when the program or the connection has ended.
func (s *Stream) Done() <-chan struct{} { return s.ended }

// Abort ends the connection at once.
func (s *Stream) Abort() { s.cancel() }

// Reader returns the program's standard output, with what was read ahead.
func (s *Stream) Reader() *bufio.Reader { return s.out }
