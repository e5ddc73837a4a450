package sandbox

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultOutput is the number of bytes of stdout and of stderr that [Sandbox.Run] returns
// when the policy sets no limit.
const DefaultOutput Bytes = 16 << 20

// Sandbox is a place where commands run. It is safe for concurrent use.
type Sandbox struct {
	driver   string
	instance Instance
	limits   Limits
	closed   atomic.Bool
}

// Create builds a sandbox or refuses; on error nothing is left behind. The caller
// closes it.
func Create(ctx context.Context, d Driver, spec Spec) (*Sandbox, error) {
	i, err := d.Create(ctx, spec)
	if err != nil {
		return nil, wrap(err, "create", d.Name(), "")
	}
	return newSandbox(d, i)
}

// Open returns a sandbox that an earlier process created.
func Open(ctx context.Context, d Driver, id string) (*Sandbox, error) {
	i, err := d.Open(ctx, id)
	if err != nil {
		return nil, wrap(err, "open", d.Name(), id)
	}
	return newSandbox(d, i)
}

func newSandbox(d Driver, i Instance) (*Sandbox, error) {
	s := &Sandbox{driver: d.Name(), instance: i}
	if l, ok := As[Limited](i); ok {
		limits, err := l.Limits()
		if err != nil {
			return nil, wrap(errors.Join(err, i.Close(context.Background())), "limits", d.Name(), i.ID())
		}
		s.limits = limits
	}
	return s, nil
}

// ID names the sandbox within its backend.
func (s *Sandbox) ID() string { return s.instance.ID() }

// Backend is the name of the driver.
func (s *Sandbox) Backend() string { return s.driver }

// Unwrap returns the driver's instance, for [As].
func (s *Sandbox) Unwrap() Instance { return s.instance }

// Files accesses the sandbox's files; its errors are wrapped like all others.
func (s *Sandbox) Files() Files { return files{s} }

// Status returns the state of the sandbox.
func (s *Sandbox) Status(ctx context.Context) (Status, error) {
	if err := s.usable("status"); err != nil {
		return Status{}, err
	}
	st, err := s.instance.Status(ctx)
	return st, s.wrap(err, "status")
}

// Close kills everything that runs and destroys the sandbox. A second call does
// nothing; every other method fails with Closed afterwards.
func (s *Sandbox) Close(ctx context.Context) error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.wrap(s.instance.Close(ctx), "close")
}

// Result is the end of a command and its output.
type Result struct {
	Exit
	Stdout, Stderr []byte        // at most the output limit together, the rest is cut
	Cut            bool          // whether output was cut
	TimedOut       bool          // whether the wall-clock limit killed it; Code is 124 then
	Duration       time.Duration // from start to end
}

// Run runs cmd with empty input and collects what it writes. The command's own
// failure is in the Result; the error says that the sandbox failed or that ctx ended.
func (s *Sandbox) Run(ctx context.Context, cmd Cmd) (*Result, error) {
	var stdout, stderr bytes.Buffer
	res, err := s.RunStdio(ctx, cmd, Stdio{Stdout: &stdout, Stderr: &stderr})
	if res != nil {
		res.Stdout, res.Stderr = stdout.Bytes(), stderr.Bytes()
	}
	return res, err
}

// RunStdio runs cmd over the caller's streams and waits for its end. The policy's wall-clock and output limits hold, and the command's own; output
// beyond the limit is discarded while the command continues.
func (s *Sandbox) RunStdio(ctx context.Context, cmd Cmd, stdio Stdio) (*Result, error) {
	begin := time.Now()
	run, err := s.Start(ctx, cmd, stdio)
	if err != nil {
		return nil, err
	}
	exit, err := run.Wait()
	res := &Result{Exit: exit, Cut: run.IsCut(), TimedOut: run.HasTimedOut(), Duration: time.Since(begin)}
	return res, err
}

// Start starts cmd. When ctx ends, or the wall-clock limit passes after the start, its whole
// process tree is killed.
func (s *Sandbox) Start(ctx context.Context, cmd Cmd, stdio Stdio) (*Running, error) {
	if err := s.usable("start"); err != nil {
		return nil, err
	}
	if len(cmd.Args) == 0 || cmd.Args[0] == "" {
		return nil, s.wrap(Errorf(Invalid, "no command was given"), "start")
	}
	r := &Running{sandbox: s, parent: ctx}
	if isNull(stdio.Stdin) {
		stdio.Stdin = nil
	}
	stdio.Stdout, stdio.Stderr = r.capped(stdio.Stdout, stdio.Stderr, s.limits.Output)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	p, err := s.instance.Start(r.ctx, cmd, stdio)
	if err != nil {
		r.cancel(nil)
		return nil, s.wrap(codeContextEnd(ctx, err), "start")
	}
	r.process = p
	r.limit = s.limits.Wall
	if cmd.Wall > 0 && (r.limit <= 0 || cmd.Wall < r.limit) {
		r.limit = cmd.Wall
	}
	if wall := time.Duration(r.limit); wall > 0 {
		// The limit counts from here on. It does not include the time in which the backend starts the isolation.
		r.wall = time.AfterFunc(wall, func() { r.cancel(context.DeadlineExceeded) })
	}
	return r, nil
}

