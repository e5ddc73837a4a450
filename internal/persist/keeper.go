package persist

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// status is the answer to opStatus.
type status struct {
	sandbox.Status
	Limits  sandbox.Limits `json:"limits"`
	PID     int            `json:"pid"`
	Started time.Time      `json:"started"`
	Refused uint64         `json:"refused"` // how many refusals there were
}

// Ender is implemented by instances that can end by themselves.
type Ender interface {
	// Ended is closed when nothing of the sandbox runs any more.
	Ended() <-chan struct{}
}

// Holding is what a keeper is given.
type Holding struct {
	Driver  sandbox.Driver // that makes the sandbox
	Env     []string       // the environment that the policy filters
	Log     *slog.Logger   // of what happens
	Refused *Refused       // what the driver refuses; nil: nobody is told
	Ready   func()         // called when the sandbox runs
}

// Keep is the keeper, a process of its own, which has to exit when this returns: it starts the sandbox of that name, and
// serves until ctx ends, the sandbox ends, somebody stops it, or its time is over.
func (s Store) Keep(ctx context.Context, name string, h Holding) error {
	held, err := s.inherit(name)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(held) // not released: it tells that this process lives
	record, err := s.Load(name)
	if err != nil {
		return err
	}
	spec := record.Spec
	spec.Env, spec.Resident, spec.State = h.Env, true, s.state(record)
	instance, err := h.Driver.Create(ctx, spec)
	if err != nil {
		return err
	}
	k := &keeper{store: s, record: record, instance: instance, begin: files.Starter(instance), log: h.Log, refused: h.Refused, started: time.Now(), stop: make(chan struct{})}
	if k.gone, err = s.watch(record.ID); err == nil {
		err = k.serve(ctx, s, h.Ready)
	}
	ctx = context.WithoutCancel(ctx)
	err = errors.Join(err, instance.Close(ctx))
	switch {
	case isClosed(k.gone):
		h.Log.Warn("destroyed: somebody has deleted its record", "error", err)
		return errors.Join(s.forsake(k.known(), held), sweep(ctx, h.Driver))
	case err == nil && k.expired:
		h.Log.Info("destroyed: its time is over")
		return errors.Join(s.remove(k.known().ID), sweep(ctx, h.Driver))
	}
	h.Log.Info("stopped")
	return err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// keeper is a sandbox that runs.
type keeper struct {
	store    Store
	instance sandbox.Instance
	begin    files.StartFunc // its Start, and what its files are asked for
	log      *slog.Logger
	refused  *Refused
	started  time.Time

	gone     <-chan struct{} // closed when somebody has deleted the record
	stop     chan struct{}   // closed when somebody wants the end
	stopping sync.Once
	expired  bool // its time to live is over; of serve's goroutine

	mu      sync.Mutex
	record  Record
	running int
	working int           // operations that take a while, and connections from outside
	change  chan struct{} // closed when either changes
}

// known is the record as it is now.
func (k *keeper) known() Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.record
}

func (k *keeper) serve(ctx context.Context, s Store, ready func()) error {
	// The isolation is built for the first operation inside.
	if _, err := k.instance.Files().Stat(ctx, "/"); err != nil {
		return err
	}
	l, err := s.listen(k.known().ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	conns.Go(func() { k.accept(ctx, l, &conns) })
	k.log.Info("started", "backend", k.known().Backend, "pid", os.Getpid())
	ready()
	k.wait(ctx)
	cancel()
	err = errors.Join(l.Close(), os.Remove(filepath.Join(s.dir(k.known().ID), socketFile)))
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
			_ = session.Share(ctx, conn, session.Shared{Start: k.start, Busy: k.count, Dial: k.dial, Listen: k.listen, Operation: k.operate})
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
		busy, change := k.state()
		idle, life := k.timers(busy)
		select {
		case <-ctx.Done():
			return
		case <-k.gone:
			return
		case <-k.stop:
			return
		case <-ended:
			k.log.Warn("the sandbox ended by itself")
			return
		case <-change:
		case <-idle:
			k.log.Info("no command ran for " + k.known().Idle.String())
			k.expired = k.known().Spare != ""
			return
		case <-life:
			k.expired = true
			return
		}
	}
}

// timers are those that count while nothing runs.
func (k *keeper) timers(busy int) (idle, life <-chan time.Time) {
	if busy > 0 {
		return nil, nil
	}
	record := k.known()
	if d := time.Duration(record.Idle); d > 0 {
		idle = time.After(d)
	}
	if d := time.Duration(record.TTL); d > 0 {
		life = time.After(time.Until(record.Created.Add(d)))
	}
	return idle, life
}

func (k *keeper) state() (busy int, change <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.change == nil {
		k.change = make(chan struct{})
	}
	return k.running + k.working, k.change
}

// count notes that a command has begun or that its end has been told.
func (k *keeper) count(n int) { k.add(&k.running, n) }

func (k *keeper) add(to *int, n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	*to += n
	if k.change != nil {
		close(k.change)
		k.change = nil
	}
}

// start starts a command and logs it.
func (k *keeper) start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	p, err := k.begin(ctx, cmd, stdio)
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

func (k *keeper) operate(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error {
	switch name {
	case opStop:
		k.stopping.Do(func() { close(k.stop) })
		return nil
	case opStatus:
		return k.status(ctx, answer)
	case opAdopt:
		return k.adopt(arg)
	case opRefused:
		return k.refused.answer(arg, answer)
	}
	k.add(&k.working, 1)
	defer k.add(&k.working, -1)
	begin := time.Now()
	err := perform(ctx, k.instance, name, arg, answer)
	k.log.Info(name, "argument", string(arg), "error", err, "took", time.Since(begin).Round(time.Millisecond).String())
	return err
}

func (k *keeper) status(ctx context.Context, answer io.Writer) error {
	st, err := k.instance.Status(ctx)
	if err != nil {
		return err
	}
	st.Info = k.known().Info()
	k.mu.Lock()
	st.Running = k.running
	k.mu.Unlock()
	doc := status{Status: st, PID: os.Getpid(), Started: k.started, Refused: k.refused.count()}
	if l, ok := sandbox.As[sandbox.Limited](k.instance); ok {
		if doc.Limits, err = l.Limits(); err != nil {
			return err
		}
	}
	return json.NewEncoder(answer).Encode(doc)
}
