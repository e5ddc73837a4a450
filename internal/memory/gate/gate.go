// Package gate pauses the processes of a machine in memory. Their goroutines pass the gate where they take fuel, and after each wait.
package gate

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Gate is open or shut. The zero value is open. It is safe for concurrent use.
type Gate struct {
	running atomic.Int64 // goroutines that neither wait nor are held
	shut    atomic.Bool

	mu    sync.Mutex
	opens chan struct{} // closed by Open; nil: it is open
	rests chan struct{} // closed when none is running any more; nil: Shut does not wait
	since time.Time     // of the last Shut
	total time.Duration // that it was shut before
}

type key struct{}

// With returns a context whose users pass the gate.
func (g *Gate) With(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, g) }

// Of returns the gate of a context; nil, on which all methods do nothing, if it has none.
func Of(ctx context.Context) *Gate {
	g, _ := ctx.Value(key{}).(*Gate)
	return g
}

// Enter counts a goroutine of a process, which calls Leave at its end.
func (g *Gate) Enter(ctx context.Context) { g.Unblock(ctx) }

// Leave undoes Enter.
func (g *Gate) Leave() { g.Block() }

// Pass returns when the gate is open, or ctx has ended.
func (g *Gate) Pass(ctx context.Context) {
	if g == nil || !g.shut.Load() {
		return
	}
	g.Block()
	g.Unblock(ctx)
}

// Block begins a wait of the goroutine for another one, for time or for input. Unblock ends it.
func (g *Gate) Block() {
	if g == nil || g.running.Add(-1) > 0 || !g.shut.Load() {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rests != nil && g.running.Load() <= 0 {
		close(g.rests)
		g.rests = nil
	}
}

// Unblock ends a wait, and returns when the gate is open or ctx has ended.
func (g *Gate) Unblock(ctx context.Context) {
	if g == nil {
		return
	}
	for {
		g.running.Add(1)
		if !g.shut.Load() || ctx.Err() != nil {
			return
		}
		g.Block()
		g.mu.Lock()
		opens := g.opens
		g.mu.Unlock()
		if opens == nil {
			continue
		}
		select {
		case <-opens:
		case <-ctx.Done():
		}
	}
}

// patience bounds the wait of Shut. A goroutine that runs passes the gate much sooner; one that has not passed it by then waits without
// Block, such as for the network, and passes it afterwards.
const patience = time.Second

// Shut holds the goroutines, and returns when none runs any more. When the gate is shut it calls alert, which makes them pass it soon; nil:
// it is not called.
func (g *Gate) Shut(ctx context.Context, alert func()) error {
	g.mu.Lock()
	if g.opens == nil {
		g.opens, g.since = make(chan struct{}), time.Now()
		g.shut.Store(true)
	}
	rests := make(chan struct{})
	g.rests = rests
	if g.running.Load() <= 0 {
		close(rests)
		g.rests = nil
	}
	g.mu.Unlock()
	if alert != nil {
		alert()
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-rests:
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Open lets all goroutines continue.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opens == nil {
		return
	}
	g.total += time.Since(g.since)
	g.shut.Store(false)
	close(g.opens)
	g.opens, g.rests = nil, nil
}

// held returns for how long the gate was shut until now.
func (g *Gate) held() time.Duration {
	if g == nil {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opens != nil {
		return g.total + time.Since(g.since)
	}
	return g.total
}

// Sleep waits for a time in which the gate is open, or until done, which may be nil, is closed. False: done was closed or ctx has ended.
func (g *Gate) Sleep(ctx context.Context, d time.Duration, done <-chan struct{}) bool {
	begin, before := time.Now(), g.held()
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		g.Block()
		elapsed := false
		select {
		case <-timer.C:
			elapsed = true
		case <-done:
		case <-ctx.Done():
		}
		g.Unblock(ctx)
		if !elapsed || ctx.Err() != nil {
			return false
		}
		left := g.held() - before
		left += d - time.Since(begin)
		if left <= 0 {
			return true
		}
		timer.Reset(left)
	}
}
