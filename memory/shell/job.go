package shell

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// job is a process that the shell has started beside itself.
type job struct {
	id       int // of jobs and %n; 0: a process substitution, which has none
	p        *process.Process
	text     string
	told     bool // that it has ended
	stopTold bool // that it has stopped
	signaled bool // since it has ended
	waited   bool
	coproc   *coproc // nil for others
}

// coproc is what a coprocess has besides its process, which goes away with it.
type coproc struct {
	slot, pidSlot int
	fds           [2]int
	ends          [2]*fd.Description
}

// reap notes that the job has been waited for. The variables and descriptors of a coprocess go.
func (sh *interp) reap(j *job) {
	if !j.waited && j.ended() && j.id > 0 {
		switch sig := j.p.Signal; {
		case sh.monitored() && !j.told && (sig == 0 || sig == signal.INT || sig == signal.PIPE || sig == signal.TERM):
			sh.errorRaw(sh.jobLine(j, sh.liveJobs(), false))
		case sig != 0:
			sh.tellSignal(deadChild{sig, j.p.PID}, strings.TrimSuffix(j.text, " &"), false)
		}
	}
	j.waited = true
	c := j.coproc
	if c == nil || !j.ended() {
		return
	}
	j.coproc = nil
	for i, fd := range c.fds {
		if sh.fds.Get(fd) == c.ends[i] {
			_ = sh.setFd(fd, nil)
		}
	}
	sh.unsetVar(c.slot)
	sh.unsetVar(c.pidSlot)
}

// jobTable is the jobs of one process.
type jobTable struct {
	list []*job // the last one is the current
}

// snapshot returns the jobs as they are, for a child that only lists them.
func (t *jobTable) snapshot() *jobTable {
	if t == nil {
		return nil
	}
	s := &jobTable{}
	for _, j := range t.list {
		if j.id > 0 && !j.gone() && !j.told {
			k := *j
			s.list = append(s.list, &k)
		}
	}
	return s
}

// listsJobs tells whether a command is just jobs: in a pipeline or substitution it tells of the parent's.
func listsJobs(cmd *syntax.Command) bool {
	s, ok := cmd.Body.(*syntax.Simple)
	return ok && len(s.Words) > 0 && s.Words[0].Text == "jobs"
}

func (sh *interp) jobsOf() *jobTable {
	if sh.jobs == nil {
		sh.jobs = &jobTable{}
	}
	return sh.jobs
}

// addJob enters a job and gives it a number.
func (sh *interp) addJob(p *process.Process, text string) *job {
	t := sh.jobsOf()
	id := 1
	for _, j := range t.list {
		if j.id >= id && !j.gone() {
			id = j.id + 1
		}
	}
	t.prune()
	j := &job{id: id, p: p, text: text}
	t.list = append(t.list, j)
	return j
}

func (sh *interp) addProcSub(p *process.Process) {
	t := sh.jobsOf()
	t.prune()
	t.list = append(t.list, &job{p: p})
}

// maxRemembered is how many ended processes can still be waited for.
const maxRemembered = 1024

// prune forgets the oldest processes that have ended.
func (t *jobTable) prune() {
	if len(t.list) < maxRemembered {
		return
	}
	drop := len(t.list) - maxRemembered/2
	t.list = slices.DeleteFunc(t.list, func(j *job) bool {
		if drop > 0 && j.ended() {
			drop--
			return true
		}
		return false
	})
}

func (j *job) ended() bool {
	select {
	case <-j.p.Done:
		return true
	default:
		return false
	}
}

// gone tells whether the job has ended and been waited for.
func (j *job) gone() bool { return j.waited && j.ended() }

func (j *job) isStopped() bool {
	return j.p.IsStopped()
}

// background compiles a command ended by &.
func (c *compiler) background(it *syntax.Item, run command) command {
	text := func() string { return syntax.ItemText(it) }
	line := it.Line
	return func(sh *interp) int {
		if !sh.tick() {
			return sh.status
		}
		sh.line = line
		child := sh.fork(true)
		child.noErrExit = 0
		if sh.opt&optMonitor == 0 && child.fds.Get(0) != nil {
			if d, err := child.openFile("/dev/null", 0); err == nil {
				_ = child.setFd(0, d)
			} else {
				_ = child.setFd(0, fd.NewText(""))
			}
		}
		if p, err := sh.launch(child, run, text(), true); err != nil {
			return sh.status
		} else if sh.opt&optInteractive != 0 {
			sh.errorRaw("[" + strconv.Itoa(sh.jobs.list[len(sh.jobs.list)-1].id) + "] " + strconv.Itoa(p.PID) + "\n")
		}
		sh.status = 0
		return 0
	}
}

