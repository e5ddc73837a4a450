package shell

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/job"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
)

func (c *compiler) subshell(n *syntax.Subshell) command {
	run := c.list(n.List)
	return func(sh *interp) int {
		if !sh.deeper("subshell", 0) {
			return sh.status
		}
		child := sh.fork(false)
		st := child.runProcess(run)
		if child.signaled != 0 {
			sh.reportSignal(deadChild{child.signaled, child.p.PID}, syntax.CommandText(&syntax.Command{Body: n}), true)
		}
		sh.reunite(child)
		sh.foreground(1)
		sh.shallower(0)
		if sh.ctl == ctlNone {
			sh.status = st
		}
		return st
	}
}

// runProcess runs a command as all that a forked process does, and ends the process.
func (sh *interp) runProcess(run command) int {
	st := sh.finish(run(sh))
	sh.close()
	return st
}

// finish ends a process, with its EXIT trap, and returns its status.
func (t *trapRun) finish(st int) int {
	if t.sh.ctl == ctlNone {
		t.sh.status = st
		t.takeChildren()
	}
	if t.sh.ctl != ctlNone {
		st = t.sh.status
		t.sh.ctl = ctlNone
	}
	if !t.sh.exiting && t.traps.Owns(trap.Exit) {
		st = t.runExitTrap(st)
	}
	if t.sh.opt&option.Interactive == 0 && t.sh.ownProcess && t.sh.p.Pending.Load()&(1<<signal.KILL) != 0 {
		st = 128 + signal.KILL
	}
	return st & 0xff
}

// close releases the resources of a process.
func (sh *interp) close() {
	sh.undoAll()
	sh.fds.Release()
	if sh.ownProcess && sh.ownedEnd {
		sh.p.End(sh.status)
	}
	sh.m.bytes.Add(-int64(sh.memory.Taken()))
}

// substPart is $(...).
type substPart struct {
	run  command
	file *word // of $(< file)
	line int
	text string
	raw  bool // `...`: parsed when it runs
	jobs bool // it only lists jobs
}

func (c *compiler) cmdSub(p *syntax.CmdSub) wpart {
	x := &substPart{line: p.Line, text: p.Text, raw: p.List == nil}
	list := p.List
	if list == nil {
		if !strings.HasPrefix(strings.TrimLeft(p.Text, " \t\n"), "<") {
			return x
		}
		var err error
		if list, err = syntax.NewParser(p.Text, syntax.Options{}).Next(); err != nil || list == nil {
			return x
		}
	}
	if len(list.Items) == 1 {
		it := list.Items[0]
		if !it.Background && len(it.Rest) == 0 && len(it.First.Cmds) == 1 && !it.First.Bang && !it.First.Time {
			cmd := it.First.Cmds[0]
			x.jobs = isJobsCommand(cmd)
			s, simple := cmd.Body.(*syntax.Simple)
			if simple && len(s.Words)+len(s.Assigns) == 0 && len(cmd.Redirs) == 1 && cmd.Redirs[0].Op == "<" && cmd.Redirs[0].Fd <= 0 {
				x.file = c.word(cmd.Redirs[0].Target, wordArg)
			}
		}
	}
	if !x.raw {
		x.run = c.lazyList(p.List)
	}
	return x
}

func (p *substPart) expand(f *fields, quoted bool) {
	sh := f.sh
	s := sh.substitute(p)
	if quoted {
		f.quoted(s)
	} else {
		f.expanded(s)
	}
}

