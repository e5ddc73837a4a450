package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Operations of a kept sandbox.
const (
	opStatus = "status"
	opStop   = "stop"
)

// status is the answer to opStatus.
type status struct {
	sandbox.Status
	Limits  sandbox.Limits `json:"limits"`
	PID     int            `json:"pid"`
	Started time.Time      `json:"started"`
}

// Ender is implemented by instances that can end by themselves.
type Ender interface {
	// Ended is closed when nothing of the sandbox runs any more.
	Ended() <-chan struct{}
}

// Keep is the keeper, a process of its own, which has to exit when this returns: it starts the sandbox of that name on d, calls ready, and serves until ctx ends, the sandbox
// ends, somebody stops it, or its time is over. env is the environment that the policy filters. What happens goes
// to log.
func (s Store) Keep(ctx context.Context, name string, d sandbox.Driver, env []string, log *slog.Logger, ready func()) error {
	held, err := s.take(name)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(held) // not released: it tells that this process lives
	record, err := s.Load(name)
	if err != nil {
		return err
	}
	spec := record.Spec
	spec.Env, spec.Resident = env, true
	instance, err := d.Create(ctx, spec)
	if err != nil {
		return err
	}
	k := &keeper{record: record, instance: instance, log: log, started: time.Now(), stop: make(chan struct{})}
	err = k.serve(ctx, s, ready)
	if err = errors.Join(err, instance.Close(context.WithoutCancel(ctx))); err == nil && k.expired {
		log.Info("destroyed: its time is over")
		return s.remove(name)
	}
	log.Info("stopped")
	return err
}

// keeper is a sandbox that runs.
type keeper struct {
	record   Record
	instance sandbox.Instance
	log      *slog.Logger
	started  time.Time

	stop     chan struct{} // closed when somebody wants the end
	stopping sync.Once
	expired  bool // its time to live is over; of serve's goroutine

	mu      sync.Mutex
	running int
	change  chan struct{} // closed when running changes
}

func (k *keeper) serve(ctx context.Context, s Store, ready func()) error {
	// The walls stand when the first thing was done within them.
	if _, err := k.instance.Files().Stat(ctx, "/"); err != nil {
		return err
	}
	l, err := s.listen(k.record.ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	conns.Go(func() { k.accept(ctx, l, &conns) })
	k.log.Info("started", "backend", k.record.Backend, "pid", os.Getpid())
	ready()
	k.wait(ctx)
	cancel()
	err = errors.Join(l.Close(), os.Remove(filepath.Join(s.dir(k.record.ID), socketFile)))
	conns.Wait()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody has cleaned up
	}
	return err
}

func (k *keeper) accept(ctx context.Context, l *net.UnixListener, conns *sync.WaitGroup) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		if !sameUser(conn) {
			_ = conn.Close()
			continue
		}
		conns.Go(func() { // one that speaks something else is nobody to answer
			_ = session.Share(ctx, conn, session.Shared{Start: k.start, Busy: k.count, Operation: k.operate})
		})
	}
}

// wait returns when the sandbox is to end.
func (k *keeper) wait(ctx context.Context) {
	var ended <-chan struct{}
	if e, ok := sandbox.As[Ender](k.instance); ok {
		ended = e.Ended()
	}
	for {
		running, change := k.state()
		idle, life := k.timers(running)
		select {
		case <-ctx.Done():
			return
		case <-k.stop:
			return
		case <-ended:
			k.log.Warn("the sandbox ended by itself")
			return
		case <-change:
		case <-idle:
			k.log.Info("no command ran for " + k.record.Idle.String())
			return
		case <-life:
			k.expired = true
			return
		}
	}
}

// timers are those that count while nothing runs.
func (k *keeper) timers(running int) (idle, life <-chan time.Time) {
	if running > 0 {
		return nil, nil
	}
	if d := time.Duration(k.record.Idle); d > 0 {
		idle = time.After(d)
	}
	if d := time.Duration(k.record.TTL); d > 0 {
		life = time.After(time.Until(k.record.Created.Add(d)))
	}
	return idle, life
}

func (k *keeper) state() (running int, change <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.change == nil {
		k.change = make(chan struct{})
	}
	return k.running, k.change
}

// count notes that a command has begun or that its end has been told.
func (k *keeper) count(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running += n
	if k.change != nil {
		close(k.change)
		k.change = nil
	}
}

// start starts a command and logs it.
func (k *keeper) start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	p, err := k.instance.Start(ctx, cmd, stdio)
	if err != nil {
		return nil, err
	}
	k.log.Info("command", "args", cmd.Args)
	return &logged{Process: p, log: k.log, begin: time.Now()}, nil
}

// logged is a command whose end is logged.
type logged struct {
	sandbox.Process

	log   *slog.Logger
	begin time.Time
}

func (c *logged) Wait() (sandbox.Exit, error) {
	exit, err := c.Process.Wait()
	c.log.Info("ended", "status", exit.Code, "took", time.Since(c.begin).Round(time.Millisecond).String())
	return exit, err
}

// Resize passes on the size of its terminal.
func (c *logged) Resize(size sandbox.Terminal) error {
	if t, ok := c.Process.(sandbox.Resizer); ok {
		return t.Resize(size)
	}
	return nil
}

func (k *keeper) operate(ctx context.Context, name string) ([]byte, error) {
	switch name {
	case opStop:
		k.stopping.Do(func() { close(k.stop) })
		return nil, nil
	case opStatus:
		st, err := k.instance.Status(ctx)
		if err != nil {
			return nil, err
		}
		st.Info = k.record.Info()
		k.mu.Lock()
		st.Running = k.running
		k.mu.Unlock()
		doc := status{Status: st, PID: os.Getpid(), Started: k.started}
		if l, ok := sandbox.As[sandbox.Limited](k.instance); ok {
			if doc.Limits, err = l.Limits(); err != nil {
				return nil, err
			}
		}
		return json.Marshal(doc)
	}
	return nil, fmt.Errorf("%w: no operation %.50q", sandbox.ErrUnsupported, name)
}
