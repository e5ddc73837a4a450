// Package process is the process table of a machine in memory: numbers, groups and signals.
package process

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// Process is an entry of the table: what other processes can see and signal. Its owner is the goroutine that runs it.
type Process struct {
	PID  int
	PPID int
	PGID int

	Ctx    context.Context //nolint:containedctx // Signals end it.
	Done   chan struct{}   // closed at the end
	Status int             // valid when done
	Signal int             // the signal that ended it, 0 for none; valid when done
	Began  int64           // in ticks of the table's clock

	// Attention is set when the owner has to look at signals, children or its state.
	Attention atomic.Bool
	Pending   atomic.Uint64 // bits of signals that have come
	Handled   atomic.Uint64 // bits of signals that a trap takes
	Ignored   atomic.Uint64 // bits of signals that do nothing
	Soft      atomic.Bool   // there is an EXIT trap to run before it dies
	// Wake is a channel of size 1 on which a signal that a trap takes sends; nil: the owner does not wait.
	Wake atomic.Pointer[chan struct{}]

	Parent   *Process     // the shell that hears of the end of this and of stops; nil: none. Set before it runs.
	Children atomic.Int64 // that have ended, for the trap of SIGCHLD
	Monitors atomic.Bool  // it is a shell that prints changes of its jobs

	Dir atomic.Pointer[string]   // the working directory; nil: unknown
	Fds atomic.Pointer[fd.Table] // nil: unknown

	table   *Table
	cancel  context.CancelCauseFunc
	name    string // under table.mu, as what follows
	ended   bool
	stopped bool
}

// Info describes a process.
type Info struct {
	PID, PPID, PGID int
	Command         string
	Stopped         bool
}

// killed is the cause of a context that a signal ended.
type killed struct{ signal syscall.Signal }

func (k *killed) Error() string { return "killed by signal " + k.signal.String() }

// KillSignal returns the signal inside an error that ended a process's context, 0 for another error.
func KillSignal(err error) syscall.Signal {
	if k, ok := errors.AsType[*killed](err); ok {
		return k.signal
	}
	return 0
}

// Table is the processes of a machine. It is safe for concurrent use.
type Table struct {
	limit int
	ticks func() int64

	mu      sync.Mutex
	unnamed int // processes without an entry in procs
	procs   map[int]*Process
	lastPID int
	change  chan struct{} // closed when a process ends, stops or gets a signal
}

// NewTable returns an empty table for at most limit processes. Numbers go on behind lastPID; ticks is the clock.
func NewTable(limit, lastPID int, ticks func() int64) *Table {
	return &Table{limit: limit, lastPID: lastPID, ticks: ticks, procs: map[int]*Process{}, change: make(chan struct{})}
}

// Outside returns a process that is in no table. It can be used like others, and none finds it.
func (t *Table) Outside(ctx context.Context) *Process {
	p := &Process{table: t, PID: 2, PGID: 2, Done: make(chan struct{})}
	p.Ctx, p.cancel = context.WithCancelCause(ctx)
	return p
}

// Enter counts a process without a number, which Leave ends. EAGAIN: the table is full.
func (t *Table) Enter() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unnamed+len(t.procs) >= t.limit {
		return syscall.EAGAIN
	}
	t.unnamed++
	return nil
}

// Leave undoes Enter.
func (t *Table) Leave() {
	t.mu.Lock()
	t.unnamed--
	t.mu.Unlock()
}

// IsIdle reports whether there is at most one process.
func (t *Table) IsIdle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.procs) <= 1 && t.unnamed == 0
}

// IsDying reports whether a process other than first still has to end after its context did.
func (t *Table) IsDying(first *Process) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.procs {
		if p != first && p.Ctx.Err() != nil {
			return true
		}
	}
	return false
}

// Load returns how many processes are not stopped, how many there are, and the last number that was given.
func (t *Table) Load() (running, all, lastPID int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.procs {
		if !p.stopped {
			running++
		}
	}
	return running, len(t.procs), t.lastPID
}

// SetName sets the command that others see.
func (p *Process) SetName(name string) {
	p.table.mu.Lock()
	p.name = name
	p.table.mu.Unlock()
}

// Start enters a process into the table, which the caller runs and ends with End. parent may be nil. EAGAIN: the
// table is full, or the parent was killed: a kill of all processes in the table must leave none.
func (t *Table) Start(ctx context.Context, parent *Process) (*Process, error) {
	p := &Process{table: t, Done: make(chan struct{})}
	p.Ctx, p.cancel = context.WithCancelCause(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.unnamed+len(t.procs) >= t.limit || parent != nil && KillSignal(context.Cause(parent.Ctx)) == signal.KILL {
		p.cancel(nil)
		return nil, syscall.EAGAIN
	}
	if parent != nil {
		p.PPID, p.PGID, p.name = parent.PID, parent.PGID, parent.name
		p.Ignored.Store(parent.Ignored.Load())
	}
	p.Began = t.ticks()
	t.lastPID++
	for t.procs[t.lastPID] != nil || t.lastPID <= 1 {
		if t.lastPID++; t.lastPID > MaxPID {
			t.lastPID = 2
		}
	}
	p.PID = t.lastPID
	if p.PGID == 0 {
		p.PGID = p.PID
	}
	t.procs[p.PID] = p
	return p, nil
}

// MaxPID is the highest number of a process.
const MaxPID = 4194304

// End takes the process out of the table and wakes the processes that wait for it.
func (p *Process) End(status int) {
	p.table.mu.Lock()
	p.Status, p.ended = status, true
	delete(p.table.procs, p.PID)
	p.table.mu.Unlock()
	p.cancel(nil)
	if p.Parent != nil {
		p.Parent.ChildEnded(1)
	}
	close(p.Done)
	p.table.changed()
}

// changed wakes all that wait for Changes.
func (t *Table) changed() {
	t.mu.Lock()
	close(t.change)
	t.change = make(chan struct{})
	t.mu.Unlock()
}

// Changes returns a channel that is closed when a process next ends, stops or gets a signal.
func (t *Table) Changes() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.change
}

