package shell

import (
	"strings"
)

func (sh *interp) breakLoop(args []string) int    { return sh.loopControl(args, ctlBreak) }
func (sh *interp) continueLoop(args []string) int { return sh.loopControl(args, ctlContinue) }

// loopControl is break and continue.
func (sh *interp) loopControl(args []string, c control) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if sh.loops == 0 && sh.opt&optPosix != 0 {
		return 0
	}
	if sh.loops == 0 {
		sh.fail("only meaningful in a `for', `while', or `until' loop")
		return 0
	}
	n := int64(1)
	if len(args) > 1 {
		var ok bool
		if n, ok = numberArg(args[1]); !ok {
			sh.fail("%s: numeric argument required", args[1])
			sh.exit(128)
			return 128
		}
		if len(args) > 2 {
			sh.fail("too many arguments")
			return sh.exit(1)
		}
	}
	if n <= 0 {
		sh.fail("%s: loop count out of range", args[1])
		sh.ctl, sh.ctlN = ctlBreak, sh.loops
		return 1
	}
	sh.ctl, sh.ctlN = c, int(min(n, int64(sh.loops)))
	return 0
}

// statusArg is the operand of exit and return; ok is false when they must not go on.
func (sh *interp) statusArg(args []string) (st int, ok bool) {
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	if len(args) < 2 {
		return sh.status, true
	}
	n, valid := numberArg(args[1])
	if !valid {
		sh.fail("%s: numeric argument required", args[1])
		return 2, true
	}
	if len(args) > 2 {
		sh.fail("too many arguments")
		return 1, false
	}
	return int(n & 0xff), true
}

func (sh *interp) exitBuiltin(args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	st, ok := sh.statusArg(args)
	if !ok {
		sh.abort()
		return 1
	}
	if sh.inFunction() && sh.inTrap == 0 && sh.traps.has(trapExit) && !sh.trapsInherited {
		st = sh.runExitTrap(st) // It sees what the function made local.
	}
	return sh.exit(st)
}

func (sh *interp) logout(args []string) int {
	if sh.shopt&shLoginShell == 0 {
		return sh.fail("not login shell: use `exit'")
	}
	return sh.exitBuiltin(args)
}

func (sh *interp) returnBuiltin(args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	st, ok := sh.statusArg(args)
	if !ok {
		sh.abort()
		return 1
	}
	if !sh.inFunction() && sh.sourceLevel == 0 {
		sh.fail("can only `return' from a function or sourced script")
		return 2
	}
	sh.status = st
	sh.ctl = ctlReturn
	return st
}

func (sh *interp) eval(args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	args = args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	} else if len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		return sh.badOption(args[0][:2])
	}
	text := strings.Join(args, " ")
	if strings.TrimSpace(text) == "" {
		return 0
	}
	sh.evals++
	before := sh.builtinName
	sh.builtinName = ""
	st := sh.evalText(text, sh.line, "eval")
	sh.builtinName = before
	sh.evals--
	return st
}

// source is "." and source.
func (sh *interp) source(args []string) int {
	_, rest, st := sh.flags2(args, "-")
	if st >= 0 {
		return st
	}
	if len(rest) == 0 {
		st := sh.usage(sh.usageOf(), "filename argument required")
		if sh.opt&optPosix != 0 && args[0] == "." {
			sh.exit(st)
		}
		return st
	}
	name := rest[0]
	if sh.restricted() && strings.Contains(name, "/") {
		return sh.fail("%s: restricted", name)
	}
	path, text, err := sh.sourceText(name)
	if err != nil {
		switch {
		case strings.HasSuffix(Strerror(err), "directory") && Errno(err) == 21:
			sh.fail("%s: is a directory", name)
		case path == "" && !strings.Contains(name, "/"):
			sh.fail("%s: file not found", name)
		default:
			sh.errorf("%s: %s", name, Strerror(err))
		}
		if sh.opt&optPosix != 0 && args[0] == "." {
			sh.exit(1)
		}
		return 1
	}
	return sh.sourceRun(path, text, rest)
}

// sourceText finds the file in PATH, then here, and reads it.
func (sh *interp) sourceText(name string) (path, text string, err error) {
	if !strings.Contains(name, "/") && sh.shopt&shSourcePath != 0 {
		for dir := range strings.SplitSeq(sh.get(slotPATH), ":") {
			if dir == "" {
				dir = "."
			}
			if p := strings.TrimSuffix(dir, "/") + "/" + name; sh.fileAt(p) {
				path = p
				break
			}
		}
	}
	if path == "" && (sh.opt&optPosix == 0 || strings.Contains(name, "/")) {
		path = name
	}
	text, err = sh.readScript(path)
	if err != nil && !strings.Contains(name, "/") && sh.opt&optPosix != 0 {
		path = ""
	}
	return path, text, err
}

