package shell

import (
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// deadChild is a process that a signal has ended.
type deadChild struct{ signal, pid int }

// tellSignal tells of a process that a signal ended, as a script does: not of those that are quite usual.
func (sh *interp) tellSignal(c deadChild, text string, waited bool) {
	if c.signal == signal.INT || c.signal == signal.PIPE || sh.inSubst || sh.opt&optInteractive != 0 || sh.ctl != ctlNone {
		return
	}
	trapped := sh.p.Handled.Load()&(1<<(c.signal&63)) != 0
	switch {
	case c.signal != signal.TERM && !trapped:
		sh.line = max(sh.line, 1)
		sh.errorf("%5d %-24s%s", c.pid, signal.Text(c.signal), text)
	case waited:
		sh.errorRaw(signal.Text(c.signal) + "\n")
	}
}

// takeSignals does what the signals that have come ask for.
func (sh *interp) takeSignals() {
	p := sh.p
	p.Attention.Store(false)
	sh.waitStopped()
	if sh.builtinName == "wait" {
		defer sh.tellJobs()
	} else {
		sh.tellJobs()
	}
	bits := p.Pending.Swap(0)
	for n := 1; n <= signal.RTMAX && bits != 0; n++ {
		bit := uint64(1) << (n & 63)
		if bits&bit == 0 {
			continue
		}
		bits &^= bit
		switch {
		case n != signal.KILL && p.Handled.Load()&bit != 0:
			if !sh.ownProcess { // It is for the parent, which waits for this one.
				p.Pending.Or(bit)
				continue
			}
			if n == signal.CHLD {
				sh.runChildTrap()
				continue
			}
			sh.runTrap(n)
		case n != signal.KILL && p.Ignored.Load()&bit != 0:
		default:
			sh.dieOf(n)
			return
		}
	}
}

// waitStopped blocks while the process is stopped.
func (sh *interp) waitStopped() {
	for {
		changes := sh.m.table.Changes()
		if !sh.p.IsStopped() {
			return
		}
		select {
		case <-changes:
		case <-sh.ctx.Done():
			return
		}
	}
}

// dieOf ends the process as the signal does by default; only the EXIT trap of a shell that
// has one runs, as bash does it.
func (sh *interp) dieOf(n int) {
	sh.status = 128 + n
	sh.ctl = ctlExit
	sh.signaled = n
	if n == signal.KILL || sh.ctx.Err() != nil {
		sh.exiting = true
		sh.traps = nil
	}
}
