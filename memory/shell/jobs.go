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

// reap notes that the job has been waited for. The variables and descriptors of a coprocess go.
func (sh *interp) reap(j *job.Job) {
	if !j.Waited && j.HasEnded() && j.ID > 0 {
		switch sig := j.Process.Signal; {
		case sh.isMonitoring() && !j.Reported && (sig == 0 || sig == signal.INT || sig == signal.PIPE || sig == signal.TERM):
			sh.errorRaw(j.Line(sh.jobsOf().Live(), false))
		case sig != 0:
			sh.reportSignal(deadChild{sig, j.Process.PID}, strings.TrimSuffix(j.Text, " &"), false)
		}
	}
	j.Waited = true
	c := j.Coprocess
	if c == nil || !j.HasEnded() {
		return
	}
	j.Coprocess = nil
	for i, fd := range c.Descriptors {
		if sh.fds.Get(fd) == c.Ends[i] {
			_ = sh.setFd(fd, nil)
		}
	}
	sh.unsetVar(c.Slot)
	sh.unsetVar(c.PIDSlot)
}

// listsJobs reports whether a command is just jobs: in a pipeline or substitution it lists the parent's.
func listsJobs(cmd *syntax.Command) bool {
	s, ok := cmd.Body.(*syntax.Simple)
	return ok && len(s.Words) > 0 && s.Words[0].Text == "jobs"
}

