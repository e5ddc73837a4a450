package shell

import (
	"strconv"
	"strings"
	"syscall"
)

// signalNames are Linux's, by number.
var signalNames = [...]string{
	"EXIT", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
	"STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
}

// Numbers of Linux: the virtual machine is one, wherever it runs.
const (
	sigHUP    = 1
	sigINT    = 2
	sigQUIT   = 3
	sigKILL   = 9
	sigPIPE   = 13
	sigTERM   = 15
	sigCHLD   = 17
	sigCONT   = 18
	sigSTOP   = 19
	sigTSTP   = 20
	sigTTIN   = 21
	sigTTOU   = 22
	sigURG    = 23
	sigWINCH  = 28
	sigRTMIN  = 34
	sigRTMAX  = 64
	lastKnown = 31
)

// signalName returns "TERM" for 15, "" for no signal.
func signalName(n int) string {
	switch {
	case n >= 0 && n <= lastKnown:
		return signalNames[n]
	case n == sigRTMIN:
		return "RTMIN"
	case n == sigRTMAX:
		return "RTMAX"
	case n > sigRTMIN && n <= sigRTMIN+15:
		return "RTMIN+" + strconv.Itoa(n-sigRTMIN)
	case n > sigRTMIN && n < sigRTMAX:
		return "RTMAX-" + strconv.Itoa(sigRTMAX-n)
	}
	return ""
}

// signalNumber understands "TERM", "SIGTERM", "term" and "15"; -1 for others.
func signalNumber(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		if n >= 0 && n <= sigRTMAX && signalName(n) != "" {
			return n
		}
		return -1
	}
	s = strings.TrimPrefix(strings.ToUpper(s), "SIG")
	for n := 0; n <= sigRTMAX; n++ {
		if name := signalName(n); name != "" && name == s {
			return n
		}
	}
	switch s {
	case "POLL":
		return 29
	case "IOT":
		return 6
	case "CLD":
		return sigCHLD
	}
	return -1
}

// signalTexts are what bash says of a process that a signal ended.
var signalTexts = map[int]string{
	sigHUP: "Hangup", sigINT: "Interrupt", sigQUIT: "Quit", 4: "Illegal instruction", 5: "Trace/breakpoint trap",
	6: "Aborted", 7: "Bus error", 8: "Floating point exception", sigKILL: "Killed", 10: "User defined signal 1",
	11: "Segmentation fault", 12: "User defined signal 2", sigPIPE: "Broken pipe", 14: "Alarm clock", sigTERM: "Terminated",
}

// deadChild is a process that a signal has ended.
type deadChild struct{ signal, pid int }

// tellSignal tells of a process that a signal ended, as a script does: not of those that are quite usual.
func (sh *interp) tellSignal(c deadChild, text string, waited bool) {
	if c.signal == sigINT || c.signal == sigPIPE || sh.inSubst || sh.opt&optInteractive != 0 || sh.ctl != ctlNone {
		return
	}
	trapped := sh.p.handled.Load()&(1<<(c.signal&63)) != 0
	switch {
	case c.signal != sigTERM && !trapped:
		sh.line = max(sh.line, 1)
		sh.errorf("%5d %-24s%s", c.pid, signalTexts[c.signal], text)
	case waited:
		sh.errorRaw(signalTexts[c.signal] + "\n")
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
	case sigCONT:
		p.resume()
	case sigKILL:
		p.resume()
		p.pending.Or(bit)
		p.attention.Store(true)
		p.cancel(&killed{syscall.Signal(n)})
		p.m.changed()
		return
	case sigSTOP:
		p.halt()
		return
	}
	switch {
	case p.ignored.Load()&bit != 0:
		return
	case n == sigCHLD: // The trap counts children; there is none.
		return
	case p.handled.Load()&bit != 0, p.soft.Load() && n < sigCHLD:
		p.pending.Or(bit)
		p.attention.Store(true)
		if w := p.wake.Load(); w != nil {
			select {
			case *w <- struct{}{}:
			default:
			}
		}
	case n == sigCONT, n == sigURG, n == sigWINCH:
		return
	case n == sigTSTP, n == sigTTIN, n == sigTTOU:
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
	for n := 1; n <= sigRTMAX && bits != 0; n++ {
		bit := uint64(1) << (n & 63)
		if bits&bit == 0 {
			continue
		}
		bits &^= bit
		switch {
		case n != sigKILL && p.handled.Load()&bit != 0:
			if !sh.ownProcess { // It is for the parent, which waits for this one.
				p.pending.Or(bit)
				continue
			}
			if n == sigCHLD {
				sh.runChildTrap()
				continue
			}
			sh.runTrap(n)
		case n != sigKILL && p.ignored.Load()&bit != 0:
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
	if n == sigKILL || sh.ctx.Err() != nil {
		sh.exiting = true
		sh.traps = nil
	}
}

func (p *process) isStopped() bool {
	p.m.mu.Lock()
	defer p.m.mu.Unlock()
	return p.stopped
}
