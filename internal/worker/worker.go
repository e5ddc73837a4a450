package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// startTime bounds the start of a worker.
const startTime = 30 * time.Second

// worker is a worker process that this process has started. Its data is not trusted and bounded, because a sandbox may
// have taken over the process.
type worker struct {
	options Options
	conn    *session.Connection
	cmd     *exec.Cmd
	errors  head          // its standard error
	ended   chan struct{} // closed when the process has ended and was reaped
	limit   string        // reason for which the kernel ended it, or ""; valid when ended is closed
	events  events
}

// start starts a worker and configures it.
func start(o Options) (*worker, error) {
	w := &worker{options: o, ended: make(chan struct{})}
	w.events = events{denied: o.Denied, ready: make(chan struct{})}
	conn, err := w.launch()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Unavailable, "start a worker process: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	if w.conn, err = session.Connect(ctx, conn); err != nil {
		_ = w.cmd.Process.Kill() // it may have ended
		<-w.ended
		return nil, sandbox.Errorf(sandbox.Unavailable, "start a worker process: %s", w.describeEnd())
	}
	go func() { // ends with the connection
		<-w.conn.Done()
		_ = w.cmd.Process.Kill() // it may have ended
	}()
	failed := make(chan error, 1)
	go func() { // ends with the connection, too
		failed <- w.conn.Operate(context.Background(), opBegin, settings{o.Memory, o.Driver}, &w.events)
		_ = w.conn.Close() // it reports events until it ends
	}()
	select {
	case <-w.events.ready:
		return w, nil
	case err = <-failed:
		err = w.explain(err)
	case <-ctx.Done():
		err = sandbox.Errorf(sandbox.Unavailable, "start a worker process: no answer in %s", startTime)
	}
	w.end()
	return nil, err
}

// end ends the process and waits for its end.
func (w *worker) end() {
	_ = w.conn.Close() // documented to return nil
	_ = w.cmd.Process.Kill()
	<-w.ended
}

// isOver reports whether the worker cannot be used any more.
func (w *worker) isOver() bool {
	select {
	case <-w.conn.Done():
		return true
	case <-w.ended:
		return true
	default:
		return false
	}
}

// explain returns the error of a request, which is Unavailable when the worker has ended.
func (w *worker) explain(err error) error {
	if err == nil || sandbox.CodeOf(err) != sandbox.Closed || !w.isOver() {
		return err
	}
	<-w.ended
	return sandbox.Errorf(sandbox.Unavailable, "the worker process of this sandbox has ended: %s", w.describeEnd()).
		WithHint("its files in memory are lost; create the sandbox again")
}

// describeEnd returns why the process has ended. Its standard error may hold any text.
func (w *worker) describeEnd() string {
	first, _, _ := strings.Cut(w.errors.String(), "\n")
	first = session.Printable(first[:min(len(first), 200)])
	limit := w.limit
	if strings.Contains(first, "out of memory") || strings.Contains(first, "cannot allocate memory") || strings.Contains(first, "failed to allocate") {
		limit = "memory limit of " + w.options.Memory.String()
	}
	switch state := w.cmd.ProcessState; {
	case limit != "":
		return limit
	case state == nil:
		return "its status is unknown"
	case first != "" && state.Exited():
		return state.String() + ": " + first
	default:
		return state.String()
	}
}

// operate performs an operation of the worker itself.
func (w *worker) operate(ctx context.Context, op string, arg any, answer io.Writer) error {
	return w.explain(w.conn.Operate(ctx, op, arg, answer))
}

func (w *worker) create(ctx context.Context, request json.RawMessage) (*Instance, error) {
	var made created
	if err := persist.Operated(w.operate).Ask(ctx, opCreate, request, &made); err != nil {
		return nil, err
	}
	i := &Instance{worker: w, id: made.ID, client: w.conn.Of(made.ID), limits: made.Limits}
	i.Operated = i.operate
	return i, nil
}

// flush waits until all events that the worker has sent so far were handled.
func (w *worker) flush() {
	if w.events.denied == nil {
		return
	}
	var sent flushed
	if persist.Operated(w.operate).Ask(context.Background(), opFlush, nil, &sent) == nil {
		w.events.await(sent.Events, w.conn.Done())
	}
}

// events handles the answer to opBegin.
type events struct {
	denied func(sandbox.Denial)
	ready  chan struct{} // closed with the first line

	mu     sync.Mutex
	line   []byte
	begun  bool
	seen   uint64
	change chan struct{} // closed when seen changes; nil: no one waits
}

// maxEvent bounds an event, in bytes.
const maxEvent = 64 << 10

