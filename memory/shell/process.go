package shell

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// process is an entry of the process table: what others can see and signal.
type process struct {
	m       *machine
	pid     int
	ppid    int
	pgid    int
	name    string
	ctx     context.Context //nolint:containedctx // Signals end it.
	cancel  context.CancelCauseFunc
	parent  *process
	done    chan struct{} // closed at the end; nil for a process that nobody waits for
	status  int           // valid when done
	signal  int           // what ended it, 0: nothing did; valid when done
	ended   bool          // under m.mu
	stopped bool          // under m.mu

	attention atomic.Bool   // something below wants to be looked at
	pending   atomic.Uint64 // bits of signals
	handled   atomic.Uint64 // bits of signals that a trap takes
	ignored   atomic.Uint64 // bits of signals that do nothing
	soft      atomic.Bool   // there is an EXIT trap to run before it dies
	wake      atomic.Pointer[chan struct{}]

	tells    *process     // the shell that is told when this ends or stops; nil: none
	children atomic.Int64 // that have ended, for the trap of SIGCHLD
	monitors atomic.Bool  // a shell that tells of its jobs

	// What others see in /proc.
	began int64 // in ticks since the machine began
	dir   atomic.Pointer[string]
	table atomic.Pointer[fdTable]
}

// show tells others what the process is: what it was started as, where it works, what it has open.
func (sh *interp) show(name string) {
	sh.p.m.mu.Lock()
	sh.p.name = name
	sh.p.m.mu.Unlock()
	sh.showDir()
	sh.showFds()
}

func (sh *interp) showDir() {
	if sh.ownProcess {
		dir := sh.dir
		sh.p.dir.Store(&dir)
	}
}

// newProcess enters a process into the table. EAGAIN when it is full, or when the parent was killed: who
// kills all that are in the table has killed all there will be.
func (m *machine) newProcess(ctx context.Context, parent *process) (*process, error) {
	p := &process{m: m, parent: parent, done: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.live+len(m.procs) >= m.limits.Processes || parent != nil && killSignal(parent.ctx) == signal.KILL {
		p.cancel(nil)
		return nil, syscall.EAGAIN
	}
	if parent != nil {
		p.ppid, p.pgid, p.name = parent.pid, parent.pgid, parent.name
		p.ignored.Store(parent.ignored.Load())
	}
	p.began = int64(m.age() / (10 * time.Millisecond))
	m.lastPID++
	for m.procs[m.lastPID] != nil || m.lastPID <= 1 {
		if m.lastPID++; m.lastPID > maxPID {
			m.lastPID = 2
		}
	}
	p.pid = m.lastPID
	if p.pgid == 0 {
		p.pgid = p.pid
	}
	m.procs[p.pid] = p
	return p, nil
}

const maxPID = 4194304

// end takes the process out of the table and tells who waits.
func (p *process) end(status int) {
	p.m.mu.Lock()
	p.status, p.ended = status, true
	delete(p.m.procs, p.pid)
	p.m.mu.Unlock()
	p.cancel(nil)
	if p.tells != nil {
		p.tells.childEnded(1)
	}
	close(p.done)
	p.m.changed()
}

// changed wakes all who wait for a process.
func (m *machine) changed() {
	m.mu.Lock()
	close(m.change)
	m.change = make(chan struct{})
	m.mu.Unlock()
}

// changes returns a channel that is closed when a process next ends, stops or gets a signal.
func (m *machine) changes() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.change
}

// find returns a living process.
func (m *machine) find(pid int) *process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.procs[pid]
}

// group returns the processes of a process group.
func (m *machine) group(pgid int) []*process {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*process
	for _, p := range m.procs {
		if p.pgid == pgid {
			list = append(list, p)
		}
	}
	return list
}

// kill sends a signal as kill(2) does: to a process, or to from's group (0), a group (-n) or everyone but
// from (-1). False: there was nobody.
func (m *machine) kill(from *process, pid, sig int) bool {
	var list []*process
	switch {
	case pid == -1:
		return m.killOthers(from, sig)
	case pid < 0:
		list = m.group(-pid)
	case pid == 0:
		list = m.group(from.pgid)
	default:
		if p := m.find(pid); p != nil {
			list = []*process{p}
		}
	}
	for _, p := range list {
		p.send(sig)
	}
	return len(list) > 0
}

// killOthers leaves nobody out: those that start meanwhile get the signal too, until none starts any more.
func (m *machine) killOthers(from *process, sig int) bool {
	told := map[*process]bool{from: true}
	for {
		var list []*process
		m.mu.Lock()
		for _, p := range m.procs {
			if !told[p] {
				list = append(list, p)
			}
		}
		m.mu.Unlock()
		if len(list) == 0 || sig != signal.KILL && len(told) > 1 {
			return len(told) > 1
		}
		for _, p := range list {
			told[p] = true
			p.send(sig)
		}
	}
}

// stop ends the run: no script survives it.
func (m *machine) stop(why error) {
	m.mu.Lock()
	cancel := m.cancel
	m.mu.Unlock()
	if cancel != nil {
		cancel(why)
	}
}

// process gives the process a place of its own in the table, when it still uses its parent's.
func (sh *interp) process() *process {
	if sh.ownProcess {
		return sh.p
	}
	sh.ownProcess = true
	p, err := sh.m.newProcess(sh.ctx, sh.p)
	if err != nil { // The table is full: it goes on under the parent's number.
		return sh.p
	}
	sh.ownedEnd = true
	sh.p, sh.ctx = p, p.ctx
	sh.showDir()
	sh.showFds()
	return p
}

// killSignal returns the signal that ended the context, 0 when it was none.
func killSignal(ctx context.Context) syscall.Signal {
	if k, ok := errors.AsType[*killed](context.Cause(ctx)); ok {
		return k.signal
	}
	return 0
}

// restart gives the first shell of a machine the context of its next script.
func (p *process) restart(ctx context.Context) {
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.pending.Store(0)
	p.attention.Store(false)
}

// info describes the process; the caller holds m.mu.
func (p *process) info() ProcessInfo { return ProcessInfo{p.pid, p.ppid, p.pgid, p.name, p.stopped} }

func (m *machine) about(p *process) ProcessInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	return p.info()
}

// processes returns the table, by number.
func (m *machine) processes() []ProcessInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]ProcessInfo, 0, len(m.procs))
	for _, p := range m.procs {
		list = append(list, p.info())
	}
	slices.SortFunc(list, func(a, b ProcessInfo) int { return a.PID - b.PID })
	return list
}
