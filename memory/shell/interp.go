package shell

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/getopts"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/history"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// interp is a process that runs the shell language: everything that a fork copies. Only its goroutine uses it. It
// consists of parts, each with its own state; a method that needs several of them, or runs commands, is one of interp.
// Forks are frequent, so the size of interp counts: up to 1400 bytes it takes a block of 1408.
type interp struct {
	execution
	settings
	functions
	expansion
	arithmetic
	trapRun
	jobControl
	commandNames
	directories
	computedState

	before  forkState
	history history.List
	options getopts.State
}

// lastEpoch numbers processes across all machines, so that a cell belongs to one only.
var lastEpoch atomic.Uint64 //nolint:gochecknoglobals // A counter; nothing depends on its value.

func newEpoch() uint64 { return lastEpoch.Add(1) }

// connect lets the parts of a new interpreter refer to it, and gives it a /proc of its own. Each pointer makes a fork
// slower while garbage is collected, so a part has at most one.
func (sh *interp) connect() {
	sh.cells.sh, sh.expansion.sh, sh.trapRun.sh, sh.jobControl.sh = sh, sh, sh, sh
	sh.cred.Proc = (*procReader)(sh)
}

// fork returns a process that begins as this one. While it runs on this goroutine the parent waits;
// reunite must be called when it has ended. With beside set, it runs at the same time.
func (sh *interp) fork(beside bool) *interp {
	c := &interp{}
	*c = *sh
	c.connect()
	c.epoch = newEpoch()
	c.before = forkState{sh.varsShared, sh.funcsShared, sh.aliases.Share(), sh.escapes}
	sh.varsShared, sh.funcsShared = true, true
	c.varsShared, c.funcsShared, c.framesShared = true, true, true
	c.aliases.Share()
	c.sole = false
	c.escapes, c.ownProcess, c.ownedEnd, c.signaled, c.exiting = 0, false, false, 0, false
	c.traps.Inherit()
	c.inTrap, c.inChildTrap, c.inWords, c.childrenLater = 0, false, 0, 0
	c.stack, c.scratch, c.fb = nil, nil, nil
	sh.bequeath(c, beside)
	c.fds = sh.fds.Share()
	c.loops = 0
	c.saved = slices.Clip(sh.saved)
	c.frames = slices.Clip(sh.frames)
	c.gas = 0
	c.subshell++
	c.jobs = nil
	c.undo = nil
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
	sh.varsShared, sh.funcsShared = c.before.vars, c.before.funcs
	sh.aliases.SetShared(c.before.aliases)
}

// forkState is the part of the parent's state that was shared before the fork.
type forkState struct {
	vars, funcs, aliases bool
	escapes              uint64
}

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
	sh.m.gate.Pass(sh.ctx)
	if sh.ctx.Err() != nil {
		sh.die(sh.ctx)
		return false
	}
	if sh.p.Attention.Load() {
		sh.takeSignals()
	}
	return sh.ctl == ctlNone
}

// die leaves the process because its context has ended; traps do not run.
func (t *trapRun) die(ctx context.Context) {
	t.sh.status = 128 + int(syscall.SIGKILL)
	if s := process.KillSignal(context.Cause(ctx)); s != 0 {
		t.sh.status, t.sh.signaled = 128+int(s), int(s)
	}
	t.sh.ctl, t.sh.exiting = ctlExit, true
	t.traps.Clear()
}

// Version is the bash whose behaviour this is.
const (
	bashVersion = "5.2.15(1)-release"
	machineType = "x86_64-pc-linux-gnu"
)