// substitute runs a command substitution and returns its output without newlines at the end.
func (sh *interp) substitute(p *substPart) string {
	if !sh.tick() || !sh.deeper("substitution", 0) {
		return ""
	}
	defer func() { sh.shallower(0) }()
	if p.file != nil {
		return sh.substFile(p)
	}
	out := fd.NewCapture(sh.m)
	d := out.Description()
	child := sh.fork(false)
	child.evals++
	child.inSubst = true
	if p.jobs {
		child.jobs = sh.jobs.Snapshot()
	}
	if sh.opt&option.Posix == 0 && sh.shopt&shopt.InheritErrExit == 0 {
		child.opt &^= option.ErrExit
	}
	// The table is the child's own now; descriptor 1 is always a fine number.
	_ = child.setFd(1, d)
	var st int
	if p.raw {
		st = child.runProcess(func(c *interp) int {
			return c.evalText(p.text, p.line, "command substitution")
		})
	} else {
		st = child.runProcess(p.run)
	}
	sh.reunite(child)
	sh.waited(1)
	sh.await(out)
	sh.status, sh.substRan = st, true
	return sh.captured(out)
}

// await waits until no process can write to the capture any more: a job may still have it open.
func (c *jobControl) await(out *fd.Capture) {
	done := out.Wait()
	if done == nil {
		return
	}
	c.sh.m.gate.Block()
	select {
	case <-done:
	case <-c.sh.ctx.Done():
	}
	c.sh.m.gate.Unblock(c.sh.ctx)
	if c.sh.ctx.Err() != nil {
		c.sh.tickSlow()
	}
}