func (sh *interp) sourceRun(path, text string, rest []string) int {
	if strings.HasPrefix(text, stubMagic) {
		sh.fail("%s: cannot execute binary file", path)
		return 126
	}
	if !sh.deeper("source") {
		return sh.status
	}
	if sh.framesShared {
		sh.frames = append([]frame(nil), sh.frames...)
		sh.framesShared = false
	}
	params, line, loops, base, builtin := sh.params, sh.line, sh.loops, sh.unitBase, sh.builtinName
	sh.frames = append(sh.frames, frame{name: "source", source: path, line: line, args: rest, saved: len(sh.saved)})
	own := []string(nil)
	replaced := sh.setParams
	sh.setParams = false
	if len(rest) > 1 {
		own = append([]string(nil), rest[1:]...)
		sh.params = own
	}
	told := sh.paramsTold
	sh.paramsTold = 0
	sh.sourceLevel++
	sh.evals++
	sh.builtinName = ""
	sh.unitBase = sh.noErrExit
	sh.status = 0
	st := sh.runText(text, 1, "")
	if sh.ctl == ctlReturn {
		sh.ctl = ctlNone
		st = sh.status
	}
	if sh.hasTrap(trapReturn) && sh.ctl == ctlNone {
		sh.status = st
		sh.runReturnTrap()
	}
	sh.evals--
	sh.sourceLevel--
	sh.unitBase, sh.loops, sh.line, sh.builtinName = base, loops, line, builtin
	if len(rest) > 1 && (!sh.setParams || sh.inFunction()) {
		sh.params = params
		sh.charge(-sh.paramsTold)
		sh.paramsTold = told
	} else if sh.paramsTold == 0 {
		sh.paramsTold = told
	} else {
		sh.charge(-told)
	}
	sh.setParams = replaced || sh.setParams && len(rest) <= 1
	sh.frames = sh.frames[:len(sh.frames)-1]
	sh.depth--
	return st
}

// exec is the exec builtin with a command.
func (sh *interp) exec(args []string) int {
	list, rest, st := sh.flags2(args, "cla:")
	if st >= 0 {
		return st
	}
	if len(rest) == 0 {
		return 0
	}
	if sh.restricted() {
		return sh.fail("restricted")
	}
	name, clean, login := rest[0], false, ""
	for _, f := range list {
		switch f.c {
		case 'a':
			name = f.arg
		case 'c':
			clean = true
		case 'l':
			login = "-"
		}
	}
	c, path, err := sh.findCommand(rest[0])
	if err != nil {
		st := 127
		if Errno(err) != 2 {
			st = 126
		}
		if st == 127 && !strings.Contains(rest[0], "/") {
			sh.fail("%s: not found", rest[0])
		} else {
			sh.fail("%s: cannot execute: %s", rest[0], Strerror(err))
		}
		if sh.shopt&shExecFail != 0 {
			return st
		}
		return sh.exit(st)
	}
	argv := append([]string(nil), rest...)
	argv[0] = login + name
	sh.traps = nil
	sh.sole = true
	if sh.ownProcess {
		sh.show(strings.Join(argv, " "))
	}
	if clean {
		sh.vars, sh.varsShared = nil, false
	}
	st = sh.runProgram(c, path, argv)
	if sh.ctl == ctlNone {
		sh.exit(st)
	}
	return sh.status
}

func (sh *interp) shift(args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	if len(args) > 1 && args[1] == "--" {
		args = args[1:]
	}
	n := int64(1)
	if len(args) > 1 {
		var ok bool
		if n, ok = numberArg(args[1]); !ok {
			return sh.fail("%s: numeric argument required", args[1])
		}
		if len(args) > 2 {
			sh.fail("too many arguments")
			sh.abort()
			return 1
		}
	}
	if n < 0 {
		sh.fail("%s: shift count out of range", args[1])
		return 1
	}
	if n > int64(len(sh.params)) {
		if sh.shopt&shShiftVerbose != 0 {
			sh.fail("%d: shift count out of range", n)
		}
		return 1
	}
	sh.params = sh.params[n:]
	return 0
}

// caller tells where the running function was called from.
func (sh *interp) caller(args []string) int {
	n := 0
	if len(args) > 1 {
		v, ok := numberArg(args[1])
		if !ok || v < 0 {
			return sh.usage(sh.usageOf(), "%s: invalid number", args[1])
		}
		n = int(v)
	}
	lines, sources, names := sh.callLines(), sh.sources(), sh.funcNames()
	if len(sh.frames) == 0 || n >= len(sh.frames) || len(args) > 1 && n+1 >= len(names) {
		return 1
	}
	source := "NULL"
	if n+1 < len(sources) {
		source = sources[n+1]
	}
	if n+1 >= len(names) && sh.script == "" && len(args) > 1 && n > 0 {
		return 1
	}
	if len(args) == 1 {
		return sh.outString(lines[0] + " " + source + "\n")
	}
	name := "main"
	if n+1 < len(names) {
		name = names[n+1]
	}
	return sh.outString(lines[n] + " " + name + " " + source + "\n")
}
