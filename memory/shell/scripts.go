package shell

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
)

// unitKey names a source and what its reading depends on.
type unitKey struct {
	src   string
	line  int
	flags parseFlags
}

// parseFlags are the options that change how a script is read.
type parseFlags uint8

const (
	parseExtGlob parseFlags = 1 << iota
	parseAliases            // there are aliases: the result is not cached
)

// script is a source with the commands that have been read of it.
type script struct {
	mu     sync.Mutex
	lib    *library
	parser *syntax.Parser
	units  []*unit
	nodes  int  // of all units
	kept   bool // the library caches it
	ended  bool // a process that had no more memory or time stopped reading
}

// unit is a complete command of a script.
type unit struct {
	run    command
	err    *syntax.Error
	warn   []syntax.Unended
	start  int
	src    string // its text
	line   int
	ends   bool // the end of the script
	nodes  int
	levels int // of constructs inside each other
}

// script returns the source for the key, new or as it was read before.
func (l *library) script(k unitKey) *script {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.units[k]
	if s == nil {
		ext := k.flags&parseExtGlob != 0
		s = &script{lib: l, parser: syntax.NewParser(k.src, syntax.Options{ExtGlob: func() bool { return ext }, Line: k.line})}
		l.room(len(k.src) + 256)
		if len(k.src) < maxUnits/4 {
			s.kept = true
			l.units[k] = s // bounded: by maxUnits
		}
	}
	return s
}

// room drops all scripts when size more bytes would exceed the limit of the cache. Under l.mu.
func (l *library) room(size int) {
	if l.unitSize += size; l.unitSize > maxUnits {
		clear(l.units)
		l.unitSize = size
	}
}

// grow counts what a script has become by reading on. Under s.mu.
func (s *script) grow(k unitKey, u *unit) {
	s.nodes += u.nodes
	s.ended = u.err != nil && u.err.Stopped
	if !s.kept {
		return
	}
	s.lib.mu.Lock()
	defer s.lib.mu.Unlock()
	s.lib.room(u.nodes * nodeWeight)
	if s.ended || len(k.src)+s.nodes*nodeWeight > maxUnits/4 {
		s.kept = false
		delete(s.lib.units, k)
	}
}

// unit returns the i-th command of a script, reading up to it; nil when another process
// that was reading it had to stop.
func (sh *interp) unit(k unitKey, s *script, i int) *unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i >= len(s.units) {
		if s.ended {
			return nil
		}
		u := sh.readUnit(s.parser)
		if s.grow(k, u); s.ended {
			return u
		}
		s.units = append(s.units, u) // bounded: by the nodes of the script, which are charged
	}
	return s.units[i]
}

// nodeWeight is about how many bytes a node of the tree takes with the closures made of it.
const nodeWeight = 400

// readUnit reads and compiles the next command. Its memory is held by the command that reads.
func (sh *interp) readUnit(p *syntax.Parser) *unit {
	names := sh.m.lib.symbols.weight.Load()
	n := 0
	step := sh.parseStep()
	p.Step = func(nodes, bytes int) bool {
		n += nodes
		return step(nodes, bytes)
	}
	u := sh.m.lib.read(p)
	p.Step = nil
	u.nodes = n
	sh.chargeNames(names)
	return u
}

// parseStep returns the function that a parser calls for new nodes. The command that reads holds their memory.
func (sh *interp) parseStep() func(nodes, bytes int) bool {
	return func(nodes, bytes int) bool { return sh.hold(nodes*nodeWeight+bytes) && sh.spend(nodes) }
}

// chargeNames charges for names that have become known since their weight was as much.
func (ex *execution) chargeNames(before int64) {
	if n := int(ex.m.lib.symbols.weight.Load() - before); n > 0 && !ex.m.take(n) {
		ex.failMemory(n)
	}
}