// captured returns the text of a capture.
func (sh *interp) captured(out *fd.Capture) string {
	full := out.Full()
	s, taken := out.Text()
	sh.memory.Receive(taken)
	if full > 0 {
		sh.failMemory(full)
	}
	if sh.ctl != ctlNone || !sh.spend(len(s)>>6) {
		return ""
	}
	if strings.IndexByte(s, 0) >= 0 {
		sh.errorf("warning: command substitution: ignored null byte in input")
		if !sh.hold(len(s)) {
			return ""
		}
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return s
}

// substFile is $(< file).
func (sh *interp) substFile(p *substPart) string {
	name, ok := (&redirCode{target: p.file}).path(sh)
	if !ok {
		return ""
	}
	d, err := sh.openFile(name, 0)
	if err != nil {
		sh.errorf("%s: %s", name, Strerror(err))
		sh.status, sh.substRan = 1, true
		return ""
	}
	defer d.Unref()
	out := fd.NewCapture(sh.m)
	buf := make([]byte, 32<<10)
	for sh.spend(len(buf) >> 8) {
		n, err := d.Read(sh.ctx, buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			if Errno(err) == syscall.EISDIR {
				sh.errorf("%s: Is a directory", name)
			}
			break
		}
	}
	sh.status, sh.substRan = 0, true
	return sh.captured(out)
}

// procPart is <(...) or >(...).
type procPart struct {
	list command
	out  bool
	text string
}

func (p *procPart) expand(f *fields, quoted bool) {
	path := f.sh.processSubst(p)
	if quoted {
		f.quoted(path)
	} else {
		f.quote(path)
	}
}

// processSubst starts the process and returns the name of its pipe.
func (sh *interp) processSubst(p *procPart) string {
	r, w := fd.NewPipe()
	mine, theirs, fd := r, w, 1
	if p.out {
		mine, theirs, fd = w, r, 0
	}
	child := sh.fork(true)
	if err := child.setFd(fd, theirs); err != nil {
		theirs.Unref()
	}
	if _, err := sh.launch(child, p.list, "", false); err != nil {
		mine.Unref()
		return "/dev/null"
	}
	at := 63
	for at > 10 && sh.fds.Get(at) != nil {
		at--
	}
	if err := sh.replaceFd(at, mine); err != nil {
		sh.errorf("cannot make pipe for process substitution: %s", Strerror(err))
		return "/dev/null"
	}
	sh.undo[len(sh.undo)-1].subst = true
	return "/dev/fd/" + itoa(at)
}

// placed takes a place in the process table. When it is full and some of its processes are dying of a
// signal, it tries once more when they have ended, as bash tries again later.
func (s *processState) placed(place func() error) error {
	err := place()
	if err != nil && s.ctx.Err() == nil && s.m.table.IsDying(s.m.first) {
		s.m.waitDying()
		err = place()
	}
	return err
}

// launch runs a forked process beside its parent.
func (sh *interp) launch(child *interp, run command, text string, job bool) (*process.Process, error) {
	var p *process.Process
	err := sh.placed(func() (err error) {
		p, err = sh.m.table.Start(sh.m.runContext(), sh.p)
		return err
	})
	if err == nil && sh.m.bytes.Load() > sh.m.most.Load() {
		p.End(0)
		sh.m.meet(ErrMemory)
		child.close()
		sh.errorf("fork: %s", Strerror(syscall.ENOMEM))
		sh.exit(254)
		return nil, syscall.ENOMEM
	}
	if err != nil {
		sh.m.meet(ErrProcesses)
		child.close()
		sh.errorf("fork: retry: %s", Strerror(err))
		sh.exit(254)
		return nil, err
	}
	if sh.ownProcess {
		p.Parent = sh.p
	}
	child.p, child.ctx, child.ownProcess = p, p.Ctx, true
	child.show(cmp.Or(strings.TrimSuffix(text, " &"), "bash"))
	child.jobs = nil
	child.depth = 0
	sh.lastBg = p.PID
	if job {
		sh.jobsOf().Add(p, text)
	} else {
		sh.jobsOf().AddSubstitution(p)
	}
	sh.m.wait.Go(func() {
		sh.m.gate.Enter(p.Ctx)
		defer sh.m.gate.Leave()
		st := child.guarded(run)
		p.Signal = child.signaled
		p.End(st)
	})
	return p, nil
}

// guarded is runProcess for a goroutine of its own: a panic must end this process and not the host's program that contains the
// machine.
func (sh *interp) guarded(run command) (st int) {
	defer func() {
		if r := recover(); r != nil {
			sh.errorf("internal error: %v", r)
			sh.close()
			st = 134
		}
	}()
	return sh.runProcess(run)
}

// coproc runs a command with its input and output as pipes of ours.
func (c *compiler) coproc(n *syntax.Coproc) command {
	run := c.pipeline(&syntax.Pipeline{Cmds: []*syntax.Command{n.Cmd}})
	slot, pidSlot := c.lib.symbols.slot(n.Name), c.lib.symbols.slot(n.Name+"_PID")
	text := func() string { return "coproc " + n.Name + " " + syntax.CommandText(n.Cmd) }
	return func(sh *interp) int {
		inR, inW := fd.NewPipe()
		outR, outW := fd.NewPipe()
		for _, j := range sh.jobsOf().All() {
			if j.Coprocess != nil && j.HasEnded() {
				sh.reap(j)
			}
		}
		child := sh.fork(true)
		_, _ = child.setFd(0, inR), child.setFd(1, outW)
		p, err := sh.launch(child, run, text(), true)
		if err != nil {
			inW.Unref()
			outR.Unref()
			return sh.status
		}
		rfd, err1 := sh.freeFd(60)
		if err1 == nil {
			err1 = sh.setFd(rfd, outR)
		}
		wfd, err2 := sh.freeFd(60)
		if err2 == nil {
			err2 = sh.setFd(wfd, inW)
		}
		if err1 != nil || err2 != nil {
			sh.errorf("cannot make pipe for coprocess: %s", Strerror(syscall.EMFILE))
			sh.status = 1
			return 1
		}
		sh.setList(slot, []string{itoa(rfd), itoa(wfd)})
		sh.assign(pidSlot, itoa(p.PID))
		j := sh.jobs.Last()
		j.Coprocess = &job.Coprocess{
			Slot: slot, PIDSlot: pidSlot, Descriptors: [2]int{rfd, wfd}, Ends: [2]*fd.Description{outR, inW},
		}
		sh.status = 0
		return 0
	}
}

// runContext is the context of processes that are not their parent's goroutine: it ends
// with the run, not with the parent.
func (m *machine) runContext() context.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.run
}

