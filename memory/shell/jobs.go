package shell

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/job"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
)

// jobControl holds the processes that run beside the shell. The table is made when the first of them starts.
type jobControl struct {
	jobs *job.Table

	sh *interp // waits, and handles signals
}

// reap notes that the job has been waited for. The variables and descriptors of a coprocess go.
func (c *jobControl) reap(j *job.Job) {
	if !j.Waited && j.HasEnded() && j.ID > 0 {
		switch sig := j.Process.Signal; {
		case c.sh.isMonitoring() && !j.Reported && (sig == 0 || sig == signal.INT || sig == signal.PIPE || sig == signal.TERM):
			c.sh.errorRaw(j.Line(c.jobsOf().Live(), false))
		case sig != 0:
			c.sh.reportSignal(deadChild{sig, j.Process.PID}, strings.TrimSuffix(j.Text, " &"), false)
		}
	}
	j.Waited = true
	coprocess := j.Coprocess
	if coprocess == nil || !j.HasEnded() {
		return
	}
	j.Coprocess = nil
	for i, fd := range coprocess.Descriptors {
		if c.sh.fds.Get(fd) == coprocess.Ends[i] {
			_ = c.sh.setFd(fd, nil)
		}
	}
	c.sh.unsetVar(coprocess.Slot)
	c.sh.unsetVar(coprocess.PIDSlot)
}

// isJobsCommand reports whether a command is just jobs: in a pipeline or substitution it lists the parent's.
func isJobsCommand(cmd *syntax.Command) bool {
	s, ok := cmd.Body.(*syntax.Simple)
	return ok && len(s.Words) > 0 && s.Words[0].Text == "jobs"
}

// jobsOf returns the process's jobs, made when there are none.
func (c *jobControl) jobsOf() *job.Table {
	if c.jobs == nil {
		c.jobs = &job.Table{}
	}
	return c.jobs
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
		if sh.opt&option.Monitor == 0 && child.fds.Get(0) != nil {
			if d, err := child.openFile("/dev/null", 0); err == nil {
				_ = child.setFd(0, d)
			} else {
				_ = child.setFd(0, fd.NewText(""))
			}
		}
		if p, err := sh.launch(child, run, text(), true); err != nil {
			return sh.status
		} else if sh.opt&option.Interactive != 0 {
			sh.errorRaw("[" + strconv.Itoa(sh.jobs.Last().ID) + "] " + strconv.Itoa(p.PID) + "\n")
		}
		sh.status = 0
		return 0
	}
}

// waitFor waits until the process has ended: its status, or 128+n when the trapped signal n came.
func (c *jobControl) waitFor(p *process.Process) (st int, interrupted bool) {
	for {
		changes := (<-chan struct{})(p.Done)
		if c.sh.isMonitoring() {
			changes = c.sh.m.table.Changes()
		}
		if c.sh.opt&option.Posix != 0 && c.sh.p.Handled.Load()&c.sh.p.Pending.Load()&(1<<signal.CHLD) != 0 {
			return 128 + c.taken(1<<signal.CHLD), true
		}
		select {
		case <-p.Done:
			if c.sh.isMonitoring() { // The report on the job comes after the trap.
				c.sh.takeChildren()
			}
			return p.Status, false
		default:
		}
		if c.sh.isMonitoring() && p.IsStopped() {
			c.reportJobs()
			return 128 + signal.STOP, true
		}
		if sig := c.block(changes); sig != 0 {
			return 128 + sig, true
		}
		if c.sh.ctl != ctlNone {
			return c.sh.status, true
		}
	}
}

// block waits for done, the end of the process, or a signal that a trap takes, whose
// number it returns after the trap has run.
func (c *jobControl) block(done <-chan struct{}) (signal int) {
	wake := make(chan struct{}, 1)
	c.sh.p.Wake.Store(&wake)
	defer c.sh.p.Wake.Store(nil)
	if bits := c.sh.p.Pending.Load(); bits != 0 {
		return c.taken(bits)
	}
	c.sh.m.gate.Block()
	woken := false
	select {
	case <-done:
	case <-wake:
		woken = true
	case <-c.sh.ctx.Done():
	}
	c.sh.m.gate.Unblock(c.sh.ctx)
	if woken {
		return c.taken(c.sh.p.Pending.Load())
	}
	if c.sh.ctx.Err() != nil {
		c.sh.tickSlow()
	}
	return 0
}

