package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
)

// trapRun holds the traps and the state of those that run. A trap that runs leaves the status and the position in the
// script as they were, unless it leaves the shell.
type trapRun struct {
	traps         trap.Table
	inTrap        int           // traps that run inside each other
	childrenLater int64         // children that ended while the trap of SIGCHLD ran
	debugText     func() string // the command that a DEBUG trap is about
	debugStatus   int           // of the last trap
	inErrTrap     bool
	inReturnTrap  bool
	inChildTrap   bool
	skipCommand   bool // a DEBUG trap asks to skip the command

	sh *interp // has the state of the commands that traps interrupt, and runs theirs
}

// setTrap sets the command of a signal; nil resets it.
func (t *trapRun) setTrap(n int, cmd *string) {
	t.traps.Disinherit(t.sh.opt)
	if t.traps.IsLocked(n) {
		return
	}
	if cmd == nil {
		t.traps.Reset(n)
	} else {
		if !t.sh.keep(*cmd) {
			return
		}
		t.traps.Set(n, *cmd)
	}
	if n > 0 && n <= signal.RTMAX {
		t.setHandling(n, cmd)
	}
	if n == trap.Exit && t.sh.ownProcess {
		t.sh.p.Soft.Store(cmd != nil && *cmd != "")
	}
	if n == signal.CHLD {
		t.sh.process().Children.Store(0)
	}
}

// setHandling records the present action of a signal in the process table.
func (t *trapRun) setHandling(n int, cmd *string) {
	p := t.sh.process()
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
func (t *trapRun) hasTrap(n int) bool { return t.traps.IsActive(n, t.sh.opt) }

// runCommands runs the commands of a trap; the status before is the status after, unless it
// leaves the shell.
func (t *trapRun) runCommands(n int, text string) {
	if t.inTrap > maxTraps {
		return
	}
	saved := t.sh.captureState()
	pipes := append([]int(nil), t.sh.pipeStatus...)
	t.sh.ctl = ctlNone
	t.inTrap++
	frames := len(t.sh.frames)
	t.sh.evalTrap(n, text)
	t.inTrap--
	t.debugStatus = t.sh.status
	if t.sh.ctl == ctlReturn && frames == len(t.sh.frames) && n != trap.Exit && n != trap.Debug {
		return // "return" in a trap leaves the function that was interrupted
	}
	if (t.sh.ctl == ctlBreak || t.sh.ctl == ctlContinue) && n > 0 && n <= signal.RTMAX {
		return // and "break" the loop.
	}
	if t.sh.ctl == ctlExit || t.sh.ctl == ctlAbort {
		return
	}
	t.sh.restoreState(saved)
	t.sh.pipeStatus = pipes
}

// maxTraps bounds traps that run inside traps.
const maxTraps = 30

// trapState is the state that a trap must not change.
type trapState struct {
	status  int
	lastArg string
	line    int
	current *simpleCode
	subst   bool
	ctl     control
	ctlN    int
	noErr   int
}

// captureState returns the state for restoreState.
func (ex *execution) captureState() trapState {
	return trapState{ex.status, ex.lastArg, ex.line, ex.current, ex.substRan, ex.ctl, ex.ctlN, ex.noErrExit}
}

func (ex *execution) restoreState(t trapState) {
	ex.status, ex.lastArg, ex.line, ex.current, ex.substRan = t.status, t.lastArg, t.line, t.current, t.subst
	ex.ctl, ex.ctlN, ex.noErrExit = t.ctl, t.ctlN, t.noErr
}

// runTrap runs the trap of a signal.
func (t *trapRun) runTrap(n int) {
	if t.traps.Owns(n) {
		cmd, _ := t.traps.Get(n)
		t.runCommands(n, cmd)
	}
}

// runExitTrap runs the EXIT trap and returns the status of the process.
func (t *trapRun) runExitTrap(st int) int {
	cmd, _ := t.traps.Get(trap.Exit)
	t.setTrap(trap.Exit, nil)
	t.sh.status = st
	t.sh.ctl = ctlNone
	t.inTrap++
	signaled := t.sh.signaled
	t.sh.evalTrap(trap.Exit, cmd)
	t.inTrap--
	if t.sh.ctl == ctlExit && t.sh.signaled == signaled {
		st = t.sh.status
	}
	t.sh.ctl = ctlNone
	return st
}

// runErrTrap runs the ERR trap after a command that failed.
func (t *trapRun) runErrTrap(st int) {
	if !t.hasTrap(trap.Err) || t.inErrTrap {
		return
	}
	t.inErrTrap = true
	t.sh.status = st
	cmd, _ := t.traps.Get(trap.Err)
	t.runCommands(trap.Err, cmd)
	t.inErrTrap = false
}

func (t *trapRun) runReturnTrap() {
	if !t.hasTrap(trap.Return) || t.inReturnTrap {
		return
	}
	t.inReturnTrap = true
	cmd, _ := t.traps.Get(trap.Return)
	t.runCommands(trap.Return, cmd)
	t.inReturnTrap = false
}

// traced runs the DEBUG trap before a command; true when there was one. With extdebug a status
// other than 0 skips the command.
func (t *trapRun) traced(line int, text func() string) bool {
	if t.traps.IsUnused() || !t.hasTrap(trap.Debug) || t.inTrap > 0 {
		return false
	}
	cmd, _ := t.traps.Get(trap.Debug)
	before := t.debugText
	t.debugText = text
	status := t.sh.status
	t.sh.line = line
	t.runCommands(trap.Debug, cmd)
	t.debugText = before
	if t.sh.ctl == ctlNone && t.sh.shopt&shopt.ExtDebug != 0 && t.debugStatus != 0 {
		t.skipCommand = true
	}
	if t.sh.ctl == ctlNone {
		t.sh.status = status
	}
	return true
}

// runTrapBuiltin sets, resets and lists traps.
func runTrapBuiltin(sh *interp, args []string) int {
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
		return printTraps(sh, rest)
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

func printTraps(sh *interp, names []string) int {
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
	usual := c.signal == signal.INT || c.signal == signal.PIPE
	if usual || ex.inSubst || ex.opt&option.Interactive != 0 || ex.ctl != ctlNone {
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
func (s *processState) waitStopped() {
	for {
		changes := s.m.table.Changes()
		if !s.p.IsStopped() {
			return
		}
		s.m.gate.Block()
		select {
		case <-changes:
		case <-s.ctx.Done():
		}
		s.m.gate.Unblock(s.ctx)
		if s.ctx.Err() != nil {
			return
		}
	}
}

// dieOf ends the process as the signal does by default; only the EXIT trap of a shell that
// has one runs, as bash does it.
func (t *trapRun) dieOf(n int) {
	t.sh.status = 128 + n
	t.sh.ctl = ctlExit
	t.sh.signaled = n
	if n == signal.KILL || t.sh.ctx.Err() != nil {
		t.sh.exiting = true
		t.traps.Clear()
	}
}
