package shell

import (
	"context"
	"io/fs"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/account"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/rlimit"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// execution is the part that the others rely on: the process on its machine, what it may use, its options and
// descriptors, the position in the scripts, and the status. It writes messages and accounts for memory and fuel; it
// knows no variables and runs no commands.
type execution struct {
	m   *machine
	ctx context.Context //nolint:containedctx // A process has one: it ends when the process is killed.

	processState
	callStack
	flow
	activeCommand
	descriptors
	scriptState

	opt    option.Set
	shopt  shopt.Set
	memory account.Account
	gas    int // fuel that the process has taken and not used
	cred   vfs.Cred
	dir    string
	umask  fs.FileMode
	rlimit *rlimit.Limits
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

// processState says which process of the machine the interpreter is.
type processState struct {
	p          *process.Process
	ownProcess bool       // p is not that of the parent
	ownedEnd   bool       // close takes p out of the table
	sole       bool       // the process runs one program, which may take p over
	inSubst    bool       // inside a command substitution
	signaled   int        // the signal that ends the process
	died       deadChild  // the program that a signal has just ended
	subshell   int        // BASH_SUBSHELL
	mainPID    int        // $$
	lastBg     int        // $!
	hosts      []*fd.Host // the streams of the run
}

// shellPID returns $$: that of the shell, also in subshells.
func (p *processState) shellPID() int { return p.mainPID }

// flow holds the status of the last command, and why commands are being left.
type flow struct {
	status     int
	pipeStatus []int
	pipeOne    [1]int // the array of pipeStatus for a single command
	ctl        control
	ctlN       int
	noErrExit  int // conditions around the command, where set -e does nothing
	exiting    bool
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

// scriptState describes the script that is being read.
type scriptState struct {
	script   string // the file that is run, "" for -c
	name     string // $0
	unitBase int    // conditions around the script being read
	echoed   bool   // set -v has shown the lines already
	readBuf  []byte // of the read builtin
}
