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

// pool are the pods that a driver has prepared, each with a session in which nothing has run. What a sandbox is about comes late:
// its name, workspace and environment.
type pool struct {
	ctx  context.Context //nolint:containedctx // ends when the driver is closed, and with it what prepares pods
	stop context.CancelFunc
	busy sync.WaitGroup

	mu     sync.Mutex
	ready  map[kind][]*instance
	making map[kind]int
	change chan struct{} // closed when less is in the making; nil: nobody waits for it
	closed bool
}

func newPool() *pool {
	p := &pool{ready: map[kind][]*instance{}, making: map[kind]int{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// kind is what a pod can be prepared for: all that its Spec in the API says.
type kind [sha256.Size]byte

func (p *prepared) kind() (kind, error) {
	pod, err := p.Render()
	if err != nil {
		return kind{}, err
	}
	data, err := json.Marshal(pod.Spec)
	return sha256.Sum256(data), err
}

// createWarm takes a pod that was prepared for the same walls, makes one when there is none, and sees to it that the next finds one.
// One that was somebody's is never prepared for another.
func (d *Driver) createWarm(ctx context.Context, p *prepared) (sandbox.Instance, error) {
	k, err := p.kind()
	if err != nil {
		return nil, err
	}
	defer d.pool.fill(k, d.options.Warm, p)
	for {
		i := d.pool.take(k)
		if i == nil {
			return p.start(ctx)
		}
		if !i.fresh() {
			go i.discard()
			continue
		}
		if err := i.adopt(ctx, p); err != nil {
			return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
		}
		return i, nil
	}
}

func (p *pool) take(k kind) *instance {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.ready[k]
	if len(list) == 0 {
		return nil
	}
	p.ready[k] = list[1:]
	return list[0]
}

// fill prepares pods until there are so many, and does not wait for them.
func (p *pool) fill(k kind, want int, like *prepared) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.closed && len(p.ready[k])+p.making[k] < want {
		p.making[k]++
		p.busy.Go(func() { p.prepare(k, like) })
	}
}

// prepare prepares one pod. What keeps it from it is told to who needs one.
func (p *pool) prepare(k kind, like *prepared) {
	spare := *like
	id, err := newID()
	spare.SandboxID, spare.created, spare.Spec.Name = id, time.Now(), ""
	var i *instance
	if err == nil {
		i, err = spare.startBare(p.ctx)
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

// close discards all that nobody took.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	ready := p.ready
	p.ready = map[kind][]*instance{}
	p.mu.Unlock()
	p.stop()
	for _, list := range ready {
		for _, i := range list {
			p.busy.Go(i.discard)
		}
	}
	p.busy.Wait()
}

// fresh reports whether a prepared pod is as it was, and not too old.
func (i *instance) fresh() bool {
	select {
	case <-i.session.Done():
		return false
	default:
		return time.Since(i.created) < podspec.SpareTime
	}
}

// discard deletes a prepared pod. When that fails it ends with its session, and is swept.
func (i *instance) discard() {
	if err := i.Close(context.Background()); err != nil {
		i.driver.options.Trace("kube", "delete a prepared pod: "+err.Error())
	}
}

// adopt makes a prepared pod the sandbox that p asks for.
func (i *instance) adopt(ctx context.Context, p *prepared) error {
	p.SandboxID, p.created = i.SandboxID, time.Now()
	i.prepared = p
	named := make(chan error, 1)
	go func() { named <- i.cluster.NamePod(ctx, i.pod.Name, p.Spec.Name) }()
	err := i.furnish(ctx)
	return errors.Join(err, <-named)
}

// Prepared returns when none of the pods is in the making that were to be prepared for sandboxes like those which were created.
func (d *Driver) Prepared(ctx context.Context) error {
	for {
		change := d.pool.busyWith()
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

// busyWith returns what is closed when less is in the making; nil: nothing is.
func (p *pool) busyWith() <-chan struct{} {
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

// Close discards the pods that were prepared for sandboxes to come. Sandboxes that were created live until their own Close, and
// the driver can still be used, without preparing any.
func (d *Driver) Close() error {
	d.pool.close()
	return nil
}
