package shell

import (
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/array"
	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
)

// Version is the bash whose behaviour this is.
const (
	bashVersion = "5.2.15(1)-release"
	machineType = "x86_64-pc-linux-gnu"
)

// newInterp returns the first process of a machine.
func newInterp(m *machine, o Options) *interp {
	sh := &interp{
		m: m, ctx: m.life, epoch: newEpoch(), cred: o.Cred, umask: o.Umask, name: o.Name, dir: o.Dir,
		opt: defaultOpt, shopt: defaultShopt, fds: fd.NewTable(), start: m.now().Unix(),
	}
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
	sh.introduce()
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
func (sh *interp) initVars(shlvl int) {
	sym := sh.m.lib.symbols
	set := func(name, value string, a attr) {
		c := &cell{epoch: sh.epoch, attr: a}
		c.store(value)
		sh.put(sym.slot(name), c)
	}
	unset := func(name, value string) {
		if c := sh.cell(sym.slot(name)); c == nil {
			set(name, value, 0)
		}
	}
	set("IFS", " \t\n", 0)
	unset("PS4", "+ ")
	set("OPTIND", "1", 0)
	set("OPTERR", "1", 0)
	unset("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	unset("TERM", "dumb")
	if n, err := strconv.Atoi(sh.get(slotSHLVL)); err == nil {
		shlvl = n + 1
	}
	if sh.opt&optPosix == 0 {
		unset("SHELL", "/bin/bash")
	}
	set("SHLVL", strconv.Itoa(shlvl), attrExport)
	set("BASH", "/bin/bash", 0)
	set("BASH_VERSION", bashVersion, 0)
	unset("HOSTNAME", sh.m.hostname)
	unset("HOSTTYPE", "x86_64")
	unset("OSTYPE", "linux-gnu")
	unset("MACHTYPE", machineType)
	set("UID", strconv.Itoa(int(sh.cred.UID)), attrReadonly|attrInteger)
	set("EUID", strconv.Itoa(int(sh.cred.UID)), attrReadonly|attrInteger)
	set("PPID", strconv.Itoa(sh.p.PPID), attrReadonly|attrInteger)
	set("COMP_WORDBREAKS", " \t\n\"'><=;|&(:", 0)
	sh.initPWD(set)
	sh.put(sym.slot("BASH_VERSINFO"), &cell{
		epoch: sh.epoch, attr: attrArray | attrSet | attrReadonly,
		arr: array.NewIndexed([]string{"5", "2", "15", "1", "release", machineType}, sh.epoch),
	})
	for _, d := range sh.m.lib.dynamics {
		if c := sh.cell(d.slot); c != nil && c.attr&attrExport != 0 && d.slot != slotUnderscore {
			if d.slot == slotSHELLOPTS || d.slot == slotBASHOPTS {
				sh.inheritOptions(d, c.str)
			}
			continue
		}
		sh.put(d.slot, d.cell)
	}
}

// inheritOptions turns on what SHELLOPTS or BASHOPTS of the environment lists.
func (sh *interp) inheritOptions(d dynamicCell, list string) {
	for name := range strings.SplitSeq(list, ":") {
		if d.slot == slotSHELLOPTS {
			sh.opt |= setBit(name) &^ (optInteractive | optMonitor)
		} else {
			sh.shopt |= shoptBit(name)
		}
	}
	c := *d.cell
	c.epoch = sh.epoch
	c.attr |= attrExport
	sh.put(d.slot, &c)
}

// setCommandString tells the script what -c ran.
func (sh *interp) setCommandString(text string) {
	c := &cell{epoch: sh.epoch}
	c.store(text)
	sh.put(slotExecutionString, c)
}

// initPWD takes the directory's name from the environment when it is right.
func (sh *interp) initPWD(set func(string, string, attr)) {
	pwd := sh.get(slotPWD)
	named := false
	if pwd != "" && pwd[0] == '/' && path.Clean(pwd) == pwd {
		a, err1 := sh.m.fs.Stat(sh.cred, pwd)
		b, err2 := sh.m.fs.Stat(sh.cred, sh.dir)
		named = err1 == nil && err2 == nil && a.Ino == b.Ino
	}
	if named {
		sh.dir = pwd
	} else if real, err := sh.m.fs.Realpath(sh.cred, sh.dir); err == nil {
		sh.dir = real
	}
	set("PWD", sh.dir, attrExport)
	if c := sh.cell(slotOLDPWD); c == nil {
		sh.put(slotOLDPWD, &cell{epoch: sh.epoch, attr: attrExport})
	}
}

// dynamicCell is a special variable as each shell begins with it.
type dynamicCell struct {
	slot int
	cell *cell
}

// dynamicCells returns the cells of the special variables; they belong to no epoch and are copied
// by whoever changes them.
func dynamicCells(sym *symbols) []dynamicCell {
	var list []dynamicCell
	for name, d := range dynamics() {
		a := attrDynamic | d.attr
		list = append(list, dynamicCell{sym.slot(name), &cell{attr: a, dyn: d}})
	}
	return list
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
	sh.trapsInherited = false
	sh.subshell--
	sh.fb = nil
}

// lookupEnv returns an exported variable.
func (sh *interp) lookupEnv(name string) (string, bool) {
	slot := sh.m.lib.symbols.known(name)
	if slot < 0 {
		return "", false
	}
	if c := sh.cell(slot); c != nil && c.attr&attrExport != 0 && c.attr&(attrArray|attrAssoc) == 0 && c.isSet() {
		return sh.text(c), true
	}
	return "", false
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
func (sh *interp) readSmall(name string) string {
	f, err := sh.m.fs.OpenFile(sh.ctx, sh.cred, name, os.O_RDONLY, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	n, _ := f.Read(buf)
	return string(buf[:n])
}

// shellPID is $$: that of the shell, also in subshells.
func (sh *interp) shellPID() int { return sh.mainPID }
