package shell

import (
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// command runs a command and returns its status, which is also sh.status then.
type command func(sh *interp) int

// ok is the command that does nothing.
func ok(sh *interp) int {
	sh.status = 0
	return 0
}

// list compiles a list of commands.
func (c *compiler) list(l *syntax.List) command {
	switch {
	case l == nil || len(l.Items) == 0:
		return ok
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
	return lazily(func() command { return (&compiler{lib: lib}).list(l) })
}

// lazily compiles at the first use. Several processes may come to that at a time, each with a
// compiler of its own.
func lazily(compile func() command) command {
	var once sync.Once
	var run command
	return func(sh *interp) int {
		once.Do(func() {
			names := sh.m.lib.symbols.weight.Load()
			run = compile()
			sh.tellNames(names)
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

// alone says that a command is all that its process does: what its redirections replace is closed
// at once, so that nobody waits for a stream that the process cannot use any more.
func (c *compiler) alone(cmd *syntax.Command) {
	if len(cmd.Redirs) == 0 {
		return
	}
	if c.lone == nil {
		c.lone = map[*syntax.Command]bool{}
	}
	c.lone[cmd] = true
}

// pipeline compiles a pipeline.
func (c *compiler) pipeline(p *syntax.Pipeline) command {
	var run command
	switch len(p.Cmds) {
	case 0:
		run = ok
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
		run = timed(run, p.TimePosix, len(p.Cmds) == 0)
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
				held := sh.held
				st := run(sh)
				if sh.held != held {
					sh.letGo(held)
				}
				return st
			}
		}
		return func(sh *interp) int { // A redirection that failed counts.
			sh.redirFailed = false
			held := sh.held
			st := run(sh)
			if sh.held != held {
				sh.letGo(held)
			}
			if sh.redirFailed && st != 0 {
				sh.redirFailed = false
				sh.check(st)
			}
			return st
		}
	}
	return func(sh *interp) int {
		held := sh.held
		st := run(sh)
		if sh.held != held {
			sh.letGo(held)
		}
		sh.pipeOne[0] = st
		sh.pipeStatus = sh.pipeOne[:]
		if st != 0 {
			sh.check(st)
		}
		return st
	}
}

// check does what a command that failed asks for: the ERR trap, then set -e.
func (sh *interp) check(st int) {
	if sh.noErrExit > 0 || sh.ctl != ctlNone {
		return
	}
	if sh.hasTrap(trapErr) {
		sh.runErrTrap(st)
		if sh.ctl != ctlNone {
			return
		}
	}
	if sh.opt&optErrExit != 0 {
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
	return ok
}
