package virtual

import (
	"context"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// process is a command with its machine.
type process struct {
	instance *instance
	shell    *shell.Shell
	ended    chan struct{} // closed when exit and err are set
	exit     sandbox.Exit
	err      error
}

// run runs the command to its end. Its background processes may continue until the sandbox is closed.
func (p *process) run(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) {
	defer close(p.ended)
	res, err := p.shell.RunScript(ctx, shell.Script{Program: cmd.Args, Exit: true, Wait: !cmd.Leave}, shell.Stdio{
		Stdin: wrapReader(stdio.Stdin), Stdout: wrapWriter(stdio.Stdout), Stderr: wrapWriter(stdio.Stderr),
	})
	p.exit = sandbox.Exit{Code: res.Status, Signal: res.Signal}
	if err != nil { // The context has ended, and the command with it.
		p.shell.Close()
		p.exit = sandbox.Exit{Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL)}
	}
	if res.Limit != nil {
		p.exit.Reason = res.Limit.Error()
	}
	// Before Wait returns, so that the files survive a kill of this process after it.
	p.err = p.instance.saved.commit(p.instance.tree)
	if p.hasEnded() {
		p.shell.Close()
		p.instance.remove(p)
	}
}

// hasEnded reports whether no process of the command is left.
func (p *process) hasEnded() bool { return len(p.shell.Processes()) <= 1 }

// hasCommandEnded reports whether the command itself has ended.
func (p *process) hasCommandEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Wait waits for the end of the command.
func (p *process) Wait() (sandbox.Exit, error) {
	<-p.ended
	return p.exit, p.err
}

// Signal sends a signal to the command's process group.
func (p *process) Signal(sig os.Signal) error {
	s, ok := sig.(syscall.Signal)
	if !ok {
		return sandbox.Errorf(sandbox.Invalid, "signal %v", sig)
	}
	p.shell.Signal(s)
	return nil
}

func (i *instance) remove(p *process) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.running, p)
}

// terminal is a terminal of the host for a command.
type terminal struct{ *os.File }

// Terminal returns its size.
func (t terminal) Terminal() (columns, rows int, ok bool) {
	conn, err := t.SyscallConn() // Fd would make the file blocking.
	if err != nil {
		return 0, 0, false
	}
	failed := conn.Control(func(fd uintptr) {
		columns, rows, err = term.GetSize(int(fd))
	})
	return columns, rows, failed == nil && err == nil
}

// wrapReader returns r, wrapped so that commands detect a terminal.
func wrapReader(r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if f == nil {
			return nil
		}
		if _, _, ok := (terminal{f}).Terminal(); ok {
			return terminal{f}
		}
	}
	return r
}

func wrapWriter(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if f == nil {
			return nil
		}
		if _, _, ok := (terminal{f}).Terminal(); ok {
			return terminal{f}
		}
	}
	return w
}