// jobsOf returns the process's jobs, made when there are none.
func (sh *interp) jobsOf() *job.Table {
	if sh.jobs == nil {
		sh.jobs = &job.Table{}
	}
	return sh.jobs
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
func (sh *interp) waitFor(p *process.Process) (st int, interrupted bool) {
	for {
		changes := (<-chan struct{})(p.Done)
		if sh.isMonitoring() {
			changes = sh.m.table.Changes()
		}
		if sh.opt&option.Posix != 0 && sh.p.Handled.Load()&sh.p.Pending.Load()&(1<<signal.CHLD) != 0 {
			return 128 + sh.taken(1<<signal.CHLD), true
		}
		select {
		case <-p.Done:
			if sh.isMonitoring() { // The report on the job comes after the trap.
				sh.takeChildren()
			}
			return p.Status, false
		default:
		}
		if sh.isMonitoring() && p.IsStopped() {
			sh.reportJobs()
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
	if sh.opt&option.Posix == 0 {
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
func (ex *execution) interruptible() (context.Context, func()) {
	if ex.p.Handled.Load() == 0 {
		return ex.ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ex.ctx)
	wake := make(chan struct{}, 1)
	ex.p.Wake.Store(&wake)
	stop := make(chan struct{})
	if ex.p.Pending.Load() != 0 {
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
		ex.p.Wake.Store(nil)
		close(stop)
		cancel()
	}
}

func (sh *interp) jobsBuiltin(args []string) int {
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
func (sh *interp) jobArg(args []string) *job.Job {
	spec := "%%"
	if len(args) > 0 {
		spec = args[0]
	}
	j, msg := sh.jobsOf().Find(spec)
	if j == nil {
		if len(args) == 0 {
			spec = "current"
		}
		sh.fail("%s: %s", spec, msg)
	}
	return j
}

func (sh *interp) fg(args []string) int {
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

func (sh *interp) bg(args []string) int {
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

func (sh *interp) disown(args []string) int {
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

func (sh *interp) suspend([]string) int { return sh.fail("cannot suspend: no job control") }

// waitBuiltin waits for processes.
func (sh *interp) waitBuiltin(args []string) int {
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

func (sh *interp) waitOne(spec, name string) int {
	if !strings.HasPrefix(spec, "%") && !isDigits(spec) {
		sh.fail("`%s': not a pid or valid job spec", spec)
		return 1
	}
	j, msg := sh.jobsOf().Find(spec)
	if j == nil {
		if isDigits(spec) {
			sh.fail("pid %s is not a child of this shell", spec)
		} else {
			sh.fail("%s: %s", spec, msg)
		}
		return 127
	}
	st, interrupted := sh.waitFor(j.Process)
	if interrupted {
		return st
	}
	sh.reap(j)
	if name != "" {
		sh.assignNamed(name, strconv.Itoa(j.Process.PID))
	}
	return st
}

// waitAllJobs waits for all jobs and forgets them.
func (sh *interp) waitAllJobs() int {
	t := sh.jobsOf()
	for _, j := range t.All() {
		if j.ID == 0 && j.Process.PID != sh.lastBg {
			continue // Of process substitutions only the last counts.
		}
		if st, interrupted := sh.waitFor(j.Process); interrupted {
			return st
		}
		sh.reap(j)
	}
	t.Clear()
	return 0
}

// waitNext is wait -n: the next one of the jobs that ends.
func (sh *interp) waitNext(specs []string, name string) int {
	var jobs []*job.Job
	for _, j := range sh.jobsOf().All() {
		if len(specs) == 0 && !j.Waited && j.ID > 0 {
			jobs = append(jobs, j)
		}
	}
	for _, s := range specs {
		if j, _ := sh.jobsOf().Find(s); j != nil && !j.IsDone() {
			jobs = append(jobs, j)
		} else {
			sh.fail("%s: no such job", s)
		}
	}
	if len(jobs) == 0 {
		return 127
	}
	for {
		changes := sh.m.table.Changes()
		for _, j := range jobs {
			if j.HasEnded() {
				sh.reap(j)
				if name != "" {
					sh.assignNamed(name, strconv.Itoa(j.Process.PID))
				}
				return j.Process.Status
			}
		}
		if sig := sh.block(changes); sig != 0 {
			return 128 + sig
		}
		if sh.ctl != ctlNone {
			return sh.status
		}
	}
}

// kill sends signals.
func (sh *interp) kill(args []string) int {
	if len(args) < 2 {
		return sh.usage(sh.usageText(), "")
	}
	sig := signal.TERM
	rest := args[1:]
	switch a := rest[0]; {
	case a == "--help":
		return sh.helpText(args[0])
	case a == "-l" || a == "-L":
		return sh.killList(rest[1:])
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

func (sh *interp) killOne(spec string, sig int) bool {
	if strings.HasPrefix(spec, "%") {
		j, msg := sh.jobsOf().Find(spec)
		if j == nil {
			sh.fail("%s: %s", spec, msg)
			return false
		}
		j.Process.Send(sig)
		return true
	}
	pid, err := strconv.Atoi(spec)
	if err != nil {
		sh.fail("%s: arguments must be process or job IDs", spec)
		return false
	}
	if sh.m.table.Kill(sh.p, pid, sig) {
		return true
	}
	if pid > 0 {
		if j, _ := sh.jobsOf().Find(spec); j != nil && !j.Waited && !j.Signaled {
			j.Signaled = true
			return true // It has ended, and the shell has not seen that yet.
		}
	}
	sh.errorf("%s: (%s) - No such process", sh.builtinName, spec)
	return false
}

// killList is kill -l.
func (sh *interp) killList(specs []string) int {
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
func (sh *interp) foreground(n int) {
	if sh.jobs != nil && sh.opt&option.Interactive == 0 {
		for _, j := range sh.jobsOf().Live() {
			if j.HasEnded() && j.Coprocess == nil {
				sh.reap(j)
			}
		}
	}
	sh.waited(n)
}

// waited notes that n processes of this one have ended. A child that ends while the trap runs counts with the next
// one; while the words of a command are made, before the next command.
func (sh *interp) waited(n int) {
	if !sh.ownProcess || sh.traps.IsUnused() {
		return
	}
	if sh.inChildTrap {
		sh.childrenLater += int64(n)
		return
	}
	if sh.inWords == 0 {
		sh.p.ChildEnded(n)
		return
	}
	before := sh.p.Attention.Load()
	sh.p.ChildEnded(n)
	sh.p.Attention.Store(before)
}

// noticeSignals lets the next command see that children have ended while the words of the last one were made.
func (sh *interp) noticeSignals() {
	if !sh.traps.IsUnused() && sh.p.Pending.Load() != 0 {
		sh.p.Attention.Store(true)
	}
}

// runChildTrap runs the trap of SIGCHLD, once for each child that has ended.
func (sh *interp) runChildTrap() {
	if sh.inChildTrap {
		return
	}
	sh.inChildTrap = true
	status := sh.status
	n := sh.childrenLater
	sh.childrenLater = 0
	for n += sh.p.Children.Swap(0); n > 0 && sh.ctl == ctlNone; n += sh.p.Children.Swap(0) {
		sh.runTrap(signal.CHLD)
		n--
	}
	if sh.ctl == ctlExit { // An exit in it does not give the shell its status.
		sh.status = status
	}
	sh.inChildTrap = false
}

// takeChildren runs the trap of SIGCHLD for the children that have ended.
func (sh *interp) takeChildren() {
	const bit = 1 << signal.CHLD
	if sh.ownProcess && sh.ctl == ctlNone && sh.p.Handled.Load()&bit != 0 && sh.p.Pending.And(^uint64(bit))&bit != 0 {
		sh.runChildTrap()
	}
}

// isMonitoring reports whether the shell reports its jobs between commands: set -m in a script.
func (ex *execution) isMonitoring() bool {
	return ex.opt&(option.Monitor|option.Interactive) == option.Monitor && ex.subshell == 0
}

// reportJobs reports jobs that have ended or stopped, under set -m.
func (sh *interp) reportJobs() {
	if !sh.isMonitoring() || sh.jobs == nil {
		return
	}
	for _, j := range sh.jobsOf().Live() {
		switch {
		case j.HasEnded():
			sh.reap(j)
		case !j.IsStopped():
			j.StopReported = false
		case !j.StopReported:
			j.StopReported = true
			sh.errorRaw("\n" + j.Line(sh.jobsOf().Live(), false))
		}
	}
}
