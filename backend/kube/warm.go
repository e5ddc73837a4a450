package kube

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// pool holds the pods that a driver has prepared, each with a session in which nothing has run. A sandbox brings its name, workspace
// and environment when it takes one.
type pool struct {
	ctx  context.Context //nolint:containedctx // ends when the driver is closed, and with it what prepares pods
	stop context.CancelFunc
	busy sync.WaitGroup

	mu     sync.Mutex
	ready  map[podKind][]*instance
	making map[podKind]int
	change chan struct{} // closed when a pod is finished; nil: no caller waits
	closed bool
}

func newPool() *pool {
	p := &pool{ready: map[podKind][]*instance{}, making: map[podKind]int{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// podKind is the hash of a pod's spec: a prepared pod can serve sandboxes of its kind.
type podKind [sha256.Size]byte

func (p *prepared) podKind() (podKind, error) {
	pod, err := p.Render()
	if err != nil {
		return podKind{}, err
	}
	data, err := json.Marshal(pod.Spec)
	return sha256.Sum256(data), err
}

// createWarm takes a prepared pod of the same kind, or creates one, and prepares the next. A pod that was a sandbox's is never used
// again.
func (d *Driver) createWarm(ctx context.Context, p *prepared) (sandbox.Instance, error) {
	k, err := p.podKind()
	if err != nil {
		return nil, err
	}
	defer d.pool.fill(k, d.options.Warm, p)
	for {
		i := d.pool.take(k)
		if i == nil {
			return p.start(ctx)
		}
		if !i.isFresh() {
			go i.discard()
			continue
		}
		if err := i.adopt(ctx, p); err != nil {
			return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
		}
		return i, nil
	}
}

func (p *pool) take(k podKind) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.ready[k]
	if len(list) == 0 {
		return nil
	}
	p.ready[k] = list[1:]
	return list[0]
}

// fill begins to prepare pods until there are want, and returns.
func (p *pool) fill(k podKind, want int, like *prepared) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && len(p.ready[k])+p.making[k] < want {
		p.making[k]++
		p.busy.Go(func() { p.prepare(k, like) })
	}
}

// prepare prepares one pod. It traces an error; the next Create of this kind returns its own.
func (p *pool) prepare(k podKind, like *prepared) {
	spare := *like
	id, err := newID()
	spare.SandboxID, spare.created, spare.Spec.Name = id, time.Now(), ""
	var i *instance
	if err == nil {
		i, err = spare.startEmpty(p.ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.making[k]--
	if p.change != nil {
		close(p.change)
		p.change = nil
	}
	switch {
	case err != nil:
		like.driver.options.Trace("kube", "prepare a pod: "+err.Error())
	case p.closed:
		p.busy.Go(i.discard)
	default:
		p.ready[k] = append(p.ready[k], i)
	}
}

// close deletes the pods that were not taken.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	ready := p.ready
	p.ready = map[podKind][]*instance{}
	p.mu.Unlock()
	p.stop()
	for _, list := range ready {
		for _, i := range list {
			p.busy.Go(i.discard)
		}
	}
	p.busy.Wait()
}

// isFresh reports whether a prepared pod still runs and is not older than [podspec.SpareTime].
func (i *instance) isFresh() bool {
	select {
	case <-i.session.Done():
		return false
	default:
		return time.Since(i.created) < podspec.SpareTime
	}
}

// discard deletes a prepared pod. If that fails, the pod ends with its session, and a sweep removes it.
func (i *instance) discard() {
	if err := i.Close(context.Background()); err != nil {
		i.driver.options.Trace("kube", "delete a prepared pod: "+err.Error())
	}
}

// adopt turns a prepared pod into the sandbox that p describes.
func (i *instance) adopt(ctx context.Context, p *prepared) error {
	p.SandboxID, p.created = i.SandboxID, time.Now()
	i.prepared = p
	named := make(chan error, 1)
	go func() { named <- i.cluster.NamePod(ctx, i.pod.Name, p.Spec.Name) }()
	err := i.bringFiles(ctx)
	return errors.Join(err, <-named)
}

// Prepared waits until all pods are prepared that were begun after earlier calls of Create.
func (d *Driver) Prepared(ctx context.Context) error {
	for {
		change := d.pool.preparing()
		if change == nil {
			return nil
		}
		select {
		case <-change:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// preparing returns a channel that is closed when one of the pods being prepared is finished; nil: none is being prepared.
func (p *pool) preparing() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.making {
		if n > 0 {
			if p.change == nil {
				p.change = make(chan struct{})
			}
			return p.change
		}
	}
	return nil
}

// Close deletes the prepared pods. Sandboxes stay until their own Close, and the driver can still be used, without preparing pods.
func (d *Driver) Close() error {
	d.pool.close()
	return nil
}
