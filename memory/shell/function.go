package shell

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/getopts"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
)

// function is a shell function.
type function struct {
	name     string
	body     command
	src      *syntax.FuncDecl
	source   string // the file it was read from
	line     int
	export   bool
	trace    bool
	readonly bool
	birth    uint64 // of the process that defined it
}

// text is the definition as declare -f prints it.
func (f *function) text() string { return syntax.FunctionText(f.src) }

// functions holds the functions of a process, by slot of their name. A process that defines one while it shares the
// list with another makes its own.
type functions struct {
	funcs       []*function
	funcsShared bool // funcs belongs to another process too
}

// function returns the function in the slot, nil when there is none.
func (t *functions) function(slot int) *function {
	if slot < len(t.funcs) {
		return t.funcs[slot]
	}
	return nil
}

// define puts a function into the slot; nil removes it.
func (t *functions) define(slot int, f *function) {
	if slot >= len(t.funcs) || t.funcsShared {
		n := max(len(t.funcs), slot+1)
		if slot >= len(t.funcs) {
			n += n / 4
		}
		funcs := make([]*function, n)
		copy(funcs, t.funcs)
		t.funcs, t.funcsShared = funcs, false
	}
	t.funcs[slot] = f
}

// sortedFuncs returns the functions in the order of their names.
func (t *functions) sortedFuncs() []*function {
	var list []*function
	for _, f := range t.funcs {
		if f != nil {
			list = append(list, f)
		}
	}
	slices.SortFunc(list, func(a, b *function) int { return strings.Compare(a.name, b.name) })
	return list
}

// callStack holds the functions and sourced files that run, and their parameters.
type callStack struct {
	frames        []frame
	params        []string // $1 ...
	paramsCharged int      // bytes of parameters that set has made for the running function
	framesShared  bool     // frames belongs to another process too
	setParams     bool     // the sourced file has set the parameters
	loops         int      // loops around the command
	depth         int      // calls, substitutions and evals around the command
	levels        int32    // constructs around the command, in the calls around it too
	paidLevels    int32    // levels beyond freeLevels whose stack is charged to the process
	evals         int      // evals and sources around the command, for PS4
	sourceLevel   int
}

// frame is a function being run, or a file being sourced.
type frame struct {
	fn         *function // nil: a source
	name       string    // FUNCNAME
	source     string    // BASH_SOURCE
	line       int       // where it was called
	args       []string
	saved      int // how much of saved belongs to the callers
	opts       getopts.State
	localOpts  bool
	savedOpt   option.Set
	savedShopt shopt.Set
}

// ownFrames makes the frames this process's alone.
func (s *callStack) ownFrames() {
	if s.framesShared {
		s.frames, s.framesShared = slices.Clone(s.frames), false
	}
}

// top returns the innermost frame.
func (s *callStack) top() *frame { return &s.frames[len(s.frames)-1] }

// inFunction reports whether a function or a sourced file runs.
func (s *callStack) inFunction() bool { return len(s.frames) > 0 }

// inShellFunction reports whether a function runs.
func (s *callStack) inShellFunction() bool {
	return slices.ContainsFunc(s.frames, func(f frame) bool { return f.fn != nil })
}

// localBase returns how many of the variables that are put aside are older than the running function.
func (s *callStack) localBase() int {
	for _, v := range slices.Backward(s.frames) {
		if v.fn != nil {
			return v.saved
		}
	}
	return 0
}

// shiftSaved notes that the variable put aside with the index i is gone.
func (s *callStack) shiftSaved(i int) {
	s.ownFrames()
	for j := range s.frames {
		if s.frames[j].saved > i {
			s.frames[j].saved--
		}
	}
}

// column returns a text of each frame, the innermost first.
func (s *callStack) column(text func(frame) string) []string {
	list := make([]string, 0, len(s.frames)+1)
	for _, v := range slices.Backward(s.frames) {
		list = append(list, text(v)) // bounded: by the depth of calls
	}
	return list
}

