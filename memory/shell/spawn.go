package shell

import (
	"io"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
)

// Spawn says which program a command starts, and with what. Zero fields are the
// starting process's own.
type Spawn struct {
	Args   []string  // the name or path, then arguments; at least one
	Env    []string  // "NAME=value"; nil: the caller's, empty: none
	Dir    string    // relative to the caller's
	Stdin  io.Reader // nil: the caller's
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
// that name, 126 when it cannot be run, which is told on the child's Stderr as bash does. A command
// that words this itself asks LookPath before.
func (p *Proc) Run(s Spawn) int {
	c := p.sh.fork(false)
	p.prepare(c, s)
	st := c.process0(func(c *interp) int { return c.external(s.Args) })
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
// A child that has ended does not mind.
func (c *Child) Signal(sig syscall.Signal) { c.p.Send(int(sig)) }

// PID returns the child's number.
func (c *Child) PID() int { return c.p.PID }

// Kill sends a signal, by its number on Linux, to whom kill(2) would: a process of the machine, the own process
// group (0), a group (-n), or everyone else (-1). ESRCH: there is none.
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

// prepare gives a forked process what the spawn asks for.
func (p *Proc) prepare(c *interp, s Spawn) {
	c.ctx, c.sole = p.ctx, false
	c.traps, c.opt, c.shopt = nil, defaultOpt, defaultShopt
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
	_ = c.setFd(0, fd.ReaderOf(stdin))
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
	c := &interp{m: p.sh.m, p: p.sh.p, ctx: p.ctx, cred: p.sh.cred, dir: p.sh.dir, fds: p.sh.fds, epoch: newEpoch()}
	c.introduce()
	c.importEnv(env)
	return c
}