// taken handles the pending signals and returns the first; that of a child ends no wait but in POSIX mode.
func (c *jobControl) taken(bits uint64) int {
	if c.sh.opt&option.Posix == 0 {
		bits &^= 1 << signal.CHLD
	}
	first := 0
	for n := 1; n <= signal.RTMAX && first == 0; n++ {
		if bits&(1<<(n&63)) != 0 {
			first = n
		}
	}
	c.sh.takeSignals()
	return first
}

// interruptible returns a context for a call that waits, which a trapped signal ends too.
func (s *processState) interruptible() (context.Context, func()) {
	if s.p.Handled.Load() == 0 {
		return s.ctx, func() {}
	}
	ctx, cancel := context.WithCancel(s.ctx)
	wake := make(chan struct{}, 1)
	s.p.Wake.Store(&wake)
	stop := make(chan struct{})
	if s.p.Pending.Load() != 0 {
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
		s.p.Wake.Store(nil)
		close(stop)
		cancel()
	}
}

func runJobsBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "lnprsx")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
	}
	jobs := sh.jobsOf().Live()
	if len(rest) > 0 {
		jobs = nil
		for _, spec := range rest {
			j, msg := sh.jobsOf().Find(spec)
			if j == nil {
				st = sh.fail("%s: %s", spec, msg)
				continue
			}
			jobs = append(jobs, j)
		}
	}
	var b strings.Builder
	all := sh.jobsOf().Live()
	for _, j := range jobs {
		ended, stopped := j.HasEnded(), j.IsStopped()
		if on['r'] && (ended || stopped) || on['s'] && !stopped {
			continue
		}
		if on['p'] {
			b.WriteString(strconv.Itoa(j.Process.PID) + "\n")
			continue
		}
		b.WriteString(j.Line(all, on['l']))
		if ended {
			j.Reported = true
			sh.reap(j)
		}
	}
	return max(st, 0, sh.outString(b.String()))
}

// jobArg returns the job that the operand names, the current one without.
func (c *jobControl) jobArg(args []string) *job.Job {
	spec := "%%"
	if len(args) > 0 {
		spec = args[0]
	}
	j, msg := c.jobsOf().Find(spec)
	if j == nil {
		if len(args) == 0 {
			spec = "current"
		}
		c.sh.fail("%s: %s", spec, msg)
	}
	return j
}

func runFgBuiltin(sh *interp, args []string) int {
	_, rest, st := sh.parseOptions(args, "-")
	if st >= 0 {
		return st
	}
	if sh.opt&option.Monitor == 0 {
		return sh.fail("no job control")
	}
	j := sh.jobArg(rest)
	if j == nil {
		return 1
	}
	sh.outString(strings.TrimSuffix(j.Text, " &") + "\n")
	j.Process.Resume()
	st, _ = sh.waitFor(j.Process)
	j.Reported = true
	sh.reap(j)
	return st
}

func runBgBuiltin(sh *interp, args []string) int {
	_, rest, st := sh.parseOptions(args, "-")
	if st >= 0 {
		return st
	}
	if sh.opt&option.Monitor == 0 {
		return sh.fail("no job control")
	}
	j := sh.jobArg(rest)
	if j == nil {
		return 1
	}
	if !j.IsStopped() {
		sh.fail("job %d already in background", j.ID)
		return 0
	}
	j.Process.Resume()
	return sh.outString(fmt.Sprintf("[%d]+ %s &\n", j.ID, strings.TrimSuffix(j.Text, " &")))
}

func runDisownBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "har")
	if st >= 0 {
		return st
	}
	t := sh.jobsOf()
	keep := false // -h: they stay; the machine sends no SIGHUP anyway
	for _, f := range list {
		keep = keep || f.c == 'h'
		if f.c == 'a' && len(rest) == 0 && !keep {
			t.Clear()
			return 0
		}
	}
	if len(rest) == 0 {
		rest = []string{"current"}
	}
	st = 0
	for _, spec := range rest {
		name := spec
		if spec == "current" {
			name = "%%"
		}
		j, msg := sh.jobsOf().Find(name)
		if j == nil {
			st = sh.fail("%s: %s", spec, msg)
			continue
		}
		if keep {
			continue
		}
		t.Remove(j)
	}
	return st
}

func runSuspendBuiltin(sh *interp, _ []string) int { return sh.fail("cannot suspend: no job control") }