// findJob understands %1, %%, %+, %-, %name, %?text and pids.
func (sh *interp) findJob(spec string) (*job, string) {
	t := sh.jobsOf()
	var live []*job
	for _, j := range t.list {
		if j.id > 0 && !j.gone() {
			live = append(live, j)
		}
	}
	if !strings.HasPrefix(spec, "%") {
		if pid, err := strconv.Atoi(spec); err == nil {
			for _, j := range t.list {
				if j.p.PID == pid {
					return j, ""
				}
			}
		}
		return nil, "no such job"
	}
	s := spec[1:]
	switch s {
	case "", "%", "+":
		if len(live) > 0 {
			return live[len(live)-1], ""
		}
		return nil, "no such job"
	case "-":
		if len(live) > 1 {
			return live[len(live)-2], ""
		}
		if len(live) == 1 {
			return live[0], ""
		}
		return nil, "no such job"
	}
	if id, err := strconv.Atoi(s); err == nil {
		for _, j := range live {
			if j.id == id {
				return j, ""
			}
		}
		return nil, "no such job"
	}
	var found *job
	sub, anywhere := strings.CutPrefix(s, "?")
	for _, j := range live {
		if anywhere && strings.Contains(j.text, sub) || !anywhere && strings.HasPrefix(j.text, s) {
			if found != nil {
				return nil, "ambiguous job spec"
			}
			found = j
		}
	}
	if found == nil {
		return nil, "no such job"
	}
	return found, ""
}

// waitFor waits until the process has ended: its status, or 128+n when the trapped signal n came.
func (sh *interp) waitFor(p *process.Process) (st int, interrupted bool) {
	for {
		changes := (<-chan struct{})(p.Done)
		if sh.monitored() {
			changes = sh.m.table.Changes()
		}
		if sh.opt&optPosix != 0 && sh.p.Handled.Load()&sh.p.Pending.Load()&(1<<signal.CHLD) != 0 {
			return 128 + sh.taken(1<<signal.CHLD), true
		}
		select {
		case <-p.Done:
			if sh.monitored() { // What it tells of itself comes behind the trap.
				sh.takeChildren()
			}
			return p.Status, false
		default:
		}
		if sh.monitored() && p.IsStopped() {
			sh.tellJobs()
			return 128 + signal.STOP, true
		}
		if sig := sh.block(changes); sig != 0 {
			return 128 + sig, true
		}
		if sh.ctl != ctlNone {
			return sh.status, true
		}
	}
}

// block waits for done, the end of the process, or a signal that a trap takes, whose
// number it returns after the trap has run.
func (sh *interp) block(done <-chan struct{}) (signal int) {
	wake := make(chan struct{}, 1)
	sh.p.Wake.Store(&wake)
	defer sh.p.Wake.Store(nil)
	if bits := sh.p.Pending.Load(); bits != 0 {
		return sh.taken(bits)
	}
	select {
	case <-done:
	case <-wake:
		return sh.taken(sh.p.Pending.Load())
	case <-sh.ctx.Done():
		sh.tickSlow()
	}
	return 0
}

// taken handles the pending signals and returns the first; that of a child ends no wait but in POSIX mode.
func (sh *interp) taken(bits uint64) int {
	if sh.opt&optPosix == 0 {
		bits &^= 1 << signal.CHLD
	}
	first := 0
	for n := 1; n <= signal.RTMAX && first == 0; n++ {
		if bits&(1<<(n&63)) != 0 {
			first = n
		}
	}
	sh.takeSignals()
	return first
}

// interruptible returns a context for a call that waits, which a trapped signal ends too.
func (sh *interp) interruptible() (context.Context, func()) {
	if sh.p.Handled.Load() == 0 {
		return sh.ctx, func() {}
	}
	ctx, cancel := context.WithCancel(sh.ctx)
	wake := make(chan struct{}, 1)
	sh.p.Wake.Store(&wake)
	stop := make(chan struct{})
	if sh.p.Pending.Load() != 0 {
		cancel()
	}
	go func() {
		select {
		case <-wake:
			cancel()
		case <-stop:
		}
	}()
	return ctx, func() {
		sh.p.Wake.Store(nil)
		close(stop)
		cancel()
	}
}
