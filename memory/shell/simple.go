package shell

import (
	"slices"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/trap"
)

// simpleCode is a compiled simple command.
type simpleCode struct {
	alone   bool // see compiler.alone
	assigns []*assignCode
	words   []*word             // of an argument that is an assignment only one that has braces
	decl    map[int]*assignCode // arguments that are assignments, by number
	redirs  []*redirCode
	line    int
	src     *syntax.Simple
	cmd     *syntax.Command

	builtin *builtin // what a literal name means, functions apart
	slot    int      // of a literal name; -1: not literal
}

// activeCommand is the state of the command that runs.
type activeCommand struct {
	current     *simpleCode // for BASH_COMMAND
	line        int
	lastArg     string // $_
	builtinName string // the running builtin, "" for none
	declArgs    map[int]*assignCode
	inWords     int  // commands whose words are being made
	condErr     int  // status of an error in [[ ]]
	substRan    bool // a substitution gave a status to an assignment
	inXTrace    bool // the prefix of set -x is being made
	condNot     bool // inside a negation of [[ ]]
}

// simple compiles a simple command.
func (c *compiler) simple(s *syntax.Simple, cmd *syntax.Command) command {
	x := &simpleCode{line: cmd.Line, src: s, cmd: cmd, slot: -1, redirs: c.redirs(cmd.Redirs), alone: c.lone[cmd]}
	for _, a := range s.Assigns {
		x.assigns = append(x.assigns, c.assign(a)) // bounded: by the nodes of the script, which are charged
	}
	for i, w := range s.Words {
		if w.Assign != nil {
			if x.decl == nil {
				x.decl = map[int]*assignCode{}
			}
			x.decl[i] = c.assign(w.Assign)                // bounded: by the nodes of the script, which are charged
			x.words = append(x.words, c.braced(w.Assign)) // bounded: by the nodes of the script, which are charged
			continue
		}
		x.words = append(x.words, c.word(w, wordArg)) // bounded: by the nodes of the script, which are charged
	}
	if len(x.words) == 0 {
		if len(x.assigns) == 1 && len(x.redirs) == 0 {
			return x.assignOne
		}
		return x.assignOnly
	}
	if w := x.words[0]; w != nil && w.constant {
		x.slot = c.lib.symbols.slot(w.lit)
		x.builtin = c.lib.builtins[w.lit]
	}
	return x.run
}

// assignOne runs a command that is one assignment.
func (x *simpleCode) assignOne(sh *interp) int {
	if !sh.tick() {
		return sh.status
	}
	sh.line = x.line
	sh.running(x)
	if sh.isTracing() {
		return x.assignOnly(sh)
	}
	sh.substRan = false
	if !x.assigns[0].run(sh) {
		return x.assignFailed(sh)
	}
	sh.lastArg = ""
	if !sh.substRan {
		sh.status = 0
	}
	return sh.status
}

// assignFailed leaves the command after an assignment that could not be made.
func (x *simpleCode) assignFailed(sh *interp) int {
	switch {
	case sh.ctl != ctlNone:
	case sh.opt&option.Posix != 0:
		sh.fatal()
	default:
		sh.abort()
	}
	return sh.status
}

// assignOnly runs a command that has no name.
func (x *simpleCode) assignOnly(sh *interp) int {
	if !sh.tick() {
		return sh.status
	}
	sh.line = x.line
	if sh.traced(x.line, x.text); sh.ctl != ctlNone {
		return sh.status
	}
	sh.substRan = false
	return x.nameless(sh)
}

// nameless makes the assignments and redirections of a command whose words came to nothing.
func (x *simpleCode) nameless(sh *interp) int {
	undo := len(sh.undo)
	failed := len(x.redirs) > 0 && !sh.redirect(x.redirs)
	if failed && sh.ctl != ctlNone {
		sh.undoRedirs(undo)
		return sh.status
	}
	for _, a := range x.assigns {
		if !a.run(sh) {
			sh.undoRedirs(undo)
			return x.assignFailed(sh)
		}
		if sh.opt&option.XTrace != 0 {
			sh.xtrace(a.traceText(sh))
		}
	}
	sh.undoRedirs(undo)
	switch {
	case failed:
		sh.status = 1
	case !sh.substRan:
		sh.status = 0
	}
	return sh.status
}

func (x *simpleCode) text() string { return syntax.CommandText(x.cmd) }