// runWaitBuiltin waits for processes.
func runWaitBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "fnp:")
	if st >= 0 {
		return st
	}
	next, name := false, ""
	for _, f := range list {
		switch f.c {
		case 'n':
			next = true
		case 'p':
			name = f.arg
		}
	}
	if name != "" && isName(name) {
		sh.unsetVar(sh.slot(name))
	}
	if next {
		return sh.waitNext(rest, name)
	}
	if len(rest) == 0 {
		return sh.waitAllJobs()
	}
	for _, spec := range rest {
		if st = sh.waitOne(spec, name); sh.ctl != ctlNone {
			return sh.status
		}
	}
	return st
}

func (c *jobControl) waitOne(spec, name string) int {
	if !strings.HasPrefix(spec, "%") && !isDigits(spec) {
		c.sh.fail("`%s': not a pid or valid job spec", spec)
		return 1
	}
	j, msg := c.jobsOf().Find(spec)
	if j == nil {
		if isDigits(spec) {
			c.sh.fail("pid %s is not a child of this shell", spec)
		} else {
			c.sh.fail("%s: %s", spec, msg)
		}
		return 127
	}
	st, interrupted := c.waitFor(j.Process)
	if interrupted {
		return st
	}
	c.reap(j)
	if name != "" {
		c.sh.assignNamed(name, strconv.Itoa(j.Process.PID))
	}
	return st
}

// waitAllJobs waits for all jobs and forgets them.
func (c *jobControl) waitAllJobs() int {
	t := c.jobsOf()
	for _, j := range t.All() {
		if j.ID == 0 && j.Process.PID != c.sh.lastBg {
			continue // Of process substitutions only the last counts.
		}
		if st, interrupted := c.waitFor(j.Process); interrupted {
			return st
		}
		c.reap(j)
	}
	t.Clear()
	return 0
}

// waitNext is wait -n: the next one of the jobs that ends.
func (c *jobControl) waitNext(specs []string, name string) int {
	var jobs []*job.Job
	for _, j := range c.jobsOf().All() {
		if len(specs) == 0 && !j.Waited && j.ID > 0 {
			jobs = append(jobs, j)
		}
	}
	for _, s := range specs {
		if j, _ := c.jobsOf().Find(s); j != nil && !j.IsDone() {
			jobs = append(jobs, j)
		} else {
			c.sh.fail("%s: no such job", s)
		}
	}
	if len(jobs) == 0 {
		return 127
	}
	for {
		changes := c.sh.m.table.Changes()
		for _, j := range jobs {
			if j.HasEnded() {
				c.reap(j)
				if name != "" {
					c.sh.assignNamed(name, strconv.Itoa(j.Process.PID))
				}
				return j.Process.Status
			}
		}
		if sig := c.block(changes); sig != 0 {
			return 128 + sig
		}
		if c.sh.ctl != ctlNone {
			return c.sh.status
		}
	}
}

// runKillBuiltin sends signals.
func runKillBuiltin(sh *interp, args []string) int {
	if len(args) < 2 {
		return sh.usage(sh.usageText(), "")
	}
	sig := signal.TERM
	rest := args[1:]
	switch a := rest[0]; {
	case a == "--help":
		return sh.helpText(args[0])
	case a == "-l" || a == "-L":
		return listSignals(sh, rest[1:])
	case a == "-s" || a == "-n":
		if len(rest) < 2 {
			return sh.fail("%s: option requires an argument", a)
		}
		if sig = signal.Number(rest[1]); sig < 0 {
			return sh.fail("%s: invalid signal specification", rest[1])
		}
		rest = rest[2:]
	case a == "--":
		rest = rest[1:]
	case len(a) > 1 && a[0] == '-':
		if sig = signal.Number(a[1:]); sig < 0 {
			return sh.fail("%s: invalid signal specification", a[1:])
		}
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return sh.usage(sh.usageText(), "")
	}
	sent, st := false, 0
	for _, spec := range rest {
		if sh.killOne(spec, sig) {
			sent = true
		} else {
			st = 1
		}
	}
	if sent && len(rest) > 1 {
		st = 0
	}
	if sh.p.Attention.Load() {
		sh.tickSlow()
		if sh.ctl == ctlExit {
			return sh.status
		}
	}
	return st
}

