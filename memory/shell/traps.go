package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
)

// trapRun is the state of traps that run.
type trapRun struct {
	traps         trap.Table
	inTrap        int
	inErrTrap     bool
	inReturnTrap  bool
	inChildTrap   bool
	childrenLater int64         // children that ended while the trap of SIGCHLD ran
	debugText     func() string // the command that a DEBUG trap is about
	debugStatus   int           // of the last trap
	skipCommand   bool          // a DEBUG trap asks to skip the command
}

// setTrap sets the command of a signal; nil resets it.
func (sh *interp) setTrap(n int, cmd *string) {
	sh.traps.Disinherit(sh.opt)
	if sh.traps.IsLocked(n) {
		return
	}
	if cmd == nil {
		sh.traps.Reset(n)
	} else {
		if !sh.keep(*cmd) {
			return
		}
		sh.traps.Set(n, *cmd)
	}
	if n > 0 && n <= signal.RTMAX {
		sh.setHandling(n, cmd)
	}
	if n == trap.Exit && sh.ownProcess {
		sh.p.Soft.Store(cmd != nil && *cmd != "")
	}
	if n == signal.CHLD {
		sh.process().Children.Store(0)
	}
}

// setHandling records the present action of a signal in the process table.
func (sh *interp) setHandling(n int, cmd *string) {
	p := sh.process()
	bit := uint64(1) << (n & 63)
	p.Handled.And(^bit)
	p.Ignored.And(^bit)
	switch {
	case cmd == nil:
	case *cmd == "":
		p.Ignored.Or(bit)
	default:
		p.Handled.Or(bit)
	}
}

// hasTrap reports whether a pseudo signal's trap runs here.
func (sh *interp) hasTrap(n int) bool { return sh.traps.IsActive(n, sh.opt) }

// runCommands runs the commands of a trap; the status before is the status after, unless it
// leaves the shell.
func (sh *interp) runCommands(n int, text string) {
	if sh.inTrap > maxTraps {
		return
	}
	saved := trapState{sh.status, sh.pipeStatus, sh.lastArg, sh.line, sh.current, sh.substRan, sh.ctl, sh.ctlN, sh.noErrExit}
	pipes := append([]int(nil), sh.pipeStatus...)
	sh.ctl = ctlNone
	sh.inTrap++
	frames := len(sh.frames)
	sh.evalTrap(n, text)
	sh.inTrap--
	sh.debugStatus = sh.status
	if sh.ctl == ctlReturn && frames == len(sh.frames) && n != trap.Exit && n != trap.Debug {
		return // "return" in a trap leaves the function that was interrupted
	}
	if (sh.ctl == ctlBreak || sh.ctl == ctlContinue) && n > 0 && n <= signal.RTMAX {
		return // and "break" the loop.
	}
	if sh.ctl == ctlExit || sh.ctl == ctlAbort {
		return
	}
	saved.restore(sh)
	sh.pipeStatus = pipes
}

// maxTraps bounds traps that run inside traps.
const maxTraps = 30

// trapState is the state that a trap must not change.
type trapState struct {
	status  int
	pipes   []int
	lastArg string
	line    int
	current *simpleCode
	subst   bool
	ctl     control
	ctlN    int
	noErr   int
}

func (t *trapState) restore(sh *interp) {
	sh.status, sh.lastArg, sh.line, sh.current, sh.substRan = t.status, t.lastArg, t.line, t.current, t.subst
	sh.ctl, sh.ctlN, sh.noErrExit = t.ctl, t.ctlN, t.noErr
}

// runTrap runs the trap of a signal.
func (sh *interp) runTrap(n int) {
	if sh.traps.Owns(n) {
		cmd, _ := sh.traps.Get(n)
		sh.runCommands(n, cmd)
	}
}

// runExitTrap runs the EXIT trap and returns the status of the process.
func (sh *interp) runExitTrap(st int) int {
	cmd, _ := sh.traps.Get(trap.Exit)
	sh.setTrap(trap.Exit, nil)
	sh.status = st
	sh.ctl = ctlNone
	sh.inTrap++
	signaled := sh.signaled
	sh.evalTrap(trap.Exit, cmd)
	sh.inTrap--
	if sh.ctl == ctlExit && sh.signaled == signaled {
		st = sh.status
	}
	sh.ctl = ctlNone
	return st
}