// run runs a command with a name, and closes the pipes of its process substitutions.
func (x *simpleCode) run(sh *interp) int {
	undo := len(sh.undo)
	st := x.perform(sh)
	if len(sh.undo) > undo {
		sh.undoRedirs(undo)
	}
	return st
}

func (x *simpleCode) perform(sh *interp) int {
	if !sh.tick() {
		return sh.status
	}
	sh.line = x.line
	sh.running(x)
	if sh.isTracing() {
		if sh.traced(x.line, x.text) && sh.ctl != ctlNone {
			return sh.status
		}
		if sh.skipCommand || sh.opt&option.NoExec != 0 && sh.opt&option.Interactive == 0 {
			sh.skipCommand = false
			return sh.status
		}
	}
	if sh.opt&option.Keyword != 0 {
		if y := x.withKeywords(sh); y != nil {
			x = y
		}
	}
	base := len(sh.stack)
	sh.substRan = false
	var decl map[int]*assignCode
	sh.inWords++
	for i, w := range x.words {
		if a := x.decl[i]; a != nil && (w == nil || sh.opt&option.BraceExpand == 0) {
			if decl == nil {
				decl = make(map[int]*assignCode, len(x.decl))
			}
			decl[len(sh.stack)-base] = a
			sh.push(a.argText(sh))
		} else {
			sh.fields(w)
		}
		if sh.ctl != ctlNone {
			sh.inWords--
			sh.pop(base)
			return sh.status
		}
	}
	sh.inWords--
	args := sh.stack[base:len(sh.stack):len(sh.stack)]
	if len(args) == 0 {
		return x.nameless(sh)
	}
	st := x.dispatch(sh, args, decl)
	sh.noticeSignals()
	sh.pop(base)
	sh.status = st
	return st
}

// running notes the command for BASH_COMMAND. In a trap that remains the interrupted command.
func (sh *interp) running(x *simpleCode) {
	if sh.inTrap == 0 {
		sh.current = x
	}
}

// withKeywords is the command under set -k: arguments that look like assignments are some. Nil: it
// has none.
func (x *simpleCode) withKeywords(sh *interp) *simpleCode {
	var y *simpleCode
	for i, w := range x.words {
		name, _, ok := strings.Cut(x.src.Words[i].Text, "=")
		if i == 0 || w == nil || !ok || !isName(name) {
			if y != nil {
				y.words = append(y.words, w) // bounded: by the words of a command, which are charged
			}
			continue
		}
		if y == nil {
			c := *x
			y = &c
			y.words, y.assigns = slices.Clone(x.words[:i]), slices.Clone(x.assigns)
		}
		_, value, _ := strings.Cut(sh.str(w), "=")
		y.assigns = append(y.assigns, &assignCode{ // bounded: by the words of a command, which are charged
			name: name, slot: sh.m.lib.symbols.slot(name), value: &word{constant: true, lit: value},
		})
	}
	return y
}

// dispatch looks the name up and runs it; decl are the arguments that are assignments.
func (x *simpleCode) dispatch(sh *interp, args []string, decl map[int]*assignCode) int {
	if sh.opt&option.XTrace != 0 && len(x.assigns) == 0 {
		x.trace(sh, args, decl)
	}
	var fn *function
	b := x.builtin
	if x.slot >= 0 {
		fn = sh.function(x.slot)
	} else {
		fn, b = sh.lookup(args[0])
	}
	if b != nil && (sh.disabled[b.name] || b.special && sh.opt&option.Posix != 0) {
		if sh.disabled[b.name] {
			b = nil
		} else {
			fn = nil
		}
	}
	if fn == nil && b == nil && sh.refuses(args[0]) {
		return 1
	}
	if len(x.assigns) == 0 && len(x.redirs) == 0 {
		sh.lastArg = x.last(args)
		switch {
		case fn != nil:
			last := sh.lastArg
			st := sh.call(fn, args)
			sh.lastArg = last
			return st
		case b != nil:
			sh.declArgs = decl
			return sh.specialFailed(b, sh.runBuiltin(b, args))
		}
		sh.died = deadChild{}
		st := sh.external(args)
		x.reportDied(sh)
		return st
	}
	return x.with(sh, fn, b, args, decl)
}

// reportDied prints a message when a signal ended the program.
func (x *simpleCode) reportDied(sh *interp) {
	if sh.died.signal != 0 {
		sh.reportSignal(sh.died, x.text(), true)
		sh.died = deadChild{}
	}
}

// last returns the value of $_ for the next command.
func (x *simpleCode) last(args []string) string {
	if x.decl != nil {
		if a := x.decl[len(x.words)-1]; a != nil && a.array {
			return a.name
		}
	}
	return args[len(args)-1]
}