func (c *compiler) funcDecl(n *syntax.FuncDecl, line int) command {
	slot := c.lib.symbols.slot(n.Name)
	lib := c.lib
	body := compileLazily(func() command { return (&compiler{lib: lib}).command(n.Body) })
	return func(sh *interp) int {
		sh.line = line
		if n.Bad {
			sh.errorf("`%s': not a valid identifier", n.Name)
			sh.status = 1
			return 1
		}
		if old := sh.function(slot); old != nil && old.readonly {
			sh.errorf("%s: readonly function", n.Name)
			sh.status = 1
			return 1
		}
		if sh.opt&option.Posix != 0 {
			if b := sh.m.lib.builtins[n.Name]; b != nil && b.special {
				sh.errorf("`%s': is a special builtin", n.Name)
				return sh.exit(2)
			}
			if !isName(n.Name) {
				sh.errorf("`%s': not a valid identifier", n.Name)
				return sh.exit(2)
			}
		}
		source := sh.currentSource()
		if source == "" {
			source = "environment"
		}
		sh.setFunction(slot, &function{name: n.Name, body: body, src: n, source: source, line: line, birth: sh.birth})
		if sh.ctl == ctlNone {
			sh.status = 0
		}
		return sh.status
	}
}

// setFunction defines a function; nil removes it.
func (sh *interp) setFunction(slot int, f *function) {
	sh.charge(f.weight() - sh.ownWeight(sh.function(slot)))
	sh.define(slot, f)
}

// weight is about how many bytes a function keeps in memory.
func (f *function) weight() int {
	if f == nil {
		return 0
	}
	return nameWeight + f.src.Nodes*nodeWeight
}

// call runs a function with args, of which the first is its name.
func (sh *interp) call(fn *function, args []string) int {
	if !sh.deeper("function", fn.src.Levels) {
		return sh.status
	}
	loops, params, line := sh.loops, sh.params, sh.line
	sh.ownFrames()
	sh.frames = append(sh.frames, frame{
		fn: fn, name: fn.name, source: fn.source, line: line, args: args[1:], saved: len(sh.saved), opts: sh.options,
	})
	charged := sh.paramsCharged
	sh.params, sh.loops, sh.paramsCharged = args[1:], 0, 0
	traps := sh.traps.EnterFunction(fn.trace, sh.opt)
	if sh.hasTrap(trap.Debug) {
		sh.traced(fn.line, func() string { return strings.Join(args, " ") })
	}
	st := 0
	if sh.ctl == ctlNone {
		st = fn.body(sh)
	}
	if sh.ctl == ctlReturn {
		sh.ctl = ctlNone
		st = sh.status
	}
	if sh.hasTrap(trap.Return) && sh.ctl == ctlNone {
		sh.status = st
		sh.runReturnTrap()
	}
	sh.traps.LeaveFunction(traps)
	top := sh.top()
	if len(sh.saved) > top.saved && sh.isLocal(slotOPTIND) {
		sh.options = top.opts
	}
	sh.restore(top.saved)
	if top.localOpts {
		sh.opt, sh.shopt = top.savedOpt, top.savedShopt
	}
	sh.frames = sh.frames[:len(sh.frames)-1]
	if sh.paramsCharged != 0 {
		sh.charge(-sh.paramsCharged)
	}
	sh.paramsCharged = charged
	sh.params, sh.loops, sh.line = params, loops, line
	sh.shallower(fn.src.Levels)
	return st
}

// deeper counts a level of calls whose code has levels of constructs inside each other; beyond the limit the script
// cannot go on. Everything that a script can nest at run time calls it: Go cannot recover from a stack
// that has grown too large.
func (sh *interp) deeper(what string, levels int) bool {
	limit := sh.m.limits.Depth
	if s, ok := sh.value(slotFUNCNEST); ok && what == "function" {
		if n, ok := plainInt(s); ok && n > 0 && int(n) < limit && sh.depth >= int(n) {
			sh.errorf("%s: maximum function nesting level exceeded (%d)", sh.stackName(), n)
			sh.abort()
			return false
		}
	}
	if sh.depth >= limit {
		sh.m.meet(ErrDepth)
		sh.errorf("%s: maximum %s nesting level exceeded (%d)", sh.stackName(), what, limit)
		sh.exit(2)
		return false
	}
	sh.depth++
	return sh.reserveStack(levels + callLevels)
}

// external runs a program and waits for it.
func (sh *interp) external(args []string) int {
	st := sh.program(args)
	sh.foreground(1)
	return st
}

func (sh *interp) program(args []string) int {
	name := args[0]
	if sh.refuses(name) {
		return 1
	}
	c, path, err := sh.findCommand(name)
	if err != nil && sh.ctx.Err() != nil {
		sh.die(sh.ctx)
		return sh.status
	}
	if err != nil {
		return sh.notFound(name, err, args)
	}
	return sh.runProgram(c, path, args)
}