// read reads and compiles the next command.
func (l *library) read(p *syntax.Parser) *unit {
	u := &unit{}
	u.start, u.line = p.Pos()
	list, err := p.Next()
	u.src, u.warn, u.levels = p.Since(u.start), p.Unended(), p.Levels()
	if err != nil {
		// Next has no other errors.
		u.err, _ = err.(*syntax.Error) //nolint:errorlint // Not wrapped.
		return u
	}
	if list == nil {
		u.ends = true
		return u
	}
	u.run = (&compiler{lib: l}).list(list)
	return u
}

func (sh *interp) parseFlags() parseFlags {
	var f parseFlags
	if sh.shopt&shopt.ExtGlob != 0 {
		f = parseExtGlob
	}
	if sh.shopt&shopt.ExpandAliases != 0 && sh.aliases.Len() > 0 {
		f |= parseAliases
	}
	return f
}

// runText runs a script command by command; what names it in messages of the parser: "-c", "eval".
func (sh *interp) runText(src string, line int, what string) int {
	flags := sh.parseFlags()
	if int64(len(src)) > sh.m.limits.Source {
		sh.m.meet(ErrSource)
		sh.errorf("script too large")
		return sh.exit(2)
	}
	if flags&parseAliases != 0 {
		return sh.runParser(sh.parser(src, line, nil), what)
	}
	held := sh.memory.Held()
	defer func() { sh.releaseHeld(held) }()
	k := unitKey{src, line, flags}
	s := sh.m.lib.script(k)
	ran, at := false, 0
	for i := 0; ; i++ {
		u := sh.unit(k, s, i)
		if u == nil {
			return sh.runParser(sh.parser(src[at:], line+strings.Count(src[:at], "\n"), nil), what)
		}
		at = u.start + len(u.src)
		if i > 0 && sh.parseFlags() != flags { // From here on the options read the script differently.
			return sh.runParser(sh.parser(src[u.start:], u.line, nil), what)
		}
		if u.ends {
			if !ran {
				sh.status = 0
			}
			return sh.status
		}
		ran = true
		if !sh.runUnit(u, what) {
			return sh.status
		}
	}
}

// parser returns a parser that asks this process for its aliases and options.
func (sh *interp) parser(src string, line int, more func() (string, bool)) *syntax.Parser {
	return syntax.NewParser(src, syntax.Options{
		Alias: sh.alias, ExtGlob: func() bool { return sh.shopt&shopt.ExtGlob != 0 }, More: more, Line: line,
	})
}

// alias returns what an alias stands for.
func (sh *interp) alias(name string) (string, bool) {
	if sh.shopt&shopt.ExpandAliases == 0 {
		return "", false
	}
	s, ok := sh.aliases.Lookup(name)
	return s, ok
}

// runParser runs what the parser reads.
func (sh *interp) runParser(p *syntax.Parser, what string) int {
	ran := false
	for {
		held := sh.memory.Held()
		u := sh.readUnit(p)
		if u.ends {
			if !ran {
				sh.status = 0
			}
			return sh.status
		}
		ran = true
		goOn := sh.runUnit(u, what)
		if sh.releaseHeld(held); !goOn {
			return sh.status
		}
	}
}

// runUnit runs one command of a script; false: the script is over.
func (sh *interp) runUnit(u *unit, what string) bool {
	if sh.opt&option.Verbose != 0 && u.src != "" && !sh.echoed {
		sh.errorRaw(strings.TrimSuffix(u.src, "\n") + "\n")
	}
	if u.err != nil && u.err.Stopped {
		if sh.ctl == ctlNone {
			sh.exit(2)
		}
		return false
	}
	for _, w := range u.warn {
		sh.errorRaw(fmt.Sprintf("%s: line %d: warning: here-document at line %d delimited by end-of-file (wanted `%s')\n",
			sh.messageName(), w.Line, w.Start, w.Delim))
	}
	if u.err != nil {
		sh.syntaxError(u.err, what)
		return u.err.Goes
	}
	if sh.opt&option.NoExec != 0 && sh.opt&option.Interactive == 0 {
		return true
	}
	if sh.opt&option.History != 0 {
		sh.remember(u.src)
	}
	if sh.reserveStack(u.levels) {
		u.run(sh)
	}
	sh.levels -= int32(u.levels)
	switch sh.ctl {
	case ctlNone:
		return true
	case ctlAbort:
		sh.ctl = ctlNone
		sh.noErrExit = sh.unitBase
		sh.loops = 0
		return true
	default:
	}
	return false
}

