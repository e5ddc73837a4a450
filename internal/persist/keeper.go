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
	Refused uint64         `json:"refused"`          // the number of denials so far
	Undial  *saidError     `json:"undial,omitempty"` // why ports inside cannot be reached; nil: they can
}

// Ender is implemented by instances that can end without a call of Close.
type Ender interface {
	// Ended returns a channel that is closed when no process of the sandbox runs any more.
	Ended() <-chan struct{}
}

// Holding contains the arguments of a keeper.
type Holding struct {
	Driver  sandbox.Driver // creates the sandbox
	Env     []string       // the environment, which the policy filters
	Log     *slog.Logger   // receives events
	Refused *Refused       // the driver's denials; nil: they are not recorded
	Ready   func()         // called when the sandbox runs
}

// Keep is the main function of a keeper, whose process must exit when it returns. It starts the sandbox called name and
// serves it until ctx ends, the sandbox ends, a client stops it, or its time to live is over.
func (s Store) Keep(ctx context.Context, name string, h Holding) error {
	held, err := s.inherit(name)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(held) // never released: it shows that this process lives
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
		h.Log.Warn("destroyed: its record was deleted", "error", err)
		return errors.Join(s.removeDeleted(k.currentRecord(), held), sweep(ctx, h.Driver))
	case err == nil && k.expired:
		h.Log.Info("destroyed: its time to live is over")
		return errors.Join(s.remove(k.currentRecord().ID), sweep(ctx, h.Driver))
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

// keeper holds a running sandbox.
type keeper struct {
	store    Store
	instance sandbox.Instance
	begin    files.StartFunc // Start of the instance, which also serves its files
	log      *slog.Logger
	refused  *Refused
	started  time.Time

	gone     <-chan struct{} // closed when the record was deleted
	stop     chan struct{}   // closed when a client stops the sandbox
	stopping sync.Once
	expired  bool // its time to live is over; only serve's goroutine uses it

	mu      sync.Mutex
	record  Record
	running int
	working int           // operations that take a while, and connections from outside
	change  chan struct{} // closed when either changes
}

// currentRecord returns the record as it is now.
func (k *keeper) currentRecord() Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.record
}

func (k *keeper) serve(ctx context.Context, s Store, ready func()) error {
	// The driver builds the isolation for the first operation inside.
	if _, err := k.instance.Files().Stat(ctx, "/"); err != nil {
		return err
	}
	l, err := s.listen(k.currentRecord().ID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	conns.Go(func() { k.accept(ctx, l, &conns) })
	k.log.Info("started", "backend", k.currentRecord().Backend, "pid", os.Getpid())
	ready()
	k.wait(ctx)
	cancel()
	err = errors.Join(l.Close(), os.Remove(filepath.Join(s.dir(k.currentRecord().ID), socketFile)))
	conns.Wait()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has removed it
	}
	return err
}

func (k *keeper) accept(ctx context.Context, l *net.UnixListener, conns *sync.WaitGroup) {
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return
		}
		if !isSameUser(conn) {
			_ = conn.Close()
			continue
		}
		conns.Go(func() { // a client of another protocol gets no answer
			_ = session.Share(ctx, conn, session.Shared{Start: k.start, Busy: k.count, Dial: k.dial, Listen: k.listen, Operation: k.operate})
		})
	}
}

// wait returns when the sandbox must end.
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
			k.awaitReports()
			return
		case <-change:
		case <-idle:
			k.log.Info("no command ran for " + k.currentRecord().Idle.String())
			k.expired = k.currentRecord().Spare != ""
			return
		case <-life:
			k.expired = true
			return
		}
	}
}

// reportTime bounds the wait for clients to learn why a sandbox has ended.
const reportTime = 10 * time.Second

// awaitReports waits until the clients have received the ends of their commands, which have ended with the sandbox.
func (k *keeper) awaitReports() {
	late := time.After(reportTime)
	for {
		_, change := k.state()
		k.mu.Lock()
		running := k.running
		k.mu.Unlock()
		if running == 0 {
			return
		}
		select {
		case <-change:
		case <-late:
			return
		}
	}
}

// timers returns the timers that run while no command runs; nil: none.
func (k *keeper) timers(busy int) (idle, life <-chan time.Time) {
	if busy > 0 {
		return nil, nil
	}
	record := k.currentRecord()
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

// count records the begin of a command, or that its end was reported.
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
	k.log.Info("command", "args", loggedArgs(cmd.Args))
	return &logged{Process: p, log: k.log, begin: time.Now()}, nil
}

// logged is a command with a log entry for its end.
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

// Resize sets the size of the command's terminal.
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
	err := Perform(ctx, k.instance, name, arg, answer)
	k.log.Info(name, "argument", string(arg), "error", err, "took", time.Since(begin).Round(time.Millisecond).String())
	return err
}

func (k *keeper) status(ctx context.Context, answer io.Writer) error {
	st, err := k.instance.Status(ctx)
	if err != nil {
		return err
	}
	st.Info = k.currentRecord().Info()
	k.mu.Lock()
	st.Running = k.running
	k.mu.Unlock()
	doc := status{Status: st, PID: os.Getpid(), Started: k.started, Refused: k.refused.count()}
	if err := CheckDial(k.instance); err != nil {
		doc.Undial = sayError(err)
	}
	if l, ok := sandbox.As[sandbox.Limited](k.instance); ok {
		if doc.Limits, err = l.Limits(); err != nil {
			return err
		}
	}
	return json.NewEncoder(answer).Encode(doc)
}
