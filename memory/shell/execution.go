package shell

import (
	"context"
	"io/fs"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/account"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// execution is the part that the others rely on: the process with its descriptors, its options, the position in the
// scripts, and the status. It writes messages and accounts for memory and fuel; it does not use variables or run commands.
type execution struct {
	descriptors
	shellOptions
	scriptState
	activeCommand
	flow

	memory account.Account
	gas    int // fuel that the process has taken and not used
}

// shellOptions are the options of set and shopt.
type shellOptions struct {
	opt   option.Set
	shopt shopt.Set
}

// control says why commands are being left.
type control uint8

const (
	ctlNone     control = iota
	ctlBreak            // as many loops as ctlN
	ctlContinue         // the loop that is ctlN further out goes on
	ctlReturn           // a function or source
	ctlAbort            // the whole command at the top: an error of an expansion
	ctlExit             // the process
)

// processState says which process of the machine the interpreter is, and what that process may use. It reads the file
// system as the process sees it.
type processState struct {
	m      *machine
	ctx    context.Context //nolint:containedctx // A process has one: it ends when the process is killed.
	cred   vfs.Cred
	dir    string
	umask  fs.FileMode
	rlimit *rlimit.Limits

	p          *process.Process
	ownProcess bool       // p is not that of the parent
	ownedEnd   bool       // close removes p from the table
	sole       bool       // the process runs one program, which may take p over
	inSubst    bool       // inside a command substitution
	signaled   int        // the signal that ends the process
	died       deadChild  // the program that a signal has just ended
	subshell   int        // BASH_SUBSHELL
	mainPID    int        // $$
	lastBg     int        // $!
	hosts      []*fd.Host // the streams of the run: output, errors and, if there is any, input
}

// shellPID returns $$: that of the shell, also in subshells.
func (s *processState) shellPID() int { return s.mainPID }

// flow holds the status of the last command, and why commands are being left.
type flow struct {
	status     int
	pipeStatus []int
	pipeOne    [1]int // the array of pipeStatus for a single command
	ctlN       int
	noErrExit  int // conditions around the command, where set -e does nothing
	ctl        control
	exiting    bool

	redirFailed bool // a redirection of the last compound command failed
}

// isUnwinding reports whether commands are being left; the next one must not run.
func (f *flow) isUnwinding() bool { return f.ctl != ctlNone }

// exit leaves the process with the status; its EXIT trap runs.
func (f *flow) exit(status int) int {
	f.status = status & 0xff
	f.ctl = ctlExit
	return f.status
}

// leaveLoop reports whether a loop ends after its body or condition, as the control state asks.
func (f *flow) leaveLoop() bool {
	switch f.ctl {
	case ctlNone:
		return false
	case ctlBreak:
		if f.ctlN--; f.ctlN <= 0 {
			f.ctl = ctlNone
		}
		return true
	case ctlContinue:
		if f.ctlN--; f.ctlN <= 0 {
			f.ctl = ctlNone
			return false
		}
	default:
	}
	return true
}

// scriptState describes the script that is being read, and the calls around the command.
type scriptState struct {
	callStack

	script   string // the file that is run, "" for -c
	name     string // $0
	unitBase int    // conditions around the script being read
	echoed   bool   // set -v has shown the lines already
	readBuf  []byte // of the read builtin
}

// charge counts n more bytes of memory, or fewer. False: there are not as many, and the
// process ends.
func (ex *execution) charge(n int) bool {
	if ex.memory.Charge(n, ex.m) {
		return true
	}
	ex.failMemory(n)
	return false
}

// failMemory ends the process as bash does.
func (ex *execution) failMemory(n int) {
	if !ex.exiting {
		ex.errorf("xrealloc: cannot allocate %d bytes", n)
		ex.exiting = true
		ex.exit(2)
	}
}

// room reports whether a value of n bytes fits into memory; it ends the process when not.
func (ex *execution) room(n int) bool {
	ex.gas -= n >> 6
	if int64(n) <= ex.m.most.Load()-ex.m.bytes.Load() {
		return true
	}
	ex.m.meet(ErrMemory)
	ex.failMemory(n)
	return false
}

// hold charges for memory that only the running command holds: its expanded words.
func (ex *execution) hold(n int) bool {
	if !ex.charge(n) {
		return false
	}
	ex.memory.Hold(n)
	return true
}

// keep charges for texts of a table of the process: aliases, traps, history. They count until it
// ends, even if they are taken out again.
func (ex *execution) keep(list ...string) bool {
	n := 64
	for _, s := range list {
		n += len(s)
	}
	return ex.charge(n)
}

// slot returns the number of a name that a script has made up.
func (ex *execution) slot(name string) int {
	if n := ex.m.lib.symbols.known(name); n >= 0 {
		return n
	}
	if !ex.m.take(nameWeight + len(name)) {
		ex.failMemory(nameWeight + len(name))
		return slotUnderscore
	}
	return ex.m.lib.symbols.slot(strings.Clone(name))
}

// abs returns path as seen from the root.
func (s *processState) abs(path string) string {
	switch {
	case path == "" || path[0] == '/':
		return path
	case strings.HasSuffix(s.dir, "/"):
		return s.dir + path
	}
	return s.dir + "/" + path
}

// fill takes a batch of fuel when there is none left.
func (ex *execution) fill() {
	if ex.gas >= 0 {
		return
	}
	if err := ex.m.takeFuel(fuelBatch - ex.gas); err != nil {
		ex.m.stop(err)
	}
	ex.gas = fuelBatch
}

// burn takes n units for work in the middle of which no trap runs: signals wait for the next command. False: leave.
func (ex *execution) burn(n int) bool {
	ex.gas -= n
	ex.fill()
	return ex.ctx.Err() == nil
}

// abort leaves the command at the top of the script, as bash does after errors of
// expansions; a subshell ends.
func (ex *execution) abort() {
	ex.status = 1
	if ex.subshell > 0 || ex.opt&option.ErrExit != 0 && ex.noErrExit == 0 {
		ex.ctl = ctlExit
	} else {
		ex.ctl = ctlAbort
	}
}

// currentSource returns the file whose commands run, "" for -c.
func (s *scriptState) currentSource() string {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].source
	}
	return s.script
}

func (s *scriptState) stackName() string {
	if n := len(s.frames); n > 0 {
		return s.frames[n-1].name
	}
	return s.name
}

// reserveStack counts levels of constructs and charges for the stack that they take. The charge remains until the
// process ends, as the stack does.
func (ex *execution) reserveStack(levels int) bool {
	ex.levels += int32(levels)
	if ex.levels <= ex.paidLevels+freeLevels {
		return true
	}
	n := ex.levels - ex.paidLevels - freeLevels + levelBatch
	if !ex.charge(int(n) * levelStack) {
		return false
	}
	ex.paidLevels += n
	return true
}

// shallower undoes deeper.
func (ex *execution) shallower(levels int) {
	ex.depth--
	ex.levels -= int32(levels + callLevels)
}

const (
	callLevels = 4   // that a call takes besides those of its code
	freeLevels = 64  // of a process that count as no memory
	levelStack = 512 // bytes of stack that a level takes, about
	levelBatch = 32  // levels that are charged to a process at once
)
