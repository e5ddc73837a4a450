package shell

import (
	"io"
	"runtime"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
)

// statusFault is the exit status of a program that has panicked: EX_SOFTWARE of sysexits.h.
const statusFault = 70

// Original runs what the command has replaced, with p's streams and the arguments behind the name, and
// returns its exit status. A builtin of the shell works on the shell that called p: the original of cd
// changes its directory. 127: the command has replaced nothing.
func (p *Proc) Original(args ...string) int {
	args = append([]string{p.Args[0]}, args...)
	if p.command == nil {
		return p.nothingReplaced()
	}
	name := p.Name()
	if p.replaced != nil {
		name = p.replaced.name
	}
	old := p.command.before[name]
	switch {
	case p.replaced != nil && old.builtin != nil:
		return p.inPlace(old.builtin, p.replaced, args)
	case p.replaced != nil:
		return p.originalBuiltin(p.replaced, args)
	case old.program != nil:
		return p.inPlace(old.program, nil, args)
	}
	// Called as a file, /bin/cd, where only a builtin has been replaced.
	if b := p.sh.m.lib.builtins[name]; b != nil && p.command.Replace {
		return p.originalBuiltin(b, args)
	}
	return p.nothingReplaced()
}

func (p *Proc) nothingReplaced() int {
	p.Warn("there is nothing that this command has replaced")
	return 127
}

// inPlace runs another program as this process.
func (p *Proc) inPlace(c *Command, replaced *builtin, args []string) int {
	q := *p
	q.Args, q.command, q.replaced, q.as = args, c, replaced, asker{p.sh, &q}
	st := q.call()
	q.releaseAll()
	p.gas, p.rng, p.own = q.gas, q.rng, q.own
	return st
}

// originalBuiltin runs the builtin itself.
func (p *Proc) originalBuiltin(b *builtin, args []string) int {
	sh := p.sh
	undo := len(sh.undo)
	defer sh.undoRedirs(undo)
	for n, stream := range []any{p.Stdin, p.Stdout, p.Stderr} {
		if s, ok := stream.(*fd.Stream); ok && s.Description == sh.fds.Get(n) {
			continue
		}
		var d *fd.Description
		if n == 0 {
			d = fd.ReaderOf(stream.(io.Reader)) //nolint:forcetypeassert // It is p.Stdin.
		} else {
			d = fd.WriterOf(stream.(io.Writer)) //nolint:forcetypeassert // It is p.Stdout or p.Stderr.
		}
		if err := sh.replaceFd(n, d); err != nil {
			return 1
		}
	}
	before := sh.builtinName
	defer func() { sh.builtinName, sh.declArgs = before, nil }()
	sh.builtinName = b.name
	if slices.Equal(args, p.Args) { // Compiled assignments belong to just these words.
		sh.declArgs = p.declArgs
	}
	return b.run(sh, args) & 0xff
}

// runReplacement runs the program that stands in a builtin's place.
func (sh *interp) runReplacement(c *Command, b *builtin, args []string) int {
	p := sh.proc(args)
	p.command, p.replaced, p.declArgs = c, b, sh.declArgs
	sh.declArgs = nil
	return sh.runProc(p)
}

// runProc runs the program of p and waits for it.
func (sh *interp) runProc(p *Proc) int {
	st := p.call()
	p.releaseAll()
	p.leave(st)
	sh.m.refuel(p.gas)
	if sh.ctx.Err() != nil || sh.p.Attention.Load() {
		sh.tickSlow()
		if sh.ctl == ctlExit {
			return sh.status
		}
	}
	return st
}

// call runs the program of p. A mistake in it must end neither the shell nor the program that the machine
// lives in, and what it panics with may hold names of the host, so only the runtime's own words are shown.
func (p *Proc) call() (st int) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		why := "it panicked"
		if e, ok := r.(runtime.Error); ok {
			why = e.Error()
		}
		p.Warn("internal error: %s", why)
		if p.sh.m.fault != nil {
			p.sh.m.fault(p.command.Name, r)
		}
		st = statusFault
	}()
	if p.command.registered && len(p.Args) == 2 && p.Args[1] == "--help" && p.command.hasHelp() {
		if _, err := io.WriteString(p.Stdout, p.command.HelpText(p.Name())); err != nil {
			return p.WriteFailed(err)
		}
		return 0
	}
	return p.command.Run(p) & 0xff
}

// hasHelp tells whether there is anything to say about the command.
func (c *Command) hasHelp() bool { return c.Usage != "" || c.Summary != "" || c.Help != "" }