// syntaxError writes the message for a syntax error.
func (sh *interp) syntaxError(e *syntax.Error, what string) {
	switch {
	case e.Status != 0:
		sh.status = e.Status
	case what == "eval" || what == "source":
		sh.status = 2
	}
	name := sh.messageName()
	if what != "" {
		name += ": " + what
	}
	prefix := name + ": line " + itoa(e.Line) + ": "
	if e.Msg == "" { // Some errors end a script without a message.
		return
	}
	var msg strings.Builder
	msg.WriteString(prefix + e.Msg + "\n")
	for _, m := range e.Then {
		msg.WriteString(name + ": line " + itoa(m.Line) + ": " + m.Msg + "\n")
	}
	if e.Source != "" {
		source := e.Source
		if what != "" && e.AtEnd && strings.HasSuffix(source, "\\") { // As bash reads on behind it.
			source += "\\"
		}
		msg.WriteString(prefix + "`" + source + "'\n")
	}
	sh.errorRaw(msg.String())
}

// evalText is eval and what works like it.
func (sh *interp) evalText(src string, line int, what string) int {
	if !sh.deeper("eval", 0) {
		return sh.status
	}
	base, loops := sh.unitBase, sh.loops
	sh.unitBase = sh.noErrExit
	sh.status = 0
	st := sh.runText(src, line, what)
	sh.unitBase = base
	sh.loops = loops
	sh.shallower(0)
	return st
}

// trapText returns what the parser's messages call the commands of a trap.
func trapText(n int) string {
	switch n {
	case trap.Exit:
		return "exit trap"
	case trap.Debug:
		return "debug trap"
	case trap.Err:
		return "error trap"
	case trap.Return:
		return "return trap"
	}
	return "trap"
}

// evalTrap runs the commands of a trap.
func (sh *interp) evalTrap(n int, src string) {
	line := sh.line
	if n == trap.Exit || n > 0 && n <= signal.RTMAX {
		line = 1
	}
	status := sh.status
	if !sh.deeper("trap", 0) {
		return
	}
	base := sh.unitBase
	sh.unitBase = sh.noErrExit
	sh.status = status
	sh.runText(src, line, trapText(n))
	sh.unitBase = base
	sh.shallower(0)
}

// shellPrograms returns the programs that are this shell: bash and sh.
func shellPrograms() []Command {
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

// nestedArgs are the arguments of a nested shell.
type nestedArgs struct {
	name     string // $0
	script   string
	params   []string
	file     string // where script comes from, "" for -c
	command  bool   // -c
	stdin    bool   // read from descriptor 0
	opt      option.Set
	off      option.Set
	shopt    shopt.Set
	shoptOff shopt.Set
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
		a.opt |= option.Verbose
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
		a.opt |= option.Interactive
		return 0, -1
	case 'l':
		a.shopt |= shopt.LoginShell
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
			b := shopt.ByName(rest[0])
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
		b := option.ByName(rest[0])
		if b == 0 {
			p.complain("line 0: " + p.Name() + ": " + rest[0] + ": invalid option name")
			return 0, 2
		}
		if b == option.Posix {
			a.posix = on
		}
		a.set(on, b)
		return 1, -1
	}
	b := option.ByLetter(c)
	if b == 0 {
		p.complain("-" + string(c) + ": invalid option")
		return 0, 2
	}
	a.set(on, b)
	return 0, -1
}

func (a *nestedArgs) set(on bool, b option.Set) {
	if on {
		a.opt |= b
	} else {
		a.off |= b
	}
}

