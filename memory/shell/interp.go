package shell

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

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

// interp is a process that runs the shell language: everything that a fork copies. Only
// its goroutine uses it.
type interp struct {
	m          *machine
	p          *process.Process
	ownProcess bool            // p is not that of the parent
	ownedEnd   bool            // close takes p out of the table
	sole       bool            // the process runs one program, which may take p over
	signaled   int             // the signal that ends the process
	died       deadChild       // the program that a signal has just ended
	inSubst    bool            // inside a command substitution
	ctx        context.Context //nolint:containedctx // A process has one: it ends when the process is killed.

	vars        []*cell // by slot
	varsShared  bool    // vars belongs to another process too
	epoch       uint64  // cells of this epoch may be written
	birth       uint64  // of cells older than this the parent has the memory
	escapes     uint64  // how often a process that goes on beside this one was given the cells
	funcs       []*function
	funcsShared bool
	before      forkState

	opt   option
	shopt shopts

	cred   vfs.Cred
	as     asker
	dir    string
	umask  fs.FileMode
	rlimit *rlimits
	fds    *fd.Table

	name         string   // $0
	params       []string // $1 ...
	frames       []frame
	framesShared bool
	saved        []savedCell // values that locals and temporary variables have put aside

	status     int
	pipeStatus []int
	lastArg    string     // $_
	lastBg     int        // $!
	mainPID    int        // $$
	hosts      []*fd.Host // the streams of the run
	ctl        control
	ctlN       int
	line       int
	gas        int
	noErrExit  int // inside a condition
	loops      int // loops around the command
	depth      int // calls, substitutions and evals around the command
	stack      []string
	scratch    []byte
	fb         *fields // builder of fields, when free

	aliases        map[string]string
	aliasShared    bool
	traps          *traps
	trapOff        uint8 // of DEBUG, RETURN and ERR: not in this function
	trapsInherited bool  // they are the parent's: only listed, mostly
	jobs           *jobTable
	subshell       int // BASH_SUBSHELL
	options        optState
	dirStack       []string
	history        []string
	historyOwn     bool // its last entry is the command that runs
	hash           map[string]*hashed
	hashPath       string // the PATH that hash is about
	hashEpoch      uint64 // of the process that hash belongs to
	rand           *randState
	start          int64 // for SECONDS
	ifsText        string
	ifsSet         [256]uint8
	ifsKnown       bool
	ifsWide        bool
	mem            int // bytes not yet told to the machine
	memTold        int
	inherited      int // bytes that the parent has told, and this process sees
	held           int // bytes that the running commands hold, among those above
	paramsTold     int // bytes of parameters that set has made for the running function
	arithErr       *arithError
	arithArgs      []arithArg
	arithDepth     int
	script         string   // the file that is run, "" for -c
	undo           []undoFd // descriptors that redirections have put aside
	procSubs       []*job
	current        *simpleCode // the running command, for BASH_COMMAND
	substRan       bool        // a substitution gave a status to an assignment
	builtinName    string      // the running builtin
	declArgs       map[int]*assignCode
	disabled       map[string]bool // builtins that enable -n has turned off
	redirFailed    bool
	skipCommand    bool
	pipeOne        [1]int
	condErr        int // status of an error in [[ ]]
	condNot        bool
	setParams      bool   // the sourced file has set the parameters
	traceArith     string // what set -x shows before the expression that is evaluated
	inXTrace       bool
	evals          int // evals and sources around the command, for PS4
	readBuf        []byte
	echoed         bool              // set -v has shown the lines already
	specs          map[string]string // of complete
	inTrap         int
	inErrTrap      bool
	inChildTrap    bool
	childrenLater  int64  // that the trap of SIGCHLD has waited for
	deaf           uint64 // bits of signals that were ignored when the shell began, which stay so
	inWords        int    // commands whose words are being made
	inReturnTrap   bool
	debugText      func() string // the command that a DEBUG trap is about
	debugStatus    int
	sourceLevel    int
	unitBase       int // conditions around the script being read
	exiting        bool
}

// optState is what getopts keeps between calls.
type optState struct{ index, pos int }

// hashed is an entry of the hash builtin.
type hashed struct {
	path string
	hits int
}

// frame is a function being run, or a file being sourced.
type frame struct {
	fn         *function // nil: a source
	name       string    // FUNCNAME
	source     string    // BASH_SOURCE
	line       int       // where it was called
	args       []string
	saved      int // how much of saved belongs to the callers
	opts       optState
	localOpts  bool
	savedOpt   option
	savedShopt shopts
}

// savedCell is the variable that a local one hides.
type savedCell struct {
	slot int
	old  *cell
	temp bool // hidden by an assignment before a command
}

// lastEpoch numbers processes across all machines, so that a cell belongs to one only.
var lastEpoch atomic.Uint64 //nolint:gochecknoglobals // A counter; nothing depends on its value.

func newEpoch() uint64 { return lastEpoch.Add(1) }