// notFound prints why a program cannot be run.
func (sh *interp) notFound(name string, err error, args []string) int {
	if fn := sh.namedFunction("command_not_found_handle"); fn != nil && !strings.Contains(name, "/") {
		c := sh.fork(false)
		st := c.call(fn, append([]string{fn.name}, args...))
		st = c.finish(st)
		sh.reunite(c)
		return st
	}
	if h, ok := errors.AsType[*hashError](err); ok {
		name = h.path
	}
	switch Errno(err) {
	case syscall.ENOENT:
		if strings.Contains(name, "/") || sh.get(slotPATH) == "" {
			sh.errorf("%s: No such file or directory", name)
		} else {
			shown := name
			if quote.NeedsANSI(sh.locale(), name) {
				shown = sh.quoteShell(name)
			}
			sh.errorf("%s: command not found%s", shown, sh.m.hint(name))
		}
		return 127
	case syscall.ENOTDIR:
		sh.errorf("%s: %s", name, Strerror(err))
		return 126
	default:
	}
	sh.errorf("%s: %s", name, Strerror(err))
	return 126
}

func (sh *interp) namedFunction(name string) *function {
	if slot := sh.m.lib.symbols.known(name); slot >= 0 {
		return sh.function(slot)
	}
	return nil
}

// binDirs are the directories in which registered commands appear.
var binDirs = map[string]bool{"/bin": true, "/usr/bin": true}

// findCommand returns the program that a name means: a registered one, or the path of a file.
func (sh *interp) findCommand(name string) (*Command, string, error) {
	if strings.IndexByte(name, '/') >= 0 {
		return sh.programAt(name)
	}
	if name == "" {
		return nil, "", syscall.ENOENT
	}
	path := sh.get(slotPATH)
	sh.hash.Use(path)
	if h := sh.hash.Lookup(name); h != nil {
		sh.hash.Hit(h, sh.epoch)
		c, file, err := sh.programAt(h.Path)
		if err != nil {
			err = &hashError{h.Path, err}
		}
		return c, file, err
	}
	c, file, err := sh.searchPath(name, path)
	if err == nil && sh.opt&option.HashAll != 0 && !strings.HasPrefix(file, "./") {
		sh.setHash(name, file, 1)
	}
	return c, file, err
}

// hashError means that a program is gone from where it was found.
type hashError struct {
	path string
	err  error
}

func (e *hashError) Error() string { return e.path + ": " + e.err.Error() }
func (e *hashError) Unwrap() error { return e.err }

// searchPath looks for a program in the directories of path.
func (s *processState) searchPath(name, path string) (*Command, string, error) {
	var denied error
	for {
		dir, rest, more := strings.Cut(path, ":")
		if binDirs[strings.TrimRight(dir, "/")] {
			if c := s.m.command(name); c != nil && !s.fileAt(dir+"/"+name) {
				return c, dir + "/" + name, nil
			}
		}
		if dir == "" {
			dir = "."
		}
		c, file, err := s.programAt(strings.TrimSuffix(dir, "/") + "/" + name)
		if err == nil {
			return c, file, nil
		}
		if Errno(err) == syscall.EACCES {
			denied = err
		}
		if !more {
			break
		}
		path = rest
	}
	if denied != nil {
		return nil, "", denied
	}
	return nil, "", syscall.ENOENT
}

func (s *processState) fileAt(path string) bool {
	info, err := s.m.fs.Stat(s.cred, s.abs(path))
	return err == nil && info.Mode.IsRegular()
}

// programAt returns the program at a path.
func (s *processState) programAt(path string) (*Command, string, error) {
	info, err := s.m.fs.Stat(s.cred, s.abs(path))
	if err != nil {
		if i := strings.LastIndexByte(path, '/'); Errno(err) == syscall.ENOENT && i > 0 && binDirs[path[:i]] {
			if c := s.m.command(path[i+1:]); c != nil {
				return c, path, nil
			}
		}
		return nil, path, err
	}
	switch {
	case info.Mode.IsDir():
		return nil, path, syscall.EISDIR
	case info.Mode&fs.ModeType != 0, s.m.fs.Access(s.cred, s.abs(path), 1) != nil:
		return nil, path, syscall.EACCES
	case info.Mode.Perm()&0o111 == 0:
		return nil, path, syscall.EACCES
	}
	return nil, path, nil
}
