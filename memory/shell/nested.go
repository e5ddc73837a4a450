package shell

import (
	"io"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
)

// shells returns the programs that are this shell: bash and sh.
func shells() []Command {
	return []Command{{
		Name: "bash", Aliases: []string{"sh", "rbash", "dash"},
		Usage:   "[-abefhikmnptuvxBCEHPT] [-o option] [-O shopt_option] [-c command | -s | file] [argument ...]",
		Summary: "run commands of the shell language",
		Run:     runShell,
	}, {
		Name: "printf", Usage: "FORMAT [ARGUMENT]...", Summary: "write arguments by a format",
		Help: "The format is that of the shell's builtin, which has this name too; see `help printf'.",
		Run:  func(p *Proc) int { return p.originalBuiltin(p.sh.m.lib.builtins["printf"], p.Args) },
	}}
}

// nestedArgs is what a shell is started with.
type nestedArgs struct {
	name     string // $0
	script   string
	params   []string
	file     string // where script comes from, "" for -c
	command  bool   // -c
	stdin    bool   // read from descriptor 0
	opt      option
	off      option
	shopt    shopts
	shoptOff shopts
	posix    bool

	restricted bool
}

// runShell is the program bash.
func runShell(p *Proc) int {
	a := nestedArgs{name: p.Args[0], posix: p.Name() == "sh" || p.Name() == "dash", restricted: p.Name() == "rbash"}
	args := p.Args[1:]
	i, status := a.options(p, args)
	if status >= 0 {
		return status
	}
	args = args[i:]
	sh := p.sh.forProc(p)
	defer sh.close()
	switch {
	case a.command:
		if len(args) == 0 {
			p.complain("-c: option requires an argument")
			return 2
		}
		a.script = args[0]
		if len(args) > 1 {
			a.name, a.params = args[1], args[2:]
		}
	case a.stdin || len(args) == 0:
		a.stdin, a.params = true, args
	default:
		a.file, a.name, a.params = args[0], args[0], args[1:]
		text, st := sh.openScript(a.file)
		if st != 0 {
			return st
		}
		a.script = text
	}
	st := sh.runNested(a)
	if p.sh.sole { // It was this process.
		p.sh.signaled = sh.signaled
	} else if sh.signaled != 0 {
		p.sh.died = deadChild{sh.signaled, sh.p.PID}
	}
	return st
}

func (p *Proc) complain(msg string) {
	_, _ = io.WriteString(p.Stderr, p.Args[0]+": "+msg+"\n")
}

// options reads the options of a shell; status is -1 when it goes on.
func (a *nestedArgs) options(p *Proc, args []string) (i, status int) {
	for i < len(args) {
		s := args[i]
		if s == "--" || s == "-" {
			return i + 1, -1
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			return i, -1
		}
		i++
		if strings.HasPrefix(s, "--") {
			if used, st := a.longOption(p, s, args[i:]); st >= 0 {
				return i, st
			} else {
				i += used
			}
			continue
		}
		for j := 1; j < len(s); j++ {
			used, st := a.shortOption(p, s[0] == '-', s[j], args[i:])
			if st >= 0 {
				return i, st
			}
			i += used
		}
	}
	return i, -1
}

func (a *nestedArgs) longOption(p *Proc, s string, rest []string) (used, status int) {
	switch s {
	case "--posix":
		a.posix = true
	case "--version":
		_, _ = io.WriteString(p.Stdout, "GNU bash, version "+bashVersion+" ("+machineType+")\n")
		return 0, 0
	case "--help":
		_, _ = io.WriteString(p.Stdout, "GNU bash, version "+bashVersion+"-("+machineType+")\n"+
			"Usage:\tbash [GNU long option] [option] ...\n\tbash [GNU long option] [option] script-file ...\n")
		return 0, 0
	case "--norc", "--noprofile", "--noediting", "--login", "--debugger":
	case "--restricted":
		a.restricted = true
	case "--verbose":
		a.opt |= optVerbose
	case "--rcfile", "--init-file":
		if len(rest) > 0 {
			return 1, -1
		}
	default:
		p.complain(s + ": invalid option")
		return 0, 2
	}
	return 0, -1
}

func (a *nestedArgs) shortOption(p *Proc, on bool, c byte, rest []string) (used, status int) {
	switch c {
	case 'c':
		a.command = true
		return 0, -1
	case 's':
		a.stdin = true
		return 0, -1
	case 'i':
		a.opt |= optInteractive
		return 0, -1
	case 'l':
		a.shopt |= shLoginShell
		return 0, -1
	case 'r':
		a.restricted = a.restricted || on
		return 0, -1
	case 'D':
		return 0, -1
	case 'o', 'O':
		if len(rest) == 0 {
			return 0, -1
		}
		if c == 'O' {
			b := shoptBit(rest[0])
			if b == 0 {
				p.complain(rest[0] + ": invalid shell option name")
				return 0, 2
			}
			if on {
				a.shopt |= b
			} else {
				a.shoptOff |= b
			}
			return 1, -1
		}
		b := setBit(rest[0])
		if b == 0 {
			p.complain("line 0: " + p.Name() + ": " + rest[0] + ": invalid option name")
			return 0, 2
		}
		if b == optPosix {
			a.posix = on
		}
		a.set(on, b)
		return 1, -1
	}
	b := letterBit(c)
	if b == 0 {
		p.complain("-" + string(c) + ": invalid option")
		return 0, 2
	}
	a.set(on, b)
	return 0, -1
}