func (c *jobControl) killOne(spec string, sig int) bool {
	if strings.HasPrefix(spec, "%") {
		j, msg := c.jobsOf().Find(spec)
		if j == nil {
			c.sh.fail("%s: %s", spec, msg)
			return false
		}
		j.Process.Send(sig)
		return true
	}
	pid, err := strconv.Atoi(spec)
	if err != nil {
		c.sh.fail("%s: arguments must be process or job IDs", spec)
		return false
	}
	if c.sh.m.table.Kill(c.sh.p, pid, sig) {
		return true
	}
	if pid > 0 {
		if j, _ := c.jobsOf().Find(spec); j != nil && !j.Waited && !j.Signaled {
			j.Signaled = true
			return true // It has ended, and the shell has not seen that yet.
		}
	}
	c.sh.errorf("%s: (%s) - No such process", c.sh.builtinName, spec)
	return false
}

// listSignals is kill -l.
func listSignals(sh *interp, specs []string) int {
	if len(specs) == 0 {
		return sh.outString(signal.Table())
	}
	st := 0
	for _, s := range specs {
		if n, err := strconv.Atoi(s); err == nil {
			if n > 128 {
				n -= 128
			}
			name := signal.Name(n)
			if name == "" || n < 0 {
				st = sh.fail("%s: invalid signal specification", s)
				continue
			}
			sh.outString(name + "\n")
			continue
		}
		n := signal.Number(s)
		if n < 0 {
			st = sh.fail("%s: invalid signal specification", s)
			continue
		}
		sh.outString(strconv.Itoa(n) + "\n")
	}
	return st
}

// foreground notes that n processes have ended for which the shell has waited; jobs that have ended meanwhile
// are forgotten.
func (c *jobControl) foreground(n int) {
	if c.jobs != nil && c.sh.opt&option.Interactive == 0 {
		for _, j := range c.jobsOf().Live() {
			if j.HasEnded() && j.Coprocess == nil {
				c.reap(j)
			}
		}
	}
	c.sh.waited(n)
}

// waited notes that n processes of this one have ended. A child that ends while the trap runs counts with the next
// one; while the words of a command are made, before the next command.
func (t *trapRun) waited(n int) {
	if !t.sh.ownProcess || t.traps.IsUnused() {
		return
	}
	if t.inChildTrap {
		t.childrenLater += int64(n)
		return
	}
	if t.sh.inWords == 0 {
		t.sh.p.ChildEnded(n)
		return
	}
	before := t.sh.p.Attention.Load()
	t.sh.p.ChildEnded(n)
	t.sh.p.Attention.Store(before)
}

// noticeSignals lets the next command see that children have ended while the words of the last one were made.
func (sh *interp) noticeSignals() {
	if !sh.traps.IsUnused() && sh.p.Pending.Load() != 0 {
		sh.p.Attention.Store(true)
	}
}

// runChildTrap runs the trap of SIGCHLD, once for each child that has ended.
func (t *trapRun) runChildTrap() {
	if t.inChildTrap {
		return
	}
	t.inChildTrap = true
	status := t.sh.status
	n := t.childrenLater
	t.childrenLater = 0
	for n += t.sh.p.Children.Swap(0); n > 0 && t.sh.ctl == ctlNone; n += t.sh.p.Children.Swap(0) {
		t.runTrap(signal.CHLD)
		n--
	}
	if t.sh.ctl == ctlExit { // An exit in it does not give the shell its status.
		t.sh.status = status
	}
	t.inChildTrap = false
}

// takeChildren runs the trap of SIGCHLD for the children that have ended.
func (t *trapRun) takeChildren() {
	const bit = 1 << signal.CHLD
	p := t.sh.p
	if t.sh.ownProcess && t.sh.ctl == ctlNone && p.Handled.Load()&bit != 0 && p.Pending.And(^uint64(bit))&bit != 0 {
		t.runChildTrap()
	}
}

// isMonitoring reports whether the shell reports its jobs between commands: set -m in a script.
func (ex *execution) isMonitoring() bool {
	return ex.opt&(option.Monitor|option.Interactive) == option.Monitor && ex.subshell == 0
}

// reportJobs reports jobs that have ended or stopped, under set -m.
func (c *jobControl) reportJobs() {
	if !c.sh.isMonitoring() || c.jobs == nil {
		return
	}
	for _, j := range c.jobsOf().Live() {
		switch {
		case j.HasEnded():
			c.reap(j)
		case !j.IsStopped():
			j.StopReported = false
		case !j.StopReported:
			j.StopReported = true
			c.sh.errorRaw("\n" + j.Line(c.jobsOf().Live(), false))
		}
	}
}