// Write handles whole lines. An error ends the worker.
func (e *events) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		if len(e.line)+len(part) > maxEvent {
			return 0, sandbox.Errorf(sandbox.Internal, "an event of the worker has more than %d bytes", maxEvent)
		}
		e.line = append(e.line, part...)
		p = rest
		if !whole {
			break
		}
		if err := e.handle(e.line); err != nil {
			return 0, err
		}
		e.line = e.line[:0]
	}
	return n, nil
}

func (e *events) handle(line []byte) error {
	if !e.begun {
		e.begun = true
		close(e.ready)
		return nil
	}
	var one event
	if err := json.Unmarshal(line, &one); err != nil {
		return sandbox.Errorf(sandbox.Internal, "an event of the worker: %w", err)
	}
	if e.denied != nil {
		e.denied(printableDenial(one.Denial))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen++
	if e.change != nil {
		close(e.change)
		e.change = nil
	}
	return nil
}

// printableDenial returns a denial whose texts cannot control a terminal.
func printableDenial(d sandbox.Denial) sandbox.Denial {
	d.Kind = sandbox.DenialKind(session.Printable(string(d.Kind)))
	for _, text := range []*string{&d.Op, &d.Target, &d.Reason, &d.Rule, &d.Source, &d.Fix} {
		*text = session.Printable(*text)
	}
	return d
}

// await waits until n events were handled or end is closed.
func (e *events) await(n uint64, end <-chan struct{}) {
	for {
		e.mu.Lock()
		seen := e.seen
		if e.change == nil {
			e.change = make(chan struct{})
		}
		change := e.change
		e.mu.Unlock()
		if seen >= n {
			return
		}
		select {
		case <-change:
		case <-end:
			return
		}
	}
}

// head stores the first bytes that are written to it.
type head struct{ bytes.Buffer }

// maxHead is the number of bytes that a head stores.
const maxHead = 4 << 10

func (h *head) Write(p []byte) (int, error) {
	h.Buffer.Write(p[:min(len(p), maxHead-h.Len())])
	return len(p), nil
}

// Instance is a sandbox in a worker.
type Instance struct {
	persist.Operated

	worker  *worker
	id      string
	client  *session.Client
	limits  sandbox.Limits
	release func()

	closing sync.Once
	mu      sync.Mutex
	closed  bool
}

// ID is unique within the worker.
func (i *Instance) ID() string { return i.id }

// Limits returns the limits of its policy.
func (i *Instance) Limits() (sandbox.Limits, error) { return i.limits, nil }

// usable returns Closed after Close: the worker may continue with other sandboxes.
func (i *Instance) usable() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed {
		return sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	return nil
}

// Start runs cmd.
func (i *Instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	if err := i.usable(); err != nil {
		return nil, err
	}
	p, err := i.client.Start(ctx, session.Command{Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, TTY: cmd.TTY, Leave: cmd.Leave}, stdio)
	if err != nil {
		return nil, i.explain(err)
	}
	return process{p, i}, nil
}

// Files reaches the files, through the worker.
func (i *Instance) Files() sandbox.Files { return files.New(i.Start) }

// explain returns the error of a request. For a closed sandbox it does not report the worker's end.
func (i *Instance) explain(err error) error {
	if err != nil && i.usable() != nil {
		return err
	}
	return i.worker.explain(err)
}

// process is a command in a worker.
type process struct {
	*session.Process

	instance *Instance
}

// Wait returns when the command has ended and its denials were reported.
func (p process) Wait() (sandbox.Exit, error) {
	exit, err := p.Process.Wait()
	p.instance.worker.flush()
	return exit, p.instance.explain(err)
}

func (i *Instance) operate(ctx context.Context, op string, arg any, answer io.Writer) error {
	if err := i.usable(); err != nil {
		return err
	}
	return i.explain(i.client.Operate(ctx, op, arg, answer))
}

// SaveState implements [sandbox.StateKeeper].
func (i *Instance) SaveState(ctx context.Context, dir, snapshot string) error {
	return persist.SaveState(ctx, i.Operated, dir, snapshot)
}

// Status returns the status from the worker.
func (i *Instance) Status(ctx context.Context) (st sandbox.Status, err error) {
	return st, i.Ask(ctx, opStatus, nil, &st)
}

// Close destroys the sandbox. Unavailable: the worker has ended before, and changes that were not applied or saved are
// lost.
func (i *Instance) Close(ctx context.Context) (err error) {
	i.closing.Do(func() {
		i.mu.Lock()
		i.closed = true
		i.mu.Unlock()
		// The end of ctx does not stop this, because the sandbox must be removed completely.
		err = i.worker.operateOn(context.WithoutCancel(ctx), i.client, opClose)
		i.worker.flush()
		i.release()
	})
	return err
}

func (w *worker) operateOn(ctx context.Context, c *session.Client, op string) error {
	return w.explain(c.Operate(ctx, op, nil, nil))
}
