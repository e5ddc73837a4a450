package shell

import (
	"slices"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

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
		stages[i], jobs[i] = c.single(cmd), listsJobs(cmd)
	}
	return func(sh *interp) int {
		if !sh.deeper("pipeline") {
			return sh.status
		}
		st := sh.runPipe(stages, jobs)
		sh.depth--
		return st
	}
}

// runPipe runs the stages at the same time, the last one on this goroutine, and waits for all.
func (sh *interp) runPipe(stages []command, jobs []bool) int {
	n := len(stages)
	statuses := make([]int, n)
	children := make([]*interp, n)
	last := sh.shopt&shLastPipe != 0 && sh.opt&optMonitor == 0
	var prev *fd.Description
	for i := range n {
		if i == n-1 && last {
			break
		}
		c := sh.fork(last) // Under lastpipe this process goes on writing meanwhile.
		children[i] = c
		if jobs[i] {
			c.jobs = sh.jobs.snapshot()
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
		statuses[n-1] = children[n-1].process0(stages[n-1])
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

// pipeEnd sets what a pipeline leaves behind.
func (sh *interp) pipeEnd(statuses []int) int {
	sh.pipeStatus = statuses
	st := statuses[len(statuses)-1]
	if sh.opt&optPipeFail != 0 {
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
