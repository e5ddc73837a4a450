package shell

import (
	"context"
	"io"
	"syscall"
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
	Ignore []syscall.Signal // signals that the child ignores from the start, as nohup does
}

// Child is a process that a command has started.
type Child struct {
	pid    int
	done   chan struct{}
	status int
	kill   func(sig syscall.Signal)
}

// Run starts a program and returns its exit status when it has ended: 127 when there is none of
// that name, 126 when it cannot be run; the shell's message about that is on the child's Stderr.
func (p *Proc) Run(s Spawn) int { return p.spawn(p.ctx, s, nil) }

// Start starts a program beside the caller, which must Wait for it. The error says why
// it could not even begin: too many processes (EAGAIN).
func (p *Proc) Start(s Spawn) (*Child, error) {
	if err := p.sh.m.enter(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(p.ctx)
	c := &Child{done: make(chan struct{}), kill: func(sig syscall.Signal) { cancel(&killed{sig}) }}
	go func() {
		defer close(c.done)
		defer p.sh.m.leave()
		c.status = p.spawn(ctx, s, c)
		cancel(nil)
	}()
	return c, nil
}

// Done is closed when the child has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Wait returns the exit status when the child has ended; 128+n after signal n.
func (c *Child) Wait() int {
	<-c.done
	return c.status
}

// Signal sends a signal, which a shell may catch and every other program dies of. A child that
// has ended does not mind.
func (c *Child) Signal(sig syscall.Signal) { c.kill(sig) }

// spawn runs the program on this goroutine.
func (p *Proc) spawn(ctx context.Context, s Spawn, _ *Child) int {
	q := &Proc{Args: s.Args, Stdin: s.Stdin, Stdout: s.Stdout, Stderr: s.Stderr, sh: p.sh, env: s.Env, ctx: ctx}
	if q.Stdin == nil {
		q.Stdin = p.Stdin
	}
	if q.Stdout == nil {
		q.Stdout = p.Stdout
	}
	if q.Stderr == nil {
		q.Stderr = p.Stderr
	}
	if q.env == nil {
		q.env = p.env
	}
	if s.Dir != "" {
		sh := *p.sh
		sh.dir = p.Abs(s.Dir)
		q.sh = &sh
	}
	return q.exec()
}

// exec runs the program that Args[0] names.
func (p *Proc) exec() int {
	c, ok := p.sh.m.commands[p.Name()]
	if !ok {
		_, _ = io.WriteString(p.Stderr, "bash: "+p.Args[0]+": command not found\n")
		return 127
	}
	return c.Run(p) & 0xff
}