// isNull reports whether a reader is a nil file or the null device, which provide no input. A driver that copied from them would
// give the command a pipe, and programs such as rg search a pipe in place of the directory.
func isNull(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok || f == nil {
		return ok
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

// Detach disconnects from a sandbox that outlives this process; every other method fails with Closed
// afterwards. Unsupported: it does not outlive this process, and is unchanged.
func (s *Sandbox) Detach() error {
	d, ok := As[Detacher](s.instance)
	if !ok {
		return s.wrap(Errorf(Unsupported, "the sandbox ends with this process"), "detach")
	}
	if s.closed.Swap(true) {
		return nil
	}
	return s.wrap(d.Detach(), "detach")
}

// Dial connects to a port on the loopback inside, where a command listens; see [Dialer]. Unsupported: the sandbox's ports
// cannot be reached from outside.
func (s *Sandbox) Dial(ctx context.Context, port int) (net.Conn, error) {
	if err := s.usable("dial"); err != nil {
		return nil, err
	}
	d, ok := As[Dialer](s.instance)
	if !ok {
		return nil, s.wrap(Errorf(Unsupported, "this sandbox cannot be dialed"), "dial")
	}
	if port < 1 || port > 65535 {
		return nil, s.wrap(Errorf(Invalid, "invalid port %d; expected a number from 1 to 65535", port), "dial")
	}
	conn, err := d.Dial(ctx, port)
	if err != nil {
		return nil, s.wrap(err, "dial")
	}
	return conn, nil
}

// Listen listens inside, for connections that commands make, on "127.0.0.1:PORT", "[::1]:PORT" or "unix:/PATH"; see
// [Listener]. The caller closes the listener and what it accepts. Unsupported: the backend has no listeners inside.
func (s *Sandbox) Listen(ctx context.Context, address string) (net.Listener, error) {
	if err := s.usable("listen"); err != nil {
		return nil, err
	}
	i, ok := As[Listener](s.instance)
	if !ok {
		return nil, s.wrap(Errorf(Unsupported, "this sandbox does not support listeners inside").WithHint("use a backend of processes: bwrap, docker or kube"), "listen")
	}
	l, err := i.Listen(ctx, address)
	if err != nil {
		return nil, s.wrap(err, "listen")
	}
	return l, nil
}

func (s *Sandbox) usable(op string) error {
	if s.closed.Load() {
		return s.wrap(Errorf(Closed, "the sandbox is closed"), op)
	}
	return nil
}

func (s *Sandbox) wrap(err error, op string) error { return wrap(err, op, s.driver, s.ID()) }

// Running is a command that was started.
type Running struct {
	sandbox *Sandbox
	process Process
	parent  context.Context //nolint:containedctx // distinguishes the caller's cancel from our own time-out after Wait
	ctx     context.Context //nolint:containedctx // bounds this one command, from Start to Wait
	cancel  context.CancelCauseFunc
	limit   Duration    // the wall-clock limit; 0: none
	wall    *time.Timer // kills the command at that limit; nil without one
	output  *budget
}

// Wait waits for the command's end, once. When the wall-clock limit killed it the
// error is nil and the exit code [ExitTimeout]; when the context of Start ended,
// the error has code Canceled or Timeout.
func (r *Running) Wait() (Exit, error) {
	defer r.cancel(nil)
	exit, err := r.process.Wait()
	if r.wall != nil {
		r.wall.Stop()
	}
	switch {
	case r.parent.Err() != nil:
		return exit, r.sandbox.wrap(r.parent.Err(), "wait")
	case r.HasTimedOut():
		exit.Code, exit.Reason = ExitTimeout, "wall-clock limit of "+r.limit.String()
		return exit, nil
	}
	return exit, r.sandbox.wrap(err, "wait")
}

// Signal sends sig to the command's process group.
func (r *Running) Signal(sig os.Signal) error {
	return r.sandbox.wrap(r.process.Signal(sig), "signal")
}

// Resize changes the size of the command's terminal; Unsupported when it was started without one.
func (r *Running) Resize(size Terminal) error {
	t, ok := r.process.(Resizer)
	if !ok {
		return r.sandbox.wrap(Errorf(Unsupported, "the command has no terminal of its own"), "resize")
	}
	return r.sandbox.wrap(t.Resize(size), "resize")
}

// HasTimedOut reports whether the wall-clock limit of the policy or of the command passed.
func (r *Running) HasTimedOut() bool {
	return r.parent.Err() == nil && errors.Is(context.Cause(r.ctx), context.DeadlineExceeded)
}

// IsCut reports whether output exceeded the limit and was discarded.
func (r *Running) IsCut() bool { return r.output != nil && r.output.isCut() }

// capped puts stdout and stderr under one budget. Files pass through as they are
// when no limit was set, so that terminals stay terminals.
func (r *Running) capped(stdout, stderr io.Writer, limit Bytes) (io.Writer, io.Writer) {
	if limit > 0 {
		r.output = &budget{left: int64(limit)}
		return capWriter(stdout, r.output), capWriter(stderr, r.output)
	}
	r.output = &budget{left: int64(DefaultOutput)}
	if b, ok := stdout.(*bytes.Buffer); ok {
		stdout = capWriter(b, r.output)
	}
	if b, ok := stderr.(*bytes.Buffer); ok {
		stderr = capWriter(b, r.output)
	}
	return stdout, stderr
}

func capWriter(w io.Writer, b *budget) io.Writer {
	if w == nil {
		return nil
	}
	return &cappedWriter{w: w, budget: b}
}

// budget counts the bytes that may still be written.
type budget struct {
	mu   sync.Mutex
	left int64
	over bool
}

func (b *budget) take(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if int64(n) > b.left {
		n, b.over = int(b.left), true
	}
	b.left -= int64(n)
	return n
}

func (b *budget) isCut() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

type cappedWriter struct {
	w      io.Writer
	budget *budget
}

// Write claims to have written everything, so that the command never blocks or
// dies of a limit that only concerns the stored output.
func (c *cappedWriter) Write(p []byte) (int, error) {
	n := c.budget.take(len(p))
	if n > 0 {
		if _, err := c.w.Write(p[:n]); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