// runErrTrap runs the ERR trap after a command that failed.
func (sh *interp) runErrTrap(st int) {
	if !sh.hasTrap(trap.Err) || sh.inErrTrap {
		return
	}
	sh.inErrTrap = true
	sh.status = st
	cmd, _ := sh.traps.Get(trap.Err)
	sh.runCommands(trap.Err, cmd)
	sh.inErrTrap = false
}

func (sh *interp) runReturnTrap() {
	if !sh.hasTrap(trap.Return) || sh.inReturnTrap {
		return
	}
	sh.inReturnTrap = true
	cmd, _ := sh.traps.Get(trap.Return)
	sh.runCommands(trap.Return, cmd)
	sh.inReturnTrap = false
}

// traced runs the DEBUG trap before a command; true when there was one. With extdebug a status
// other than 0 skips the command.
func (sh *interp) traced(line int, text func() string) bool {
	if sh.traps.IsUnused() || !sh.hasTrap(trap.Debug) || sh.inTrap > 0 {
		return false
	}
	cmd, _ := sh.traps.Get(trap.Debug)
	before := sh.debugText
	sh.debugText = text
	status := sh.status
	sh.line = line
	sh.runCommands(trap.Debug, cmd)
	sh.debugText = before
	if sh.ctl == ctlNone && sh.shopt&shopt.ExtDebug != 0 && sh.debugStatus != 0 {
		sh.skipCommand = true
	}
	if sh.ctl == ctlNone {
		sh.status = status
	}
	return true
}

// trap sets, resets and lists traps.
func (sh *interp) trap(args []string) int {
	list, rest, st := sh.parseOptions(args, "lp")
	if st >= 0 {
		return st
	}
	print := false
	for _, f := range list {
		if f.c == 'l' {
			return sh.outString(signal.Table())
		}
		print = true
	}
	if print || len(rest) == 0 {
		return sh.printTraps(rest)
	}
	action := &rest[0]
	names := rest[1:]
	switch {
	case len(names) == 0:
		// One operand: "trap INT" resets, also "trap 0".
		if trap.Number(rest[0]) < 0 {
			return sh.usage(sh.usageText(), "")
		}
		names, action = rest, nil
	case *action == "-":
		action = nil
	case isDigits(*action) && trap.Number(*action) >= 0:
		names, action = rest, nil
	}
	st = 0
	for _, n := range names {
		sig := trap.Number(n)
		if sig < 0 {
			st = sh.fail("%s: invalid signal specification", n)
			continue
		}
		if sig == signal.KILL || sig == signal.STOP {
			continue
		}
		sh.setTrap(sig, action)
	}
	return st
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func (sh *interp) printTraps(names []string) int {
	var want []int
	st := 0
	for _, n := range names {
		sig := trap.Number(n)
		if sig < 0 {
			st = sh.fail("%s: invalid signal specification", n)
			continue
		}
		want = append(want, sig)
	}
	if len(names) == 0 {
		want = sh.traps.Numbers()
	}
	var b strings.Builder
	for _, n := range want {
		if cmd, ok := sh.traps.Get(n); ok {
			b.WriteString("trap -- '" + strings.ReplaceAll(cmd, "'", `'\''`) + "' " + trap.Name(n, sh.opt&option.Posix != 0) + "\n")
		}
	}
	return max(st, sh.outString(b.String()))
}

// deadChild is a process that a signal has ended.
type deadChild struct{ signal, pid int }

// reportSignal writes the message for a process that a signal ended, unless the signal is a usual one, as a script does.
func (ex *execution) reportSignal(c deadChild, text string, waited bool) {
	if c.signal == signal.INT || c.signal == signal.PIPE || ex.inSubst || ex.opt&option.Interactive != 0 || ex.ctl != ctlNone {
		return
	}
	trapped := ex.p.Handled.Load()&(1<<(c.signal&63)) != 0
	switch {
	case c.signal != signal.TERM && !trapped:
		ex.line = max(ex.line, 1)
		ex.errorf("%5d %-24s%s", c.pid, signal.Text(c.signal), text)
	case waited:
		ex.errorRaw(signal.Text(c.signal) + "\n")
	}
}

// takeSignals handles the pending signals.
func (sh *interp) takeSignals() {
	p := sh.p
	p.Attention.Store(false)
	sh.waitStopped()
	if sh.builtinName == "wait" {
		defer sh.reportJobs()
	} else {
		sh.reportJobs()
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
func (ex *execution) waitStopped() {
	for {
		changes := ex.m.table.Changes()
		if !ex.p.IsStopped() {
			return
		}
		select {
		case <-changes:
		case <-ex.ctx.Done():
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
		sh.traps.Clear()
	}
}