// Alert makes the owners of all processes look at their state.
func (t *Table) Alert() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.procs {
		p.Attention.Store(true)
	}
}

// Find returns the process with a number, nil for none.
func (t *Table) Find(pid int) *Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.procs[pid]
}

// Group returns the processes of a process group.
func (t *Table) Group(pgid int) []*Process {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []*Process
	for _, p := range t.procs {
		if p.PGID == pgid {
			list = append(list, p)
		}
	}
	return list
}

// Kill sends a signal as kill(2) does: to a process, to the group of from (0), to a group (-n) or to all but
// from (-1). False: there was no such process.
func (t *Table) Kill(from *Process, pid, sig int) bool {
	var list []*Process
	switch {
	case pid == -1:
		return t.killOthers(from, sig)
	case pid < 0:
		list = t.Group(-pid)
	case pid == 0:
		list = t.Group(from.PGID)
	default:
		if p := t.Find(pid); p != nil {
			list = []*Process{p}
		}
	}
	for _, p := range list {
		p.Send(sig)
	}
	return len(list) > 0
}

// killOthers signals all processes but from. Those that start meanwhile get SIGKILL too, until none starts any more.
func (t *Table) killOthers(from *Process, sig int) bool {
	told := map[*Process]bool{from: true}
	for {
		var list []*Process
		t.mu.Lock()
		for _, p := range t.procs {
			if !told[p] {
				list = append(list, p)
			}
		}
		t.mu.Unlock()
		if len(list) == 0 || sig != signal.KILL && len(told) > 1 {
			return len(told) > 1
		}
		for _, p := range list {
			told[p] = true
			p.Send(sig)
		}
	}
}

// Restart gives a process that has not ended a new context, and no signals.
func (p *Process) Restart(ctx context.Context) {
	p.Ctx, p.cancel = context.WithCancelCause(ctx)
	p.Pending.Store(0)
	p.Attention.Store(false)
}

// info describes the process; the caller holds t.mu.
func (p *Process) info() Info { return Info{p.PID, p.PPID, p.PGID, p.name, p.stopped} }

// About describes a process.
func (t *Table) About(p *Process) Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.info()
}

// List describes all processes, by number.
func (t *Table) List() []Info {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]Info, 0, len(t.procs))
	for _, p := range t.procs {
		list = append(list, p.info())
	}
	slices.SortFunc(list, func(a, b Info) int { return a.PID - b.PID })
	return list
}

// Send delivers a signal to the process: one that a trap takes waits for the owner,
// the others end the process, stop it or do nothing.
func (p *Process) Send(n int) {
	if n == 0 {
		return
	}
	bit := uint64(1) << (n & 63)
	switch n {
	case signal.CONT:
		p.Resume()
	case signal.KILL:
		p.Resume()
		p.Pending.Or(bit)
		p.Attention.Store(true)
		p.cancel(&killed{syscall.Signal(n)})
		p.table.changed()
		return
	case signal.STOP:
		p.halt()
		return
	}
	switch {
	case p.Ignored.Load()&bit != 0:
		return
	case n == signal.CHLD: // The trap counts children; there is none.
		return
	case p.Handled.Load()&bit != 0, p.Soft.Load() && n < signal.CHLD:
		p.Pending.Or(bit)
		p.Attention.Store(true)
		if w := p.Wake.Load(); w != nil {
			select {
			case *w <- struct{}{}:
			default:
			}
		}
	case n == signal.CONT, n == signal.URG, n == signal.WINCH:
		return
	case n == signal.TSTP, n == signal.TTIN, n == signal.TTOU:
		p.halt()
		return
	default:
		p.Pending.Or(bit)
		p.Attention.Store(true)
		p.cancel(&killed{syscall.Signal(n)})
	}
	p.table.changed()
}

// halt stops the process at its next command or turn of a loop.
func (p *Process) halt() {
	p.table.mu.Lock()
	p.stopped = true
	p.table.mu.Unlock()
	p.Attention.Store(true)
	if p.Parent != nil {
		p.Parent.ChildEnded(0)
	}
	p.table.changed()
}

// Resume lets a stopped process go on.
func (p *Process) Resume() {
	p.table.mu.Lock()
	p.stopped = false
	p.table.mu.Unlock()
	p.table.changed()
}

// IsStopped reports whether the process is stopped.
func (p *Process) IsStopped() bool {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	return p.stopped
}

// ChildEnded notes for the shell p that n of its children have ended, or with 0 that one has stopped.
func (p *Process) ChildEnded(n int) {
	if p.Handled.Load()&(1<<signal.CHLD) != 0 && n > 0 {
		p.Children.Add(int64(n))
		p.Pending.Or(1 << signal.CHLD)
		p.Attention.Store(true)
		if w := p.Wake.Load(); w != nil {
			select {
			case *w <- struct{}{}:
			default:
			}
		}
	}
	if p.Monitors.Load() {
		p.Attention.Store(true)
	}
}
