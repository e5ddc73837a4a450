package shell

import (
	"context"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Spawn describes a program that a command starts. Zero fields are the
// starting process's own.
type Spawn struct {
	Args   []string  // the name or path, then arguments; at least one
	Env    []string  // "NAME=value"; nil: the caller's, empty: none
	Dir    string    // relative to the caller's
	Stdin  io.Reader // nil: the caller's
	Null   bool      // the input is the null device, in place of Stdin
	Stdout io.Writer
	Stderr io.Writer
	Ignore []syscall.Signal // Linux numbers that the child ignores from the start, as nohup does
}

// Child is a process that a command has started.
type Child struct{ p *process.Process }

// LookPath returns where the program that a name or path means is. ENOENT: there is none; EACCES: it may
// not be executed.
func (p *Proc) LookPath(name string) (string, error) {
	_, path, err := p.view(nil).findCommand(name)
	return path, err
}

// Run runs a program and returns its exit status when it has ended: 127 when there is none of
// that name, 126 when it cannot be run, with bash's message on the child's Stderr. A command
// that words the message itself calls LookPath first.
func (p *Proc) Run(s Spawn) int {
	c := p.sh.fork(false)
	p.prepare(c, s)
	st := c.runProcess(func(c *interp) int { return c.external(s.Args) })
	p.sh.reunite(c)
	return st
}

// Start starts a program beside the caller, which must Wait for it. The error says why
// it could not even begin: too many processes (EAGAIN).
func (p *Proc) Start(s Spawn) (*Child, error) {
	m := p.sh.m
	q, err := m.table.Start(p.ctx, p.sh.p)
	if err != nil {
		m.meet(ErrProcesses)
		return nil, err
	}
	c := p.sh.fork(true)
	p.prepare(c, s)
	c.p, c.ctx, c.ownProcess, c.sole = q, q.Ctx, true, true
	c.show(strings.Join(s.Args, " "))
	for _, sig := range s.Ignore {
		q.Ignored.Or(1 << (uint(sig) & 63))
	}
	m.wait.Go(func() {
		m.gate.Enter(q.Ctx)
		defer m.gate.Leave()
		q.End(c.guarded(func(c *interp) int { return c.external(s.Args) }))
	})
	return &Child{q}, nil
}

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.p.Done }

// Wait returns the exit status when the child has ended; 128+n after signal n.
func (c *Child) Wait() int {
	<-c.p.Done
	return c.p.Status
}

// Signal sends a signal by its number on Linux, which a shell may catch and every other program dies of.
// It has no effect on a child that has ended.
func (c *Child) Signal(sig syscall.Signal) { c.p.Send(int(sig)) }

// PID returns the child's number.
func (c *Child) PID() int { return c.p.PID }

// Kill sends a signal, by its number on Linux, to the processes that kill(2) selects: a process of the machine, the own process
// group (0), a group (-n), or all others (-1). ESRCH: there is none.
func (p *Proc) Kill(pid, sig int) error {
	if !p.sh.m.table.Kill(p.sh.process(), pid, sig) {
		return syscall.ESRCH
	}
	return nil
}

// PID returns the process's number.
func (p *Proc) PID() int { return p.as.process().PID }

// ProcessInfo is a line of ps.
type ProcessInfo struct {
	PID, PPID, PGID int
	Command         string
	Stopped         bool
}

// Processes returns the processes of the machine, by number.
func (p *Proc) Processes() []ProcessInfo { return p.sh.m.processes() }

// processes lists the process table by number.
func (m *machine) processes() []ProcessInfo {
	infos := m.table.List()
	list := make([]ProcessInfo, len(infos))
	for i, p := range infos {
		list[i] = ProcessInfo(p)
	}
	return list
}

// prepare configures a forked process as the spawn asks for.
func (p *Proc) prepare(c *interp, s Spawn) {
	c.ctx, c.sole = p.ctx, false
	c.traps.Clear()
	c.opt, c.shopt = option.Default, shopt.Default
	if s.Dir != "" {
		c.dir = p.Abs(s.Dir)
	}
	env := s.Env
	if env == nil {
		env = p.env
	}
	if env != nil {
		c.vars, c.varsShared, c.funcs, c.funcsShared = nil, false, nil, false
		c.importEnv(env)
	} else {
		c.funcs, c.funcsShared = exportedOnly(c.funcs), false
	}
	stdin, stdout, stderr := p.Stdin, p.Stdout, p.Stderr
	if s.Stdin != nil {
		stdin = s.Stdin
	}
	if s.Stdout != nil {
		stdout = s.Stdout
	}
	if s.Stderr != nil {
		stderr = s.Stderr
	}
	if s.Null {
		_ = c.setFd(0, c.hostInput(nil))
	} else {
		_ = c.setFd(0, fd.ReaderOf(stdin))
	}
	_ = c.setFd(1, fd.WriterOf(stdout))
	_ = c.setFd(2, fd.WriterOf(stderr))
}

// exportedOnly keeps the functions that a program's shells get.
func exportedOnly(list []*function) []*function {
	var out []*function
	for i, f := range list {
		if f == nil || !f.export {
			continue
		}
		for len(out) <= i {
			out = append(out, nil)
		}
		out[i] = f
	}
	return out
}

// view returns a process with the environment that p has, to look for programs.
func (p *Proc) view(env []string) *interp {
	if env == nil {
		env = p.env
	}
	if env == nil {
		return p.sh
	}
	c := &interp{}
	c.m, c.ctx, c.cred, c.dir = p.sh.m, p.ctx, p.sh.cred, p.sh.dir
	c.p, c.fds, c.epoch = p.sh.p, p.sh.fds, newEpoch()
	c.connect()
	c.importEnv(env)
	return c
}

// statusFault is the exit status of a program that has panicked: EX_SOFTWARE of sysexits.h.
const statusFault = 70

// Original runs the command that this one has replaced, with p's streams and the arguments after the name, and
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
	p.Warn("this command has not replaced another one")
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

// runReplacement runs the program that replaces a builtin.
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

// call runs the program of p. A panic in it must end neither the shell nor the host's program that contains the machine. The
// panic's value may hold names of the host, so only the runtime's own words are shown.
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

// hasHelp reports whether there is anything to say about the command.
func (c *Command) hasHelp() bool { return c.Usage != "" || c.Summary != "" || c.Help != "" }

// ProcOptions describes a process for the test of a command without a script. Zero
// fields: an empty file system with /tmp, root's rights, directory "/", no input, output that is lost.
type ProcOptions struct {
	FS       *vfs.FS
	Cred     vfs.Cred
	Args     []string // at least the name
	Env      []string
	Dir      string
	Umask    fs.FileMode
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Commands []Command // what Run finds besides
	Limits   Limits
	Now      func() time.Time
	Seed     uint64 // 0: another one each time
}

// NewProc returns a process that no shell has started. It ends when ctx does.
func NewProc(ctx context.Context, o ProcOptions) *Proc {
	s := New(Options{
		FS: o.FS, Cred: o.Cred, Env: o.Env, Dir: o.Dir, Commands: o.Commands, Limits: o.Limits, Umask: o.Umask, Now: o.Now, Seed: o.Seed,
	})
	s.sh.umask = o.Umask
	run, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(run, s.stop)
	s.m.begin(run, cancel)
	s.sh.begin(run, Script{}, Stdio{Stdin: o.Stdin, Stdout: o.Stdout, Stderr: o.Stderr})
	p := s.sh.proc(o.Args)
	p.env = o.Env
	if p.env == nil {
		p.env = []string{}
	}
	return p
}
