//go:build linux

package escape_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// attempt is a running attempt.
type attempt struct {
	cmd    *exec.Cmd
	pty    *pty
	inside bool // the attempt runs in a sandbox
}

// patience limits the time of an attempt on an idle machine.
const patience = 90 * time.Second

// attempt runs the attempt, in a sandbox or on the bare host.
func (c *escape) attempt(h *host, inside bool, flags []string) (o outcome) {
	h.t.Helper()
	h.snapshot()
	h.bare = !inside
	ctx, cancel := context.WithTimeout(h.t.Context(), deadline.Scale(patience))
	defer cancel()
	if inside {
		destroy, refused := c.createPersistent(ctx, h, flags)
		if refused != nil {
			return *refused
		}
		defer func() { o.err = errors.Join(o.err, destroy()) }()
	}
	p := &attempt{cmd: c.command(ctx, h, inside, flags), inside: inside}
	if c.TTY || c.Ctty {
		p.pty = newPty(h)
		p.cmd.SysProcAttr.Setsid, p.cmd.SysProcAttr.Setctty = true, true
	}
	if c.Files != nil {
		p.cmd.ExtraFiles = c.Files(h)
	}
	if !inside && os.Getuid() == 0 {
		// Mounts of an attempt without a sandbox must not remain on this machine.
		p.cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	var stderr bytes.Buffer
	in, out := p.streams(h, c, &stderr)
	if err := c.start(p); err != nil {
		return outcome{err: err}
	}
	h.launched = p.cmd.Process.Pid
	read := make(chan string, 1)
	go func() { read <- p.converse(c, h, in, out) }()
	err := p.cmd.Wait()
	pushed := 0
	if p.pty != nil {
		pushed, _ = unix.IoctlGetInt(int(p.pty.slave.Fd()), unix.TIOCINQ)
		_ = p.pty.slave.Close()
	}
	// A process that an attempt without a sandbox left behind may hold the pipe open.
	if !inside {
		for _, left := range h.processes() {
			o.stderr += "left running: " + left.text + "\n"
		}
	}
	select {
	case o.stdout = <-read:
	case <-time.After(deadline.Scale(5 * time.Second)):
		o.stdout = "OPEN something holds the output after the command has ended\ntried\n"
	}
	if pushed > 0 {
		o.stdout += fmt.Sprintf("OPEN %d bytes were pushed into the host's terminal\n", pushed)
	}
	o.stderr += stderr.String()
	o.code = p.cmd.ProcessState.ExitCode()
	if ctx.Err() != nil {
		o.err = fmt.Errorf("lasted longer than %s", patience)
	} else if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		o.err = err
	}
	return o
}

// start starts the attempt, on the case's own network if it has one.
func (c *escape) start(p *attempt) error {
	if c.Net == nil {
		return p.cmd.Start()
	}
	if err := c.network.Begin(c.Net); err != nil {
		return err
	}
	return c.network.Machine.Do(p.cmd.Start)
}

func (c *escape) command(ctx context.Context, h *host, inside bool, flags []string) *exec.Cmd {
	maps.Copy(h.vars, h.target.variables(h, h.expandAll(c.Flags)))
	args := c.commandLine(h.expand)
	switch {
	case inside:
		args = c.commandLine(h.expandInside)
	case c.Bare != nil:
		args = h.expandAll(c.Bare)
	}
	if inside && c.Launch != nil {
		args = h.expandAll(c.Launch)
	} else if inside {
		args = h.target.launch(h, slices.Concat(h.expandAll(c.Flags), h.expandAll(flags)), args)
	}
	return c.prepare(ctx, h, args)
}

// commandLine returns the attempt's command line, with its variables replaced.
func (c *escape) commandLine(expand func(string) string) []string {
	switch {
	case c.Sh != "":
		return []string{"/bin/sh", "-c", expand(c.Sh) + "\necho tried"}
	case c.Go != nil:
		return append([]string{expand("{attacker}")}, mapStrings(c.Go, expand)...)
	}
	return mapStrings(c.Args, expand)
}

// prepare returns a command of the host's user, in the attempt's directory and environment.
func (c *escape) prepare(ctx context.Context, h *host, args []string) *exec.Cmd {
	dir := h.path(c.Dir)
	if c.Dir == "" {
		dir = h.work
	}
	base := h.command(dir, args...)
	cmd := exec.CommandContext(ctx, base.Path, args[1:]...)
	cmd.Args = args
	cmd.Dir, cmd.SysProcAttr = dir, base.SysProcAttr
	cmd.Env = slices.Concat(base.Env, h.expandAll(c.Env), h.target.env)
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// streams connects the attempt to a terminal or to pipes, and returns our ends.
func (p *attempt) streams(h *host, c *escape, stderr io.Writer) (io.Writer, io.Reader) {
	h.t.Helper()
	if c.TTY {
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.pty.slave, p.pty.slave, p.pty.slave
		return p.pty.master, p.pty.master
	}
	if c.Ctty {
		p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, p.pty.slave)
		p.cmd.SysProcAttr.Ctty = 2 + len(p.cmd.ExtraFiles)
	}
	inR, inW, err := os.Pipe()
	h.must(err)
	outR, outW, err := os.Pipe()
	h.must(err)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, stderr
	h.closers = append(h.closers, func() { _, _, _, _ = inR.Close(), inW.Close(), outR.Close(), outW.Close() })
	return &starter{inW, []io.Closer{inR, outW}}, outR
}

// starter is our end of a pipe; converse closes the child's ends.
type starter struct {
	io.WriteCloser
	theirs []io.Closer
}

// converse returns the output. When the attempt prints "ready", it calls During and then lets
// the attempt continue.
func (p *attempt) converse(c *escape, h *host, in io.Writer, out io.Reader) string {
	if s, ok := in.(*starter); ok {
		for _, f := range s.theirs {
			_ = f.Close()
		}
	}
	var all strings.Builder
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		all.WriteString(line)
		if strings.TrimSpace(line) == "ready" {
			if c.During != nil {
				c.During(h, p)
			}
			_, _ = io.WriteString(in, "go\n")
			if s, ok := in.(*starter); ok {
				_ = s.Close()
			}
		}
		if err != nil {
			return all.String()
		}
	}
}

// pty is a terminal of the host.
type pty struct{ master, slave *os.File }

func newPty(h *host) *pty {
	h.t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	h.must(err)
	h.must(unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	h.must(err)
	name := fmt.Sprintf("/dev/pts/%d", n)
	slave, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC, 0)
	h.must(err)
	h.must(os.Chown(name, h.uid, -1))
	// Raw mode, so that the pushed characters can be counted at once.
	attr, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	h.must(err)
	attr.Lflag &^= unix.ICANON | unix.ECHO
	h.must(unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, attr))
	h.vars["pts"] = name
	h.closers = append(h.closers, func() { _, _ = master.Close(), slave.Close() })
	return &pty{master, slave}
}
