package virtual

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
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
	met := p.instance.tree.fs.Usage().Met
	res, err := p.shell.RunScript(ctx, shell.Script{Program: cmd.Args, Exit: true, Wait: !cmd.Leave}, shell.Stdio{
		Stdin: wrapReader(stdio.Stdin), Stdout: wrapWriter(stdio.Stdout), Stderr: wrapWriter(stdio.Stderr),
	})
	p.exit = sandbox.Exit{Code: res.Status, Signal: res.Signal}
	if err != nil { // The context has ended, and the command with it.
		p.shell.Close()
		p.exit = sandbox.Exit{Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL)}
	}
	if res.Limit != nil && !errors.Is(res.Limit, shell.ErrProcesses) { // without a process the command goes on
		p.exit.Reason = res.Limit.Error()
	}
	p.instance.reportLimits(met, res.Limit)
	// Before Wait returns, so that the files survive a kill of this process after it.
	p.err = p.instance.saved.commit(p.instance.tree)
	if p.hasEnded() {
		p.shell.Close()
		p.instance.remove(p)
	}
}

// reportLimits reports the limits that have stopped an operation during a command, of it or of another. met is what the limits of
// the tree had stopped before, and machine the limit that the command's machine has met, or nil.
func (i *instance) reportLimits(met vfs.Met, machine error) {
	now, limits := i.tree.fs.Usage().Met, i.driver.treeLimits(i.plan)
	for _, l := range []struct {
		isMet bool
		name  string
		value int64
		most  string // a format for the value
	}{
		{now.Bytes > met.Bytes, "disk", limits.Bytes, "all files together have at most %v"},
		{now.FileBytes > met.FileBytes, "file", limits.FileBytes, "a file has at most %v"},
		{now.Nodes > met.Nodes, "nodes", int64(limits.Nodes), "there are at most %v files and directories"},
		{errors.Is(machine, shell.ErrMemory), "memory", cmp.Or(i.limits.Bytes, shell.DefaultBytes), "a command has at most %v"},
		{errors.Is(machine, shell.ErrProcesses), "pids", int64(i.limits.Processes), "there are at most %v processes"},
	} {
		if !l.isMet || l.value <= 0 { // a library's caller may set no limit
			continue
		}
		format := func(n int64) string { return sandbox.Bytes(n).String() }
		if l.name == "nodes" || l.name == "pids" {
			format = func(n int64) string { return strconv.FormatInt(n, 10) }
		}
		i.driver.options.Denied(sandbox.Denial{
			Time: time.Now(), Kind: sandbox.DeniedLimit, Op: "exceed", Target: "limits." + l.name,
			Reason: fmt.Sprintf(l.most, format(l.value)), Fix: "--limit " + l.name + "=" + format(2*l.value),
		})
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
