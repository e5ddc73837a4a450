package shell

import (
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// deadChild is a process that a signal has ended.
type deadChild struct{ signal, pid int }

// tellSignal tells of a process that a signal ended, as a script does: not of those that are quite usual.
func (sh *interp) tellSignal(c deadChild, text string, waited bool) {
	if c.signal == signal.INT || c.signal == signal.PIPE || sh.inSubst || sh.opt&optInteractive != 0 || sh.ctl != ctlNone {
		return
	}
	trapped := sh.p.handled.Load()&(1<<(c.signal&63)) != 0
	switch {
	case c.signal != signal.TERM && !trapped:
		sh.line = max(sh.line, 1)
		sh.errorf("%5d %-24s%s", c.pid, signal.Text(c.signal), text)
	case waited:
		sh.errorRaw(signal.Text(c.signal) + "\n")
	}
}

// send delivers a signal to the process: what a trap takes waits until it is looked at,
// the rest ends the process, stops it or does nothing.
func (p *process) send(n int) {
	if n == 0 {
		return
	}
	bit := uint64(1) << (n & 63)
	switch n {
	case signal.CONT:
		p.resume()
	case signal.KILL:
		p.resume()
		p.pending.Or(bit)
		p.attention.Store(true)
		p.cancel(&killed{syscall.Signal(n)})
		p.m.changed()
		return
	case signal.STOP:
		p.halt()
		return
	}
	switch {
	case p.ignored.Load()&bit != 0:
		return
	case n == signal.CHLD: // The trap counts children; there is none.
		return
	case p.handled.Load()&bit != 0, p.soft.Load() && n < signal.CHLD:
		p.pending.Or(bit)
		p.attention.Store(true)
		if w := p.wake.Load(); w != nil {
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
		p.pending.Or(bit)
		p.attention.Store(true)
		p.cancel(&killed{syscall.Signal(n)})
	}
	p.m.changed()
}

// halt stops the process at the next command or turn of a loop.
func (p *process) halt() {
	p.m.mu.Lock()
	p.stopped = true
	p.m.mu.Unlock()
	p.attention.Store(true)
	if p.tells != nil {
		p.tells.childEnded(0)
	}
	p.m.changed()
}

func (p *process) resume() {
	p.m.mu.Lock()
	p.stopped = false
	p.m.mu.Unlock()
	p.m.changed()
}

// takeSignals does what the signals that have come ask for.
func (sh *interp) takeSignals() {
	p := sh.p
	p.attention.Store(false)
	sh.waitStopped()
	if sh.builtinName == "wait" {
		defer sh.tellJobs()
	} else {
		sh.tellJobs()
	}
	bits := p.pending.Swap(0)
	for n := 1; n <= signal.RTMAX && bits != 0; n++ {
		bit := uint64(1) << (n & 63)
		if bits&bit == 0 {
			continue
		}
		bits &^= bit
		switch {
		case n != signal.KILL && p.handled.Load()&bit != 0:
			if !sh.ownProcess { // It is for the parent, which waits for this one.
				p.pending.Or(bit)
				continue
			}
			if n == signal.CHLD {
				sh.runChildTrap()
				continue
			}
			sh.runTrap(n)
		case n != signal.KILL && p.ignored.Load()&bit != 0:
		default:
			sh.dieOf(n)
			return
		}
	}
}

// waitStopped blocks while the process is stopped.
func (sh *interp) waitStopped() {
	for {
		changes := sh.m.changes()
		sh.m.mu.Lock()
		stopped := sh.p.stopped
		sh.m.mu.Unlock()
		if !stopped {
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

func (p *process) isStopped() bool {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	return p.stopped
}