func (a *nestedArgs) set(on bool, b option) {
	if on {
		a.opt |= b
	} else {
		a.off |= b
	}
}

// forProc returns a process for a shell that p is: with p's streams and environment, and nothing else
// of the shell that started it.
func (sh *interp) forProc(p *Proc) *interp {
	c := &interp{
		m: sh.m, p: sh.p, ctx: p.ctx, epoch: newEpoch(), cred: sh.cred, umask: sh.umask, dir: sh.dir, rlimit: sh.rlimit,
		opt: defaultOpt, shopt: defaultShopt, fds: fd.NewTable(), start: sh.m.now().Unix(), depth: sh.depth,
	}
	c.introduce()
	for _, n := range sh.fds.Numbers() {
		if n > 2 {
			_ = c.setFd(n, sh.fds.Get(n).Ref())
		}
	}
	_ = c.setFd(0, fd.ReaderOf(p.Stdin))
	_ = c.setFd(1, fd.WriterOf(p.Stdout))
	_ = c.setFd(2, fd.WriterOf(p.Stderr))
	c.importEnv(p.Environ())
	// A shell has a number of its own: scripts signal $$.
	if sh.sole && sh.ownProcess {
		c.ownProcess = true
		c.p.Handled.Store(0)
		c.p.Soft.Store(false)
	} else if q, err := sh.m.table.Start(p.ctx, sh.p); err == nil {
		c.p, c.ctx, c.ownProcess, c.ownedEnd = q, q.Ctx, true, true
	}
	c.hearsNot(c.p.Ignored.Load())
	if c.ownProcess {
		c.show(strings.Join(p.Args, " "))
	}
	c.mainPID = c.p.PID
	c.gas = 0
	return c
}

// openScript returns the text of a script to run: the file, or one of that name in PATH.
func (sh *interp) openScript(file string) (string, int) {
	text, err := sh.readScript(file)
	if err != nil && !strings.Contains(file, "/") {
		if _, found, err2 := sh.findCommand(file); err2 == nil && found != "" {
			text, err = sh.readScript(found)
		}
	}
	if err == nil {
		if strings.IndexByte(firstLine(text), 0) >= 0 || strings.HasPrefix(text, stubMagic) {
			sh.errorRaw(file + ": " + file + ": cannot execute binary file\n")
			return "", 126
		}
		return text, 0
	}
	name := sh.name
	if name == "" {
		name = "bash"
	}
	sh.errorRaw(name + ": " + file + ": " + Strerror(err) + "\n")
	if Errno(err) == syscall.ENOENT {
		return "", 127
	}
	return "", 126
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// runNested runs a shell on a process that has been made for it.
func (sh *interp) runNested(a nestedArgs) int {
	sh.name, sh.params = a.name, a.params
	if !sh.deeper("shell") {
		return sh.status
	}
	sh.opt = sh.opt&^a.off | a.opt
	sh.shopt = sh.shopt&^a.shoptOff | a.shopt
	if a.posix {
		sh.opt |= optPosix
		sh.shopt |= shExpandAliases
	}
	if a.restricted {
		sh.funcs, sh.funcsShared = nil, false
	}
	sh.initVars(1)
	if _, ok := sh.value(slotPOSIXLY); ok {
		sh.opt |= optPosix
	}
	if sh.opt&optInteractive != 0 {
		sh.interactive()
	} else {
		sh.sourceEnv()
	}
	if a.restricted {
		sh.restrict()
	}
	what := ""
	switch {
	case a.command:
		sh.opt |= optCommand
		sh.setCommandString(a.script)
		what = "-c"
	case a.stdin:
		sh.opt |= optStdin
	default:
		sh.script = a.file
	}
	var st int
	if a.stdin {
		st = sh.runStdin()
	} else {
		st = sh.runText(a.script, 1, what)
	}
	st = sh.finish(st)
	sh.status = st
	return st
}

// sourceEnv reads the file that BASH_ENV names.
func (sh *interp) sourceEnv() {
	if name, ok := sh.value(slotBASHENV); ok && name != "" && sh.opt&optPosix == 0 {
		if text, err := sh.readScript(sh.quotedText(sh.m.lib.text(name))); err == nil {
			sh.runText(text, 1, "")
		}
	}
}

// runStdin runs a script from descriptor 0, line by line, so that its commands can read what follows.
func (sh *interp) runStdin() int {
	d := sh.fds.Get(0)
	if d == nil {
		return 0
	}
	d.Ref()
	defer d.Unref()
	lines := &lineReader{}
	sh.echoed = true
	more := func() (string, bool) {
		line, ok := lines.next(sh, d, '\n', 0)
		if line == "" && !ok {
			return "", false
		}
		if ok {
			line += "\n"
		}
		if sh.opt&optVerbose != 0 {
			sh.errorRaw(line)
		}
		return line, true
	}
	return sh.runParser(sh.parser("", 1, more), "")
}

// interactive sets what bash -i has besides.
func (sh *interp) interactive() {
	sh.shopt |= shExpandAliases
	sh.opt |= optEmacs | optHistory | optMonitor | optHistExpand
	sym := sh.m.lib.symbols
	for name, value := range map[string]string{
		"PS1": `\s-\v\$ `, "PS2": "> ", "HISTSIZE": "500", "HISTFILESIZE": "500", "HISTFILE": sh.get(slotHOME) + "/.bash_history",
	} {
		if sh.cell(sym.slot(name)) == nil {
			sh.assign(sym.slot(name), value)
		}
	}
}