// trace shows the command under set -x; lists that it assigns come before it, by themselves.
func (x *simpleCode) trace(sh *interp, args []string, decl map[int]*assignCode) {
	if x.decl == nil {
		sh.xtraceArgs(args)
		return
	}
	shown := append([]string(nil), args...)
	for i, a := range decl {
		if a.array {
			sh.xtrace(a.expandedText(sh))
			shown[i] = a.name
		}
	}
	sh.xtraceArgs(shown)
	if args[0] != "export" && args[0] != "readonly" {
		return
	}
	for _, s := range shown[1:] {
		if o := parseOperand(s); isName(o.name) && o.assigned && !o.elem {
			op, value := "=", o.value
			if o.more {
				op = "+="
			}
			if value != "" {
				value = quote.Trace(sh.locale(), value)
			}
			sh.xtrace(o.name + op + value)
		}
	}
}

// braced compiles an assignment as the argument that it is when it has braces; nil when it has none.
func (c *compiler) braced(a *syntax.Assign) *word {
	if a.Array {
		return nil
	}
	w := &syntax.Word{Text: a.Text}
	w.Parts = append(w.Parts, &syntax.Lit{S: a.Name}) // bounded: by the nodes of the script, which are charged
	if a.Index != nil {
		w.Parts = append(append(append(w.Parts, &syntax.Lit{S: "["}), a.Index.X.Parts...), &syntax.Lit{S: "]"})
	}
	op := "="
	if a.Append {
		op = "+="
	}
	w.Parts = append(append(w.Parts, &syntax.Lit{S: op}), a.Value.Parts...)
	if !hasBraces(w.Parts) {
		return nil
	}
	if x := c.word(w, wordArg); x.braces {
		return x
	}
	return nil
}

// with runs a command that has assignments or redirections before it.
func (x *simpleCode) with(sh *interp, fn *function, b *builtin, args []string, decl map[int]*assignCode) int {
	saved, undo := len(sh.saved), len(sh.undo)
	if b != nil && fn == nil && b.name == "exec" {
		return x.exec(sh, b, args)
	}
	if !sh.redirect(x.redirs) {
		sh.undoRedirs(undo)
		if b != nil && fn == nil && b.special && sh.opt&option.Posix != 0 && sh.ctl == ctlNone {
			return sh.exit(1)
		}
		if sh.ctl != ctlNone {
			return sh.status
		}
		return 1
	}
	if x.alone {
		sh.keepRedirs(undo)
	}
	keep := b != nil && fn == nil && b.special && sh.opt&option.Posix != 0
	for _, a := range x.assigns {
		ok := a.temporary(sh)
		if !ok && (sh.ctl != ctlNone || keep || sh.opt&option.Posix != 0) {
			sh.restore(saved)
			sh.undoRedirs(undo)
			if sh.ctl == ctlNone {
				sh.exit(1)
			}
			return sh.status
		}
		if sh.opt&option.XTrace != 0 {
			sh.xtrace(a.traceText(sh))
		}
	}
	if sh.opt&option.XTrace != 0 && len(x.assigns) > 0 {
		x.trace(sh, args, decl)
	}
	sh.lastArg = x.last(args)
	var st int
	switch {
	case fn != nil:
		last := sh.lastArg
		st = sh.call(fn, args)
		sh.lastArg = last
	case b != nil:
		sh.declArgs = decl
		st = sh.specialFailed(b, sh.runBuiltin(b, args))
	default:
		sh.keepMoved(undo)
		sh.died = deadChild{}
		st = sh.external(args)
	}
	if keep {
		sh.keepTemps(saved)
	} else {
		sh.restoreTemps(saved)
	}
	sh.undoRedirs(undo)
	x.reportDied(sh)
	return st
}

// exec runs the exec builtin, whose redirections stay.
func (x *simpleCode) exec(sh *interp, b *builtin, args []string) int {
	undo := len(sh.undo)
	if !sh.redirect(x.redirs) {
		sh.undoRedirs(undo)
		if sh.ctl == ctlNone && (len(args) > 1 || sh.opt&option.Posix != 0) {
			return sh.exit(1)
		}
		return 1
	}
	if len(args) == 1 || len(args) == 2 && args[1] == "--" {
		sh.keepRedirs(undo)
		return 0
	}
	saved := len(sh.saved)
	for _, a := range x.assigns {
		if !a.temporary(sh) {
			sh.restore(saved)
			sh.undoRedirs(undo)
			return 1
		}
	}
	st := sh.runBuiltin(b, args)
	sh.restoreTemps(saved)
	if sh.ctl == ctlExit {
		sh.keepRedirs(undo)
	} else {
		sh.undoRedirs(undo)
	}
	return st
}

