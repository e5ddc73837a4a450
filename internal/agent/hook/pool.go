package hook

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// grace is how much longer than its time a script may take to end by itself; then its worker is killed.
const grace = time.Second

// retired is how many orders a worker does, so that what little a run may leave in a process is bounded, too.
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

func (p *pool) compile(ctx context.Context, h host, o compileOrder) (*bundle, error) {
	out, err := p.do(ctx, h, frame{Compile: &o}, o.Limits)
	if err == nil && out.Bundle == nil {
		err = sandbox.Errorf(sandbox.Internal, "the worker sent no bundle")
	}
	return out.Bundle, err
}

func (p *pool) run(ctx context.Context, h host, o runOrder) (json.RawMessage, error) {
	out, err := p.do(ctx, h, frame{Run: &o}, o.Limits)
	if err == nil && !json.Valid(out.Value) {
		err = sandbox.Errorf(sandbox.Internal, "the worker sent no value")
	}
	return out.Value, err
}

// do gives an order to a worker, and answers its calls until it is done. A worker that did not end well is not used again.
func (p *pool) do(ctx context.Context, h host, order frame, l Limits) (outcome, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return outcome{}, ctx.Err()
	}
	defer func() { <-p.slots }()
	w, err := p.take()
	if err != nil {
		return outcome{}, err
	}
	defer p.running.Done()
	out, err := w.do(ctx, h, order, l)
	if err != nil {
		w.kill()
		w.wait()
		p.forget(w)
		if p.isClosed() {
			return outcome{}, sandbox.Errorf(sandbox.Closed, "the engine is closed")
		}
		return outcome{}, w.why(ctx, err)
	}
	p.put(w, out)
	if out.Fault != nil {
		return outcome{}, out.Fault
	}
	return out, nil
}

func (p *pool) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed
}

// take returns a worker that waits, or starts one. The caller calls running.Done.
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
		return nil, sandbox.Errorf(sandbox.Unavailable, "a worker for scripts cannot be started: %w", err)
	}
	p.all[w] = true
	p.running.Add(1)
	return w, nil
}

// put keeps a worker for the next order, or ends it.
func (p *pool) put(w *worker, out outcome) {
	p.mu.Lock()
	w.orders++
	limit := out.Fault != nil && out.Fault.Kind != thrown && out.Fault.Kind != badValue
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
	sent   map[string]bool // scripts that it has
	orders int
	spent  bool        // it must not be used again
	late   atomic.Bool // it was killed because it did not end
}

func startWorker(command []string) (*worker, error) {
	// It lives until the pool ends it; what a request's context ends is the run.
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...)
	// No variable of ours, which may be a key. Dates are the same on every host.
	cmd.Env = []string{"TZ=UTC", "GOTRACEBACK=none", "GOMAXPROCS=2"}
	cmd.Dir = "/"
	w := &worker{cmd: cmd, stderr: &head{limit: maxText}, sent: map[string]bool{}}
	cmd.Stderr = w.stderr
	cmd.SysProcAttr = attributes()
	var err error
	if w.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if w.out, err = cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return w, cmd.Start()
}

func (w *worker) kill() { _ = w.cmd.Process.Kill() } // it may have ended by itself

func (w *worker) wait() {
	_ = w.in.Close()
	_ = w.cmd.Wait() // ProcessState tells
}

// do sends an order and answers calls until it is done.
func (w *worker) do(ctx context.Context, h host, order frame, l Limits) (outcome, error) {
	// One write to a worker that does not read would last for ever otherwise, too.
	c := startClock(l.Time+grace, func() { w.late.Store(true); w.kill() })
	stop := context.AfterFunc(ctx, w.kill)
	defer func() {
		// One of them may be killing it just now, although it is done.
		if inTime, alive := c.stop(), stop(); !inTime || !alive {
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
	if err := writeFrame(w.in, order); err != nil {
		return outcome{}, err
	}
	for {
		f, err := readFrame(w.out)
		switch {
		case err != nil:
			return outcome{}, err
		case ctx.Err() != nil:
			return outcome{}, ctx.Err()
		case f.Done != nil:
			return *f.Done, nil
		case f.Call == nil:
			return outcome{}, errors.New("a frame of no known kind")
		}
		c.pause()
		value, err := h.call(ctx, f.Call.Op, f.Call.Args)
		c.resume()
		reply := hostReply{Value: value}
		if err != nil {
			if !errors.As(err, &reply.Refusal) {
				reply.Refusal = refuse("%v", err)
			}
		}
		if err := writeFrame(w.in, frame{Reply: &reply}); err != nil {
			return outcome{}, err
		}
	}
}

// starved are the last words of Go's runtime when memory is out: it says so, or falls over what it got none for.
var starved = regexp.MustCompile(`^(?:fatal error|runtime|SIGSEGV|fatal|runtime/cgo).*(?:memory|map pages|segmentation|OS thread|pthread_create)`)

// why is the error of a worker that did not end well: by its own last words where it has some.
func (w *worker) why(ctx context.Context, err error) error {
	words := string(w.stderr.data)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case w.late.Load():
		return &fault{Kind: tooLong}
	case strings.Contains(words, "stack overflow") || strings.Contains(words, "stack exceeds"):
		return &fault{Kind: tooNested}
	case starved.MatchString(words):
		return &fault{Kind: tooBig}
	}
	first, _, _ := strings.Cut(words, "\n")
	return sandbox.Errorf(sandbox.Internal, "the worker ended: %w (%s): %s", err, w.cmd.ProcessState, clip(first, 500))
}