// abs returns path as seen from the root.
func (sh *interp) abs(path string) string {
	switch {
	case path == "" || path[0] == '/':
		return path
	case strings.HasSuffix(sh.dir, "/"):
		return sh.dir + path
	}
	return sh.dir + "/" + path
}

// fork returns a process that begins as this one. While it runs on this goroutine the parent waits;
// reunite must be called when it has ended. With beside set, it runs at the same time.
func (sh *interp) fork(beside bool) *interp {
	c := &interp{}
	*c = *sh
	c.introduce()
	c.epoch = newEpoch()
	c.varsShared, c.funcsShared, c.aliasShared, c.framesShared = true, true, true, true
	c.before = forkState{sh.varsShared, sh.funcsShared, sh.aliasShared, sh.escapes}
	sh.varsShared, sh.funcsShared, sh.aliasShared = true, true, true
	c.sole = false
	c.escapes, c.ownProcess, c.ownedEnd, c.signaled, c.exiting = 0, false, false, 0, false
	c.trapsInherited, c.inTrap, c.inChildTrap, c.inWords, c.childrenLater = true, 0, false, 0, 0
	c.stack, c.scratch, c.fb = nil, nil, nil
	sh.bequeath(c, beside)
	c.fds = sh.fds.Share()
	c.loops = 0
	c.saved = slices.Clip(sh.saved)
	c.frames = slices.Clip(sh.frames)
	c.gas = 0
	c.subshell++
	c.jobs = nil
	c.undo, c.procSubs = nil, nil
	if sh.rand != nil {
		r := *sh.rand
		c.rand = &r
	}
	if beside {
		sh.epoch = newEpoch()
		sh.escapes++
		c.params = append([]string(nil), sh.params...)
		c.frames = append([]frame(nil), sh.frames...)
		c.framesShared = false
		c.saved = append([]savedCell(nil), sh.saved...)
		c.pipeStatus = append([]int(nil), sh.pipeStatus...)
	}
	return c
}

// reunite goes on after a child that ran on this goroutine.
func (sh *interp) reunite(c *interp) {
	sh.m.refuel(c.gas)
	if sh.p.Pending.Load() != 0 || sh.p.IsStopped() {
		sh.p.Attention.Store(true)
	}
	if c.escapes > 0 {
		sh.epoch = newEpoch()
		sh.escapes++
		return
	}
	if sh.escapes != c.before.escapes { // others have what was this process's alone before
		return
	}
	sh.varsShared, sh.funcsShared, sh.aliasShared = c.before.vars, c.before.funcs, c.before.aliases
}

// forkState is what of the parent was shared before the fork.
type forkState struct {
	vars, funcs, aliases bool
	escapes              uint64
}

// unwinding tells whether commands are being left; the next one must not run.
func (sh *interp) unwinding() bool { return sh.ctl != ctlNone }

// tick takes a unit of fuel and looks at signals. False: leave.
func (sh *interp) tick() bool {
	sh.gas--
	if sh.gas >= 0 && !sh.p.Attention.Load() {
		return sh.ctl == ctlNone
	}
	return sh.tickSlow()
}

// spend takes n units at once, for work that grows with its input.
func (sh *interp) spend(n int) bool {
	sh.gas -= n
	return sh.tick()
}

func (sh *interp) tickSlow() bool {
	sh.fill()
	if sh.ctx.Err() != nil {
		sh.die(sh.ctx)
		return false
	}
	if sh.p.Attention.Load() {
		sh.takeSignals()
	}
	return sh.ctl == ctlNone
}

// fill takes a batch of fuel when there is none left.
func (sh *interp) fill() {
	if sh.gas >= 0 {
		return
	}
	if err := sh.m.takeFuel(fuelBatch - sh.gas); err != nil {
		sh.m.stop(err)
	}
	sh.gas = fuelBatch
}

// burn takes n units for work in the middle of which no trap runs: signals wait for the next command. False: leave.
func (sh *interp) burn(n int) bool {
	sh.gas -= n
	sh.fill()
	return sh.ctx.Err() == nil
}

// die leaves the process because its context has ended; traps do not run.
func (sh *interp) die(ctx context.Context) {
	sh.status = 128 + int(syscall.SIGKILL)
	if s := process.KillSignal(context.Cause(ctx)); s != 0 {
		sh.status, sh.signaled = 128+int(s), int(s)
	}
	sh.ctl, sh.exiting = ctlExit, true
	sh.traps = nil
}

// exit leaves the process with the status; its EXIT trap runs.
func (sh *interp) exit(status int) int {
	sh.status = status & 0xff
	sh.ctl = ctlExit
	return sh.status
}

// abort leaves the command at the top of the script, as bash does after errors of
// expansions; a subshell ends.
func (sh *interp) abort() {
	sh.status = 1
	if sh.subshell > 0 || sh.opt&optErrExit != 0 && sh.noErrExit == 0 {
		sh.ctl = ctlExit
	} else {
		sh.ctl = ctlAbort
	}
}