// forProc returns a process for a shell that p is: with p's streams and environment, and nothing else
// of the shell that started it.
func (sh *interp) forProc(p *Proc) *interp {
	c := &interp{computedState: computedState{start: sh.m.now().Unix()}}
	c.m, c.ctx, c.cred, c.umask, c.dir, c.rlimit = sh.m, p.ctx, sh.cred, sh.umask, sh.dir, sh.rlimit
	c.opt, c.shopt = option.Default, shopt.Default
	c.p, c.epoch, c.fds, c.depth = sh.p, newEpoch(), fd.NewTable(), sh.depth
	c.levels, c.paidLevels = sh.levels, sh.paidLevels
	c.connect()
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
	c.traps.Lock(c.p.Ignored.Load())
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
	if !sh.deeper("shell", 0) {
		return sh.status
	}
	sh.opt = sh.opt&^a.off | a.opt
	sh.shopt = sh.shopt&^a.shoptOff | a.shopt
	if a.posix {
		sh.opt |= option.Posix
		sh.shopt |= shopt.ExpandAliases
	}
	if a.restricted {
		sh.funcs, sh.funcsShared = nil, false
	}
	sh.initVars(1)
	if _, ok := sh.value(slotPOSIXLY); ok {
		sh.opt |= option.Posix
	}
	if sh.opt&option.Interactive != 0 {
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
		sh.opt |= option.Command
		sh.setCommandString(a.script)
		what = "-c"
	case a.stdin:
		sh.opt |= option.Stdin
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
	if name, ok := sh.value(slotBASHENV); ok && name != "" && sh.opt&option.Posix == 0 {
		if text, err := sh.readScript(sh.expandNested(sh.textWord(name), sh.quotedText)); err == nil {
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
		if sh.opt&option.Verbose != 0 {
			sh.errorRaw(line)
		}
		return line, true
	}
	return sh.runParser(sh.parser("", 1, more), "")
}

// interactive sets what bash -i has besides.
func (sh *interp) interactive() {
	sh.shopt |= shopt.ExpandAliases
	sh.opt |= option.Emacs | option.History | option.Monitor | option.HistExpand
	sym := sh.m.lib.symbols
	for name, value := range map[string]string{
		"PS1": `\s-\v\$ `, "PS2": "> ", "HISTSIZE": "500", "HISTFILESIZE": "500", "HISTFILE": sh.get(slotHOME) + "/.bash_history",
	} {
		if sh.cell(sym.slot(name)) == nil {
			sh.assign(sym.slot(name), value)
		}
	}
}

// runProgram runs a registered command, or the file at a path, and waits for it.
func (sh *interp) runProgram(c *Command, file string, args []string) int {
	if c == nil {
		return sh.runFile(file, args, 0)
	}
	p := sh.proc(args)
	p.command = c
	return sh.runProc(p)
}

// proc returns a program's view of this process.
func (sh *interp) proc(args []string) *Proc {
	p := &Proc{Args: args, sh: sh, ctx: sh.ctx}
	p.as = asker{sh, p}
	p.Stdin, p.Stdout, p.Stderr = sh.stream(sh.ctx, 0), sh.stream(sh.ctx, 1), sh.stream(sh.ctx, 2)
	return p
}

// maxInterpreters bounds scripts that are the interpreters of scripts.
const maxInterpreters = 4

// runFile runs a file: what its first line names, or a shell.
func (sh *interp) runFile(file string, args []string, depth int) int {
	text, err := sh.readScript(file)
	if err != nil && sh.ctx.Err() != nil {
		sh.die(sh.ctx)
		return sh.status
	}
	if err != nil {
		sh.errorf("%s: %s", args[0], Strerror(err))
		return 126
	}
	line, _, _ := strings.Cut(text, "\n")
	if name, ok := strings.CutPrefix(line, stubMagic); ok {
		if c := sh.m.command(name); c != nil {
			return sh.runProgram(c, file, args)
		}
	}
	if args[0] != file && !strings.Contains(args[0], "/") {
		// A script sees the path it was found at.
		args = append([]string{file}, args[1:]...)
	}
	if interp, ok := strings.CutPrefix(line, "#!"); ok {
		return sh.runInterpreter(strings.TrimSpace(interp), file, args, depth)
	}
	if strings.IndexByte(line, 0) >= 0 {
		sh.errorf("%s: cannot execute binary file: Exec format error", args[0])
		return 126
	}
	p := sh.proc(args)
	c := sh.forProc(p)
	defer c.close()
	return c.runNested(nestedArgs{name: file, script: text, params: args[1:], file: file})
}

// stubMagic begins a file that represents a registered command; its name follows.
const stubMagic = "\x7fELF\x02\x01 in memory: "

// Stub returns the content of a file that, when it is executed, runs the registered command. Such files are in /usr/bin, where
// scripts look for programs.
func Stub(name string) []byte { return []byte(stubMagic + name + "\n\x00") }

// runInterpreter runs the program of a "#!" line.
func (sh *interp) runInterpreter(line, file string, args []string, depth int) int {
	prog, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	if depth >= maxInterpreters {
		sh.errorf("%s: %s: bad interpreter: %s", args[0], prog, Strerror(syscall.ELOOP))
		return 126
	}
	list := []string{prog}
	if arg != "" {
		list = append(list, arg)
	}
	list = append(append(list, file), args[1:]...)
	c, found, err := sh.programAt(prog)
	if err != nil {
		if path.Base(prog) == "env" && sh.m.command("env") == nil && arg != "" {
			list = list[1:]
			c, found, err = sh.findCommand(arg)
		}
		if err != nil {
			if Errno(err) == syscall.ENOENT {
				sh.errorf("%s: cannot execute: required file not found", args[0])
				return 127
			}
			sh.errorf("%s: %s: bad interpreter: %s", args[0], prog, Strerror(err))
			return 126
		}
	}
	if c != nil {
		return sh.runProgram(c, found, list)
	}
	return sh.runFile(found, list, depth+1)
}

// readScript returns the content of a script.
func (ex *execution) readScript(file string) (string, error) {
	d, err := ex.openFile(file, 0)
	if err != nil {
		return "", err
	}
	defer d.Unref()
	return ex.readAll(d)
}

// readAll reads to the end, as far as a script may be long.
func (ex *execution) readAll(d *fd.Description) (string, error) {
	var b bytes.Buffer
	buf := make([]byte, 32<<10)
	for {
		n, err := d.Read(ex.ctx, buf)
		if !ex.hold(2 * n) {
			return "", syscall.ENOMEM
		}
		b.Write(buf[:n]) // bounded: charged above
		if int64(b.Len()) > ex.m.limits.Source {
			return "", syscall.EFBIG
		}
		if err == io.EOF { //nolint:errorlint // Readers return it as it is.
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		if !ex.burn(n >> 6) { // a trap that exits would be taken for an error of the file's
			return "", syscall.EINTR
		}
	}
}

// isRestricted reports whether this is a restricted shell: bash -r, rbash, set -r. It may not leave its directory,
// run programs by a path, write to files by redirection, replace itself, or become unrestricted. What it runs,
// scripts too, is not restricted.
func (o *shellOptions) isRestricted() bool { return o.opt&option.Restricted != 0 }

// restrict makes this a restricted shell from its start: what decides where programs are stays as it is.
func (sh *interp) restrict() {
	sh.opt |= option.Restricted
	for _, name := range []string{"PATH", "SHELL", "ENV", "BASH_ENV", "HISTFILE"} {
		sh.own(sh.slot(name)).attr |= attrReadonly
	}
}

// refuses reports whether a restricted shell does not run the program, and says so.
func (ex *execution) refuses(name string) bool {
	if !ex.isRestricted() || strings.IndexByte(name, '/') < 0 {
		return false
	}
	ex.errorf("%s: restricted: cannot specify `/' in command names", name)
	return true
}
