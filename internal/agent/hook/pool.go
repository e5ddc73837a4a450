package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// grace is the time after the limit in which a script may end by itself; then the pool kills its worker.
const grace = time.Second

// retired is the number of orders after which a worker is replaced, which bounds what runs may leave in the process.
const retired = 500

// pool runs scripts in workers.
type pool struct {
	command []string
	idleMax int
	slots   chan struct{}
	running sync.WaitGroup

	mu     sync.Mutex
	closed bool
	idle   []*worker
	all    map[*worker]bool
}

func newPool(o Options) *pool {
	if o.Workers <= 0 {
		o.Workers = 16
	}
	if o.Idle <= 0 {
		o.Idle = 4
	}
	return &pool{command: o.Worker, idleMax: o.Idle, slots: make(chan struct{}, o.Workers), all: map[*worker]bool{}}
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	for w := range p.all {
		w.kill()
	}
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, w := range idle {
		w.wait()
	}
	p.running.Wait()
}

func (p *pool) Compile(ctx context.Context, h protocol.Host, o protocol.CompileOrder) (*protocol.Bundle, error) {
	out, err := p.do(ctx, h, protocol.Frame{Compile: &o}, o.Limits)
	if err == nil && out.Bundle == nil {
		err = sandbox.Errorf(sandbox.Internal, "the worker sent no bundle")
	}
	return out.Bundle, err
}

func (p *pool) Run(ctx context.Context, h protocol.Host, o protocol.RunOrder) (json.RawMessage, error) {
	out, err := p.do(ctx, h, protocol.Frame{Run: &o}, o.Limits)
	if err == nil && !json.Valid(out.Value) {
		err = sandbox.Errorf(sandbox.Internal, "the worker sent no value")
	}
	return out.Value, err
}

// do sends an order to a worker and serves its calls until the order ends. A worker that did not end well is not reused.
func (p *pool) do(ctx context.Context, h protocol.Host, order protocol.Frame, l Limits) (protocol.Outcome, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return protocol.Outcome{}, ctx.Err()
	}
	defer func() { <-p.slots }()
	w, err := p.take()
	if err != nil {
		return protocol.Outcome{}, err
	}
	defer p.running.Done()
	out, err := w.do(ctx, h, order, l)
	if err != nil {
		w.kill()
		w.wait()
		p.forget(w)
		if p.isClosed() {
			return protocol.Outcome{}, sandbox.Errorf(sandbox.Closed, "the engine is closed")
		}
		return protocol.Outcome{}, w.why(ctx, err)
	}
	p.put(w, out)
	if out.Fault != nil {
		return protocol.Outcome{}, out.Fault
	}
	return out, nil
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take returns an idle worker or starts one. The caller calls running.Done.
func (p *pool) take() (*worker, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, sandbox.Errorf(sandbox.Closed, "the engine is closed")
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.running.Add(1)
		return w, nil
	}
	w, err := startWorker(p.command)
	if err != nil {
		e := sandbox.Errorf(sandbox.Unavailable, "cannot start a worker for hooks: %w", err)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, e.WithHint("install %s beside agent-sandbox: make install", filepath.Base(p.command[0]))
		}
		return nil, e
	}
	p.all[w] = true
	p.running.Add(1)
	return w, nil
}

// put returns a worker to the pool for the next order, or ends it.
func (p *pool) put(w *worker, out protocol.Outcome) {
	p.mu.Lock()
	w.orders++
	limit := out.Fault != nil && out.Fault.Kind != protocol.Uncaught && out.Fault.Kind != protocol.InvalidValue
	keep := !p.closed && !limit && !w.spent && w.orders < retired && len(p.idle) < p.idleMax
	if keep {
		p.idle = append(p.idle, w)
	}
	p.mu.Unlock()
	if !keep {
		w.kill()
		w.wait()
		p.forget(w)
	}
}

func (p *pool) forget(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, w)
}

// worker is a process that runs scripts, one at a time.
type worker struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr *head
	sent   map[string]bool // scripts that the worker has cached
	orders int
	spent  bool        // it must not be reused
	late   atomic.Bool // it was killed for exceeding its time
}

func startWorker(command []string) (*worker, error) {
	// The pool ends the process; a request's context ends only a run.
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...)
	// The host's variables may hold keys. Dates must be the same on every host.
	cmd.Env = []string{"TZ=UTC", "GOTRACEBACK=none", "GOMAXPROCS=2"}
	cmd.Dir = "/"
	w := &worker{cmd: cmd, stderr: &head{limit: protocol.MaxText}, sent: map[string]bool{}}
	cmd.Stderr = w.stderr
	cmd.SysProcAttr = workerAttributes()
	var err error
	if w.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if w.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return w, cmd.Start()
}

func (w *worker) kill() { _ = w.cmd.Process.Kill() } // it may have exited already

func (w *worker) wait() {
	_ = w.in.Close()
	_ = w.cmd.Wait() // ProcessState has the result
}

// do sends an order and serves the worker's calls until the order ends.
func (w *worker) do(ctx context.Context, h protocol.Host, order protocol.Frame, l Limits) (protocol.Outcome, error) {
	// A single write to a worker that does not read could otherwise block forever.
	c := protocol.StartClock(l.Time+grace, func() { w.late.Store(true); w.kill() })
	stop := context.AfterFunc(ctx, w.kill)
	defer func() {
		// One of the timers may just be killing the worker.
		if inTime, alive := c.Stop(), stop(); !inTime || !alive {
			w.spent = true
		}
	}()
	if r := order.Run; r != nil {
		if w.sent[r.ID] {
			short := *r
			short.Code, order.Run = "", &short
		}
		w.sent[r.ID] = true
	}
	if err := protocol.WriteFrame(w.in, order); err != nil {
		return protocol.Outcome{}, err
	}
	for {
		f, err := protocol.ReadFrame(w.out)
		switch {
		case err != nil:
			return protocol.Outcome{}, err
		case ctx.Err() != nil:
			return protocol.Outcome{}, ctx.Err()
		case f.Done != nil:
			return *f.Done, nil
		case f.Call == nil:
			return protocol.Outcome{}, errors.New("a frame of no known kind")
		}
		c.Pause()
		value, err := h.Call(ctx, f.Call.Op, f.Call.Args)
		c.Resume()
		reply := protocol.HostReply{Value: value}
		if err != nil {
			if !errors.As(err, &reply.Refusal) {
				reply.Refusal = protocol.Refuse("%v", err)
			}
		}
		if err := protocol.WriteFrame(w.in, protocol.Frame{Reply: &reply}); err != nil {
			return protocol.Outcome{}, err
		}
	}
}

// starved lists the last words of Go's runtime when memory runs out: its own message, or the fault after a failed allocation.
var starved = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:fatal error|runtime|SIGSEGV|fatal|runtime/cgo).*(?:memory|map pages|segmentation|OS thread|pthread_create)`)
})

// why returns the error of a worker that did not end well, from its stderr if that explains it.
func (w *worker) why(ctx context.Context, err error) error {
	words := string(w.stderr.data)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.late.Load():
		return &protocol.Fault{Kind: protocol.TimeExceeded}
	case strings.Contains(words, "stack overflow") || strings.Contains(words, "stack exceeds"):
		return &protocol.Fault{Kind: protocol.NestingExceeded}
	case starved().MatchString(words):
		return &protocol.Fault{Kind: protocol.MemoryExceeded}
	}
	first, _, _ := strings.Cut(words, "\n")
	return sandbox.Errorf(sandbox.Internal, "the worker ended: %w (%s): %s", err, w.cmd.ProcessState, protocol.Clip(first, 500))
}