// specialFailed ends a script in POSIX mode that has used a special builtin wrongly.
func (ex *execution) specialFailed(b *builtin, st int) int {
	if st == 0 || !b.special || ex.opt&option.Posix == 0 || ex.opt&option.Interactive != 0 || ex.ctl != ctlNone {
		return st
	}
	switch b.name {
	case "set", "unset", "trap", "shift", "times":
		if st == 2 {
			return ex.exit(st)
		}
	case "export", "readonly":
		return ex.exit(st)
	}
	return st
}

// lookup finds a function or builtin by name.
func (sh *interp) lookup(name string) (*function, *builtin) {
	b := sh.m.lib.builtins[name]
	if slot := sh.m.lib.symbols.known(name); slot >= 0 {
		return sh.function(slot), b
	}
	return nil, b
}

// runBuiltin runs a builtin; the builtin itself handles "--help" and the like.
func (sh *interp) runBuiltin(b *builtin, args []string) int {
	if c := sh.m.replacement(b.name); c != nil {
		return sh.runReplacement(c, b, args)
	}
	before := sh.builtinName
	sh.builtinName = b.name
	st := b.run(sh, args)
	sh.builtinName = before
	sh.declArgs = nil
	if sh.ctl == ctlExit { // also by a trap in the middle of it
		return sh.status
	}
	return st & 0xff
}

// isTracing reports whether commands are shown before they run: DEBUG traps and set -x.
func (sh *interp) isTracing() bool {
	return sh.opt&(option.XTrace|option.NoExec) != 0 || sh.traps.Has(trap.Debug)
}

// command runs a command and returns its status, which is also sh.status then.
type command func(sh *interp) int

// doNothing is the command that does nothing.
func doNothing(sh *interp) int {
	sh.status = 0
	return 0
}

// list compiles a list of commands.
func (c *compiler) list(l *syntax.List) command {
	switch {
	case l == nil || len(l.Items) == 0:
		return doNothing
	case len(l.Items) == 1:
		return c.item(l.Items[0])
	}
	items := make([]command, len(l.Items))
	for i, it := range l.Items {
		items[i] = c.item(it)
	}
	return func(sh *interp) int {
		st := 0
		for _, it := range items {
			if st = it(sh); sh.ctl != ctlNone {
				return st
			}
		}
		return st
	}
}

// lazyList compiles a list when it first runs: most functions and substitutions of a
// script are never reached.
func (c *compiler) lazyList(l *syntax.List) command {
	lib := c.lib
	return compileLazily(func() command { return (&compiler{lib: lib}).list(l) })
}

// compileLazily compiles at the first use. Several processes may come to that at a time, each with a
// compiler of its own.
func compileLazily(compile func() command) command {
	var once sync.Once
	var run command
	return func(sh *interp) int {
		once.Do(func() {
			names := sh.m.lib.symbols.weight.Load()
			run = compile()
			sh.chargeNames(names)
		})
		return run(sh)
	}
}

// item compiles an and-or list.
func (c *compiler) item(it *syntax.Item) command {
	if it.Background && len(it.Rest) == 0 && len(it.First.Cmds) == 1 {
		c.alone(it.First.Cmds[0])
	}
	run := c.andOr(it)
	if it.Background {
		return c.background(it, run)
	}
	return run
}

func (c *compiler) andOr(it *syntax.Item) command {
	first := c.pipeline(it.First)
	if len(it.Rest) == 0 {
		return first
	}
	type link struct {
		or  bool
		run command
	}
	links := make([]link, len(it.Rest))
	for i, r := range it.Rest {
		links[i] = link{r.Or, c.pipeline(r.Pipe)}
	}
	return func(sh *interp) int {
		// Only the last command of the list counts for set -e.
		sh.noErrExit++
		st := first(sh)
		for i, l := range links {
			if sh.ctl != ctlNone {
				break
			}
			if i == len(links)-1 {
				sh.noErrExit--
				if l.or != (st == 0) {
					return l.run(sh)
				}
				return st
			}
			if l.or != (st == 0) {
				st = l.run(sh)
			}
		}
		sh.noErrExit--
		return st
	}
}

