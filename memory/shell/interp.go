package shell

import (
	"context"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/getopts"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// interp is a process that runs the shell language: everything that a fork copies. Only its goroutine uses it. It consists
// of parts, each with its own state; a function that needs several of them, or runs commands, is a method of interp.
type interp struct {
	execution
	variables
	functions
	expansion
	arithmetic
	trapRun
	jobControl
	commandNames
	directories
	commandHistory
	computedState

	before  forkState
	options getopts.State
	as      asker
}

// lastEpoch numbers processes across all machines, so that a cell belongs to one only.
var lastEpoch atomic.Uint64 //nolint:gochecknoglobals // A counter; nothing depends on its value.

func newEpoch() uint64 { return lastEpoch.Add(1) }

// abs returns path as seen from the root.
func (ex *execution) abs(path string) string {
	switch {
	case path == "" || path[0] == '/':
		return path
	case strings.HasSuffix(ex.dir, "/"):
		return ex.dir + path
	}
	return ex.dir + "/" + path
}

// connect lets the parts of a new interpreter refer to each other.
func (sh *interp) connect() {
	sh.variables.exec, sh.variables.eval = &sh.execution, sh
	sh.functions.exec, sh.functions.variables = &sh.execution, &sh.variables
	sh.expansion.exec, sh.expansion.variables, sh.expansion.sh = &sh.execution, &sh.variables, sh
	sh.arithmetic.exec, sh.arithmetic.variables = &sh.execution, &sh.variables
	sh.arithmetic.expansion, sh.arithmetic.sh = &sh.expansion, sh
	sh.trapRun.exec, sh.trapRun.eval = &sh.execution, sh
	sh.jobControl.exec, sh.jobControl.variables, sh.jobControl.trapRun = &sh.execution, &sh.variables, &sh.trapRun
	sh.jobControl.signals = sh
	sh.commandNames.exec, sh.commandNames.variables = &sh.execution, &sh.variables
	sh.directories.exec, sh.directories.variables = &sh.execution, &sh.variables
	sh.commandHistory.exec, sh.commandHistory.variables = &sh.execution, &sh.variables
	sh.commandHistory.expansion, sh.commandHistory.trapRun = &sh.expansion, &sh.trapRun
	sh.introduce()
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

// die leaves the process because its context has ended; traps do not run.
func (t *trapRun) die(ctx context.Context) {
	t.exec.status = 128 + int(syscall.SIGKILL)
	if s := process.KillSignal(context.Cause(ctx)); s != 0 {
		t.exec.status, t.exec.signaled = 128+int(s), int(s)
	}
	t.exec.ctl, t.exec.exiting = ctlExit, true
	t.traps.Clear()
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

// Version is the bash whose behaviour this is.
const (
	bashVersion = "5.2.15(1)-release"
	machineType = "x86_64-pc-linux-gnu"
)

// newInterp returns the first process of a machine.
func newInterp(m *machine, o Options) *interp {
	sh := &interp{
		execution: execution{
			m: m, ctx: m.life, opt: option.Default, shopt: shopt.Default, cred: o.Cred, umask: o.Umask, dir: o.Dir,
		},
		computedState: computedState{start: m.now().Unix()},
	}
	sh.epoch, sh.name, sh.fds = newEpoch(), o.Name, fd.NewTable()
	if sh.name == "" {
		sh.name = "bash"
	}
	if sh.dir == "" {
		sh.dir = "/"
	}
	p, err := m.table.Start(m.life, nil)
	if err != nil { // The limit is none at all: the shell itself still runs.
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

// initVars sets the variables that a shell has from the start.
func (v *variables) initVars(shlvl int) {
	sym := v.exec.m.lib.symbols
	set := func(name, value string, a attr) {
		c := &cell{epoch: v.epoch, attr: a}
		c.store(value)
		v.put(sym.slot(name), c)
	}
	unset := func(name, value string) {
		if c := v.cell(sym.slot(name)); c == nil {
			set(name, value, 0)
		}
	}
	set("IFS", " \t\n", 0)
	unset("PS4", "+ ")
	set("OPTIND", "1", 0)
	set("OPTERR", "1", 0)
	unset("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	unset("TERM", "dumb")
	if n, err := strconv.Atoi(v.get(slotSHLVL)); err == nil {
		shlvl = n + 1
	}
	if v.exec.opt&option.Posix == 0 {
		unset("SHELL", "/bin/bash")
	}
	set("SHLVL", strconv.Itoa(shlvl), attrExport)
	set("BASH", "/bin/bash", 0)
	set("BASH_VERSION", bashVersion, 0)
	unset("HOSTNAME", v.exec.m.hostname)
	unset("HOSTTYPE", "x86_64")
	unset("OSTYPE", "linux-gnu")
	unset("MACHTYPE", machineType)
	set("UID", strconv.Itoa(int(v.exec.cred.UID)), attrReadonly|attrInteger)
	set("EUID", strconv.Itoa(int(v.exec.cred.UID)), attrReadonly|attrInteger)
	set("PPID", strconv.Itoa(v.exec.p.PPID), attrReadonly|attrInteger)
	set("COMP_WORDBREAKS", " \t\n\"'><=;|&(:", 0)
	v.initPWD(set)
	v.put(sym.slot("BASH_VERSINFO"), &cell{
		epoch: v.epoch, attr: attrArray | attrSet | attrReadonly,
		arr: array.NewIndexed([]string{"5", "2", "15", "1", "release", machineType}, v.epoch),
	})
	for _, d := range v.exec.m.lib.dynamics {
		if c := v.cell(d.slot); c != nil && c.attr&attrExport != 0 && d.slot != slotUnderscore {
			if d.slot == slotSHELLOPTS || d.slot == slotBASHOPTS {
				v.inheritOptions(d, c.str)
			}
			continue
		}
		v.put(d.slot, d.cell)
	}
}

// inheritOptions turns on the options in SHELLOPTS or BASHOPTS of the environment.
func (v *variables) inheritOptions(d dynamicCell, list string) {
	for name := range strings.SplitSeq(list, ":") {
		if d.slot == slotSHELLOPTS {
			v.exec.opt |= option.ByName(name) &^ (option.Interactive | option.Monitor)
		} else {
			v.exec.shopt |= shopt.ByName(name)
		}
	}
	c := *d.cell
	c.epoch = v.epoch
	c.attr |= attrExport
	v.put(d.slot, &c)
}

// setCommandString sets BASH_EXECUTION_STRING to the script of -c.
func (v *variables) setCommandString(text string) {
	c := &cell{epoch: v.epoch}
	c.store(text)
	v.put(slotExecutionString, c)
}

// initPWD takes the directory's name from the environment when it is right.
func (v *variables) initPWD(set func(string, string, attr)) {
	pwd := v.get(slotPWD)
	named := false
	if pwd != "" && pwd[0] == '/' && path.Clean(pwd) == pwd {
		a, err1 := v.exec.m.fs.Stat(v.exec.cred, pwd)
		b, err2 := v.exec.m.fs.Stat(v.exec.cred, v.exec.dir)
		named = err1 == nil && err2 == nil && a.Ino == b.Ino
	}
	if named {
		v.exec.dir = pwd
	} else if real, err := v.exec.m.fs.Realpath(v.exec.cred, v.exec.dir); err == nil {
		v.exec.dir = real
	}
	set("PWD", v.exec.dir, attrExport)
	if c := v.cell(slotOLDPWD); c == nil {
		v.put(slotOLDPWD, &cell{epoch: v.epoch, attr: attrExport})
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

// lookupEnv returns an exported variable.
func (v *variables) lookupEnv(name string) (string, bool) {
	slot := v.exec.m.lib.symbols.known(name)
	if slot < 0 {
		return "", false
	}
	if c := v.cell(slot); c != nil && c.attr&attrExport != 0 && c.attr&(attrArray|attrAssoc) == 0 && c.isSet() {
		return v.text(c), true
	}
	return "", false
}

// environ returns the exported variables and functions.
func (t *functions) environ() []string {
	var list []string
	for slot, c := range t.variables.vars {
		if c == nil || c.attr&attrExport == 0 || c.attr&(attrArray|attrAssoc) != 0 || !c.isSet() {
			continue
		}
		list = append(list, t.exec.m.lib.symbols.name(slot)+"="+t.variables.text(c))
	}
	for _, f := range t.funcs {
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
func (ex *execution) readSmall(name string) string {
	f, err := ex.m.fs.OpenFile(ex.ctx, ex.cred, name, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	n, _ := f.Read(buf)
	return string(buf[:n])
}