// newInterp returns the first process of a machine.
func newInterp(m *machine, o Options) *interp {
	sh := &interp{computedState: computedState{start: m.now().Unix()}}
	sh.m, sh.ctx, sh.cred, sh.umask, sh.dir = m, m.life, o.Cred, o.Umask, o.Dir
	sh.opt, sh.shopt = option.Default, shopt.Default
	sh.epoch, sh.name, sh.fds = newEpoch(), o.Name, fd.NewTable()
	if sh.name == "" {
		sh.name = "bash"
	}
	if sh.dir == "" {
		sh.dir = "/"
	}
	p, err := m.table.Start(m.life, nil)
	if err != nil { // The table allows no process at all: the first shell runs outside of it.
		p = m.table.Outside(m.life)
	}
	p.PPID = 1
	sh.p, sh.ownProcess = p, true
	m.first = p
	sh.mainPID = p.PID
	sh.connect()
	sh.importEnv(o.Env)
	sh.initVars(1)
	sh.show(sh.name)
	return sh
}

// importEnv makes variables of an environment, and functions of BASH_FUNC_name%%.
func (sh *interp) importEnv(env []string) {
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok {
			continue
		}
		if !isName(name) {
			if f, ok := strings.CutPrefix(name, "BASH_FUNC_"); ok && strings.HasSuffix(f, "%%") && strings.HasPrefix(value, "() {") {
				sh.importFunction(strings.TrimSuffix(f, "%%"), value)
			}
			continue
		}
		c := &cell{epoch: sh.epoch, attr: attrExport}
		if sh.setText(c, value) {
			sh.put(sh.slot(name), c)
		}
	}
}

// importFunction defines a function of the environment; text that is more than that is left out.
func (sh *interp) importFunction(name, value string) {
	k := unitKey{src: name + " " + value, line: 1, flags: parseExtGlob}
	s := sh.m.lib.script(k)
	u := sh.unit(k, s, 0)
	if u == nil || u.err != nil || u.run == nil {
		return
	}
	if next := sh.unit(k, s, 1); next == nil || !next.ends {
		return
	}
	fds := sh.fds
	sh.fds = fd.NewTable()
	u.run(sh)
	sh.fds = fds
	if f := sh.namedFunction(name); f != nil {
		f.export = true
	}
}

// settle makes a forked process the first one of another machine.
func (sh *interp) settle(m *machine) {
	sh.m = m
	p, err := m.table.Start(m.life, nil)
	if err != nil {
		p = m.table.Outside(m.life)
	}
	p.PPID = 1
	sh.p, sh.ownProcess, sh.ctx, m.first = p, true, p.Ctx, p
	sh.mainPID = p.PID
	sh.fds = fd.NewTable()
	sh.show(sh.name)
	sh.traps.Adopt()
	sh.subshell--
	sh.fb = nil
}

// environ returns the exported variables and functions.
func (sh *interp) environ() []string {
	var list []string
	for slot, c := range sh.vars {
		if c == nil || c.attr&attrExport == 0 || c.attr&(attrArray|attrAssoc) != 0 || !c.isSet() {
			continue
		}
		list = append(list, sh.m.lib.symbols.name(slot)+"="+sh.text(c))
	}
	for _, f := range sh.funcs {
		if f != nil && f.export {
			text := f.text()
			if i := strings.Index(text, "()"); i >= 0 {
				list = append(list, "BASH_FUNC_"+f.name+"%%="+strings.Replace(text[i:], "() \n{", "() {", 1))
			}
		}
	}
	sortStrings(list)
	return list
}

// readSmall returns the content of a small file, "" when it cannot be read.
func (s *processState) readSmall(name string) string {
	f, err := s.m.fs.OpenFile(s.ctx, s.cred, name, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, smallFile)
	n, _ := f.Read(buf)
	return string(buf[:n])
}

// smallFile bounds a small file in bytes.
const smallFile = 64 << 10

// bequeath settles whose memory a forked process has: a child that its parent waits for
// sees the parent's memory; a concurrent one retains it when the parent changes it, so that it
// counts for both.
func (sh *interp) bequeath(c *interp, beside bool) {
	c.paramsCharged = 0
	if beside {
		c.memory, c.birth = sh.memory.Concurrent(int(sh.paidLevels)*levelStack), 0
		c.levels, c.paidLevels = 0, 0           // It has its own stack.
		sh.m.bytes.Add(int64(c.memory.Taken())) // The caller that starts the process checks the limit.
		return
	}
	c.memory, c.birth = sh.memory.Child(), c.epoch
}