// pipe compiles a pipeline of several commands.
func (c *compiler) pipe(p *syntax.Pipeline) command {
	stages := make([]command, len(p.Cmds))
	jobs := make([]bool, len(p.Cmds))
	for i, cmd := range p.Cmds {
		if cmd.Stderr { // |& is a redirection after the others.
			both := *cmd
			target := &syntax.Word{Text: "1", Line: cmd.Line, Parts: []syntax.Part{&syntax.Lit{S: "1"}}}
			both.Redirs = append(slices.Clip(cmd.Redirs), &syntax.Redir{Op: ">&", Fd: 2, Target: target, Line: cmd.Line})
			cmd = &both
		}
		if i < len(p.Cmds)-1 { // The last one may run in the shell itself.
			c.alone(cmd)
		}
		stages[i], jobs[i] = c.single(cmd), isJobsCommand(cmd)
	}
	return func(sh *interp) int {
		if !sh.deeper("pipeline", 0) {
			return sh.status
		}
		st := sh.runPipe(stages, jobs)
		sh.shallower(0)
		return st
	}
}

// runPipe runs the stages at the same time, the last one on this goroutine, and waits for all.
func (sh *interp) runPipe(stages []command, jobs []bool) int {
	n := len(stages)
	statuses := make([]int, n)     // bounded: by the nodes of the script, which are charged
	children := make([]*interp, n) // bounded: by the nodes of the script, which are charged
	last := sh.shopt&shopt.LastPipe != 0 && sh.opt&option.Monitor == 0
	var prev *fd.Description
	for i := range n {
		if i == n-1 && last {
			break
		}
		c := sh.fork(last) // Under lastpipe this process goes on writing meanwhile.
		children[i] = c
		if jobs[i] {
			c.jobs = sh.jobs.Snapshot()
		}
		if prev != nil {
			_ = c.setFd(0, prev)
			prev = nil
		}
		if i < n-1 {
			r, w := fd.NewPipe()
			_ = c.setFd(1, w)
			prev = r
		}
	}
	var wg sync.WaitGroup
	for i := range n - 1 {
		if err := sh.placed(sh.m.table.Enter); err != nil {
			sh.m.meet(ErrProcesses)
			sh.errorf("fork: retry: %s", Strerror(err))
			children[i].close()
			statuses[i] = 254
			continue
		}
		wg.Go(func() {
			defer sh.m.table.Leave()
			statuses[i] = children[i].guarded(stages[i])
		})
	}
	if last {
		statuses[n-1] = sh.lastStage(stages[n-1], prev)
	} else {
		statuses[n-1] = children[n-1].runProcess(stages[n-1])
	}
	wg.Wait()
	for i := n - 1; i >= 0; i-- { // The first one knows what was shared before all of them.
		if c := children[i]; c != nil {
			sh.reunite(c)
		}
	}
	if last {
		n--
	}
	sh.foreground(n)
	return sh.pipeEnd(statuses)
}

// lastStage runs the last command of a pipeline in this process: shopt lastpipe.
func (sh *interp) lastStage(run command, in *fd.Description) int {
	undo := len(sh.undo)
	_ = sh.replaceFd(0, in)
	sh.noErrExit++
	st := run(sh)
	sh.noErrExit--
	sh.undoRedirs(undo)
	return st
}

// pipeEnd sets the results of a pipeline.
func (sh *interp) pipeEnd(statuses []int) int {
	sh.pipeStatus = statuses
	st := statuses[len(statuses)-1]
	if sh.opt&option.PipeFail != 0 {
		for _, s := range statuses {
			if s != 0 {
				st = s
			}
		}
	}
	if !sh.tickQuiet() {
		return sh.status
	}
	if sh.ctl != ctlNone {
		return sh.status
	}
	sh.status = st
	if st != 0 {
		sh.check(st)
	}
	return st
}

// tickQuiet looks for the end of the run and for signals without taking fuel.
func (sh *interp) tickQuiet() bool {
	if sh.ctl != ctlNone {
		return true
	}
	if sh.ctx.Err() != nil || sh.p.Attention.Load() {
		return sh.tickSlow()
	}
	return true
}
