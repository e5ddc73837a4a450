package worker

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options describe the workers of a pool.
type Options struct {
	Program []string             // command line of a program that calls [Serve]; not empty
	Memory  sandbox.Bytes        // limit of one worker
	Driver  json.RawMessage      // for the DriverFunc of [Serve]
	Denied  func(sandbox.Denial) // receives the driver's denials, one at a time for each worker; nil: none
}

// Pool starts workers. The sandboxes of one key share a worker, which ends with the last of them. It is safe for concurrent use.
type Pool struct {
	options Options

	mu      sync.Mutex
	workers map[string]*entry
}

// entry is a worker that starts or runs.
type entry struct {
	key    string
	refs   int           // guarded by Pool.mu
	ready  chan struct{} // closed when worker or err is set
	worker *worker
	err    error
}

// NewPool returns a pool without workers.
func NewPool(o Options) *Pool { return &Pool{options: o, workers: map[string]*entry{}} }

// Create creates a sandbox in the worker of a key, which is started if it does not run.
func (p *Pool) Create(ctx context.Context, key string, spec sandbox.Spec) (*Instance, error) {
	request, err := encodeSpec(spec)
	if err != nil {
		return nil, err
	}
	e := p.take(key)
	i, err := e.create(ctx, request)
	if err != nil {
		p.release(e)
		return nil, err
	}
	i.release = func() { p.release(e) }
	return i, nil
}

// take returns the entry of a key and begins to start a worker if there is none.
func (p *Pool) take(key string) *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.workers[key]
	if e == nil || e.isOver() {
		e = &entry{key: key, ready: make(chan struct{})}
		p.workers[key] = e
		go func() { // the last release waits for its end
			defer close(e.ready)
			e.worker, e.err = start(p.options)
		}()
	}
	e.refs++
	return e
}

// release ends the use of an entry. The last one ends the worker and waits for its end.
func (p *Pool) release(e *entry) {
	p.mu.Lock()
	e.refs--
	last := e.refs == 0
	if last && p.workers[e.key] == e {
		delete(p.workers, e.key)
	}
	p.mu.Unlock()
	if !last {
		return
	}
	<-e.ready
	if e.worker != nil {
		e.worker.end()
	}
}

// isOver reports whether the worker has ended or could not be started.
func (e *entry) isOver() bool {
	select {
	case <-e.ready:
		return e.err != nil || e.worker.isOver()
	default:
		return false
	}
}

func (e *entry) create(ctx context.Context, request json.RawMessage) (*Instance, error) {
	select {
	case <-e.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.err != nil {
		return nil, e.err
	}
	return e.worker.create(ctx, request)
}
