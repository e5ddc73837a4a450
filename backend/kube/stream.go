package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// stream is the standard input and output of a program that is executed in a pod.
type stream struct {
	in     *io.PipeWriter
	out    *bufio.Reader
	said   session.Words // what it wrote to its standard error
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended, or the connection has
	err    error         // when done is closed: why
}

// endTime is how long a program gets to end by itself when its input has ended.
const endTime = 3 * time.Second

// execute starts a program in a container of a pod. The stream outlives ctx; the caller closes it.
func (c *cluster) execute(ctx context.Context, pod, container string, command []string) (*stream, error) {
	executor, err := c.executor(pod, container, command)
	if err != nil {
		return nil, c.wrap(err, "execute in the pod")
	}
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	s := &stream{in: in, out: bufio.NewReaderSize(out, 64<<10), done: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: stdin, Stdout: stdout, Stderr: &s.said})
		s.err = c.wrapExit(err, &s.said)
		close(s.done)
		end := io.EOF
		if s.err != nil {
			end = s.err
		}
		_, _ = stdin.CloseWithError(end), stdout.CloseWithError(end) // documented to return nil
		s.cancel()
	}()
	return s, nil
}

// executor prefers WebSockets, which can end an input; SPDY is for servers and proxies that know nothing else.
func (c *cluster) executor(pod, container string, command []string) (remotecommand.Executor, error) {
	at := c.rest.Post().Namespace(c.namespace).Resource("pods").Name(pod).SubResource("exec").VersionedParams(&corev1.PodExecOptions{
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

// wrapExit turns the end of a program that should have gone on into an error; nil when it ended well.
func (c *cluster) wrapExit(err error, said *session.Words) error {
	if exit, ok := errors.AsType[exec.CodeExitError](err); ok {
		if text := said.String(); text != "" {
			return sandbox.Errorf(sandbox.Unavailable, "the guest ended with %d: %s", exit.Code, text)
		}
		return sandbox.Errorf(sandbox.Unavailable, "the guest ended with %d", exit.Code)
	}
	return c.wrap(err, "execute in the pod")
}

// send writes what comes before the session, and waits for the first that comes back: whoever takes the former may read
// more than that, so nothing may follow yet.
func (s *stream) send(ctx context.Context, first []byte) error {
	return s.until(ctx, func() error {
		_, err := io.Copy(s.in, bytes.NewReader(first))
		if err == nil {
			_, err = s.out.Peek(1)
		}
		return err
	})
}

// sendMissing is send, unless the program that is executed, which says so first, has it already.
func (s *stream) sendMissing(ctx context.Context, first []byte) error {
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
		return s.send(ctx, first)
	}
	return sandbox.Errorf(sandbox.Unavailable, "the pod's door says %.50q", said)
}

// until does what can fail because the program ends, or ctx.
func (s *stream) until(ctx context.Context, do func() error) error {
	stop := context.AfterFunc(ctx, s.cancel)
	defer stop()
	if do() == nil {
		return nil
	}
	<-s.done
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case s.err != nil:
		return s.err
	}
	return sandbox.Errorf(sandbox.Unavailable, "the guest ended at once: %s", s.said.String())
}

func (s *stream) Read(p []byte) (int, error)  { return s.out.Read(p) }
func (s *stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close ends the program's input, and the connection when the program does not end then.
func (s *stream) Close() error {
	err := s.in.Close()
	time.AfterFunc(endTime, s.cancel)
	return err
}
