package shell

import (
	"maps"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// Pseudo signals.
const (
	trapExit   = 0
	trapErr    = 65
	trapDebug  = 66
	trapReturn = 67
)

// traps are the commands of trap; a set one is never changed, only replaced.
type traps struct {
	cmds map[int]string // "" ignores
}

func (t *traps) get(n int) (string, bool) {
	if t == nil {
		return "", false
	}
	s, ok := t.cmds[n]
	return s, ok
}

// has tells whether there is a command for the pseudo signal.
func (t *traps) has(n int) bool {
	if t == nil {
		return false
	}
	s, ok := t.cmds[n]
	return ok && s != ""
}

// setTrap sets the command of a signal; nil resets it.
func (sh *interp) setTrap(n int, cmd *string) {
	cmds := map[int]string{}
	if sh.traps != nil {
		cmds = maps.Clone(sh.traps.cmds)
	}
	if sh.trapsInherited {
		sh.trapsInherited = false
		for k, v := range cmds {
			if !sh.keepsTrap(k, v) {
				delete(cmds, k)
			}
		}
	}
	if n > 0 && n <= signal.RTMAX && sh.deaf&(1<<(n&63)) != 0 {
		return
	}
	if cmd == nil {
		delete(cmds, n)
	} else {
		if !sh.keep(*cmd) {
			return
		}
		cmds[n] = *cmd
	}
	sh.traps = &traps{cmds}
	if n > 0 && n <= signal.RTMAX {
		sh.setHandling(n, cmd)
	}
	if n == trapExit && sh.ownProcess {
		sh.p.Soft.Store(cmd != nil && *cmd != "")
	}
	switch n {
	case signal.CHLD:
		sh.process().Children.Store(0)
	case trapErr:
		sh.trapOff &^= offErr
	case trapDebug:
		sh.trapOff &^= offDebug
	case trapReturn:
		sh.trapOff &^= offReturn
	}
}

// hearsNot makes the signals be ignored for good, as a shell does with those that were when it began.
func (sh *interp) hearsNot(bits uint64) {
	sh.deaf = bits
	if bits == 0 {
		return
	}
	cmds := map[int]string{}
	for n := 1; n <= signal.RTMAX; n++ {
		if bits&(1<<(n&63)) != 0 {
			cmds[n] = ""
		}
	}
	sh.traps = &traps{cmds}
}

// setHandling tells the process table what a signal does now.
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

// keepsTrap tells whether a subshell keeps the trap: ignored signals stay ignored.
func (sh *interp) keepsTrap(n int, cmd string) bool {
	switch n {
	case trapErr:
		return sh.opt&optErrTrace != 0
	case trapDebug, trapReturn:
		return sh.opt&optFuncTrace != 0
	}
	return cmd == ""
}

// Bits of trapOff.
const (
	offErr = 1 << iota
	offDebug
	offReturn
)

// hasTrap tells whether a pseudo signal's trap runs here.
func (sh *interp) hasTrap(n int) bool {
	if !sh.traps.has(n) {
		return false
	}
	switch n {
	case trapErr:
		return sh.trapOff&offErr == 0 && (!sh.trapsInherited || sh.opt&optErrTrace != 0)
	case trapDebug:
		return sh.trapOff&offDebug == 0 && (!sh.trapsInherited || sh.opt&optFuncTrace != 0)
	case trapReturn:
		return sh.trapOff&offReturn == 0 && (!sh.trapsInherited || sh.opt&optFuncTrace != 0)
	}
	return true
}

// enterTraps turns off what a function does not inherit, and returns what was on.
func (sh *interp) enterTraps(fn *function) uint8 {
	before := sh.trapOff
	if sh.traps == nil {
		return before
	}
	if sh.opt&optFuncTrace == 0 && !fn.trace {
		sh.trapOff |= offDebug | offReturn
	}
	if sh.opt&optErrTrace == 0 {
		sh.trapOff |= offErr
	}
	return before
}

func (sh *interp) leaveTraps(before uint8) { sh.trapOff = before }

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
	if sh.ctl == ctlReturn && frames == len(sh.frames) && n != trapExit && n != trapDebug {
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

// trapState is what a trap must not change.
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
	if cmd, ok := sh.traps.get(n); ok && cmd != "" && !sh.trapsInherited {
		sh.runCommands(n, cmd)
	}
}

// runExitTrap runs the EXIT trap and returns the status of the process.
func (sh *interp) runExitTrap(st int) int {
	cmd, _ := sh.traps.get(trapExit)
	sh.setTrap(trapExit, nil)
	sh.status = st
	sh.ctl = ctlNone
	sh.inTrap++
	signaled := sh.signaled
	sh.evalTrap(trapExit, cmd)
	sh.inTrap--
	if sh.ctl == ctlExit && sh.signaled == signaled {
		st = sh.status
	}
	sh.ctl = ctlNone
	return st
}

// runErrTrap runs the ERR trap after a command that failed.
func (sh *interp) runErrTrap(st int) {
	if !sh.hasTrap(trapErr) || sh.inErrTrap {
		return
	}
	sh.inErrTrap = true
	sh.status = st
	cmd, _ := sh.traps.get(trapErr)
	sh.runCommands(trapErr, cmd)
	sh.inErrTrap = false
}

func (sh *interp) runReturnTrap() {
	if !sh.hasTrap(trapReturn) || sh.inReturnTrap {
		return
	}
	sh.inReturnTrap = true
	cmd, _ := sh.traps.get(trapReturn)
	sh.runCommands(trapReturn, cmd)
	sh.inReturnTrap = false
}

// traced runs the DEBUG trap before a command; true when there was one. With extdebug a status
// other than 0 skips the command.
func (sh *interp) traced(line int, text func() string) bool {
	if sh.traps == nil || !sh.hasTrap(trapDebug) || sh.inTrap > 0 {
		return false
	}
	cmd, _ := sh.traps.get(trapDebug)
	before := sh.debugText
	sh.debugText = text
	status := sh.status
	sh.line = line
	sh.runCommands(trapDebug, cmd)
	sh.debugText = before
	if sh.ctl == ctlNone && sh.shopt&shExtDebug != 0 && sh.debugStatus != 0 {
		sh.skipCommand = true
	}
	if sh.ctl == ctlNone {
		sh.status = status
	}
	return true
}