// alone says that a command is all that its process does: the descriptors that its redirections replace are closed
// at once, so that no process waits for a stream that this one cannot use any more.
func (c *compiler) alone(cmd *syntax.Command) {
	if len(cmd.Redirs) == 0 {
		return
	}
	if c.lone == nil {
		c.lone = map[*syntax.Command]bool{}
	}
	c.lone[cmd] = true // bounded: by the nodes of the script, which are charged
}

// pipeline compiles a pipeline.
func (c *compiler) pipeline(p *syntax.Pipeline) command {
	var run command
	switch len(p.Cmds) {
	case 0:
		run = doNothing
	case 1:
		run = c.single(p.Cmds[0])
	default:
		run = c.pipe(p)
	}
	if p.Bang {
		inner := run
		run = func(sh *interp) int {
			sh.noErrExit++
			st := inner(sh)
			sh.noErrExit--
			if sh.ctl != ctlNone {
				return st
			}
			st = 1 - min(st, 1)
			sh.status = st
			return st
		}
	}
	if p.Time {
		run = compileTimed(run, p.TimePosix, len(p.Cmds) == 0)
	}
	return run
}

// single compiles a command that is a pipeline alone.
func (c *compiler) single(cmd *syntax.Command) command {
	run := c.command(cmd)
	switch cmd.Body.(type) {
	case *syntax.Simple, *syntax.Subshell, *syntax.ArithCmd, *syntax.CondCmd:
	default:
		if len(cmd.Redirs) == 0 {
			return func(sh *interp) int {
				held := sh.memory.Held()
				st := run(sh)
				if sh.memory.Held() != held {
					sh.releaseHeld(held)
				}
				return st
			}
		}
		return func(sh *interp) int { // A redirection that failed counts.
			sh.redirFailed = false
			held := sh.memory.Held()
			st := run(sh)
			if sh.memory.Held() != held {
				sh.releaseHeld(held)
			}
			if sh.redirFailed && st != 0 {
				sh.redirFailed = false
				sh.check(st)
			}
			return st
		}
	}
	return func(sh *interp) int {
		held := sh.memory.Held()
		st := run(sh)
		if sh.memory.Held() != held {
			sh.releaseHeld(held)
		}
		sh.pipeOne[0] = st
		sh.pipeStatus = sh.pipeOne[:]
		if st != 0 {
			sh.check(st)
		}
		return st
	}
}

// check handles a failed command: the ERR trap, then set -e.
func (sh *interp) check(st int) {
	if sh.noErrExit > 0 || sh.ctl != ctlNone {
		return
	}
	if sh.hasTrap(trap.Err) {
		sh.runErrTrap(st)
		if sh.ctl != ctlNone {
			return
		}
	}
	if sh.opt&option.ErrExit != 0 {
		sh.exit(st)
	}
}

// command compiles a command with its redirections.
func (c *compiler) command(cmd *syntax.Command) command {
	switch b := cmd.Body.(type) {
	case *syntax.Simple:
		return c.simple(b, cmd)
	case *syntax.FuncDecl:
		return c.funcDecl(b, cmd.Line)
	}
	run := c.body(cmd)
	if len(cmd.Redirs) == 0 {
		return run
	}
	redirs := c.redirs(cmd.Redirs)
	line, alone := cmd.Line, c.lone[cmd]
	return func(sh *interp) int {
		sh.line = line
		undo := len(sh.undo)
		if !sh.redirect(redirs) {
			sh.undoRedirs(undo)
			sh.redirFailed = true
			sh.status = 1
			return 1
		}
		if alone {
			sh.keepRedirs(undo)
		}
		st := run(sh)
		sh.undoRedirs(undo)
		return st
	}
}

// body compiles a compound command.
func (c *compiler) body(cmd *syntax.Command) command {
	switch b := cmd.Body.(type) {
	case *syntax.Subshell:
		return c.subshell(b)
	case *syntax.Group:
		return c.list(b.List)
	case *syntax.If:
		return c.ifClause(b)
	case *syntax.Loop:
		return c.loop(b)
	case *syntax.For:
		if b.Select {
			return c.selectLoop(b, cmd.Line)
		}
		return c.forLoop(b, cmd.Line)
	case *syntax.CFor:
		return c.cFor(b, cmd.Line)
	case *syntax.Case:
		return c.caseClause(b, cmd.Line)
	case *syntax.ArithCmd:
		return c.arithCommand(b, cmd)
	case *syntax.CondCmd:
		return c.condCommand(b, cmd)
	case *syntax.Coproc:
		return c.coproc(b)
	}
	return doNothing
}
