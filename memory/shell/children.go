package shell

import "github.com/seed434b0696/agent-sandbox/internal/memory/signal"

// foreground notes that n processes have ended for which the shell has waited; jobs that have ended meanwhile
// are forgotten.
func (sh *interp) foreground(n int) {
	if sh.jobs != nil && sh.opt&optInteractive == 0 {
		for _, j := range sh.liveJobs() {
			if j.ended() && j.coproc == nil {
				sh.reap(j)
			}
		}
	}
	sh.waited(n)
}

// waited notes that n processes of this one have ended. What ends while the trap runs is told of with the next
// one; while the words of a command are made, before the next command.
func (sh *interp) waited(n int) {
	if !sh.ownProcess || sh.traps == nil {
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

// lookAround lets the next command see that children have ended while the words of the last one were made.
func (sh *interp) lookAround() {
	if sh.traps != nil && sh.p.Pending.Load() != 0 {
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

// monitored tells whether the shell tells of its jobs between commands: set -m in a script.
func (sh *interp) monitored() bool {
	return sh.opt&(optMonitor|optInteractive) == optMonitor && sh.subshell == 0
}

// tellJobs tells under set -m of jobs that have ended or stopped.
func (sh *interp) tellJobs() {
	if !sh.monitored() || sh.jobs == nil {
		return
	}
	for _, j := range sh.liveJobs() {
		switch {
		case j.ended():
			sh.reap(j)
		case !j.isStopped():
			j.stopTold = false
		case !j.stopTold:
			j.stopTold = true
			sh.errorRaw("\n" + sh.jobLine(j, sh.liveJobs(), false))
		}
	}
}
