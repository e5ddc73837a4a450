package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/policy"
)

const (
	commandTimeout = 30 * time.Second
	askingTimeout  = 5 * time.Minute // the user may have to find a passphrase or a key
	maxSaid        = 200             // bytes of a line of stderr
)

// errTimeout is the cause of a context that ended because a program took too long.
var errTimeout = errors.New("it took too long")

// runProgram runs a program of the host and returns its output. Its stderr may be shown to the user; its output may not,
// because it may be a part of a value.
//
// When this process is in the foreground of a terminal, the program may ask there (/dev/tty): it shares the process
// group and gets the terminal's signals. Otherwise it has no terminal and its own session, which is killed as a whole.
func runProgram(ctx context.Context, plan *policy.Plan, args, env []string) (string, error) {
	asking := isInForeground()
	limit := commandTimeout
	if asking {
		limit = askingTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	// The program does not start in the workspace, where commands could leave files that programs load from
	// their working directory.
	cmd.Dir, cmd.Env = "/", append(withoutPlanted(plan, env), "PWD=/")
	cmd.WaitDelay = time.Second
	if !asking {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	}
	stdout, stderr := limited{left: maxSecret + 1}, tail{}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	exit, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return stdout.String(), nil
	case errors.Is(context.Cause(ctx), errTimeout):
		return "", fmt.Errorf("%s did not end within %s", args[0], limit)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s: %w", args[0], ctx.Err())
	case asking && exit != nil && isInterrupted(exit):
		// This process gets the same signal of the terminal.
		return "", fmt.Errorf("%s was interrupted: %w", args[0], context.Canceled)
	}
	return "", fmt.Errorf("%s: %w%s", args[0], err, stderr.said(stdout.String()))
}

func isInterrupted(exit *exec.ExitError) bool {
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}

// isInForeground reports whether this process is in the foreground of a terminal.
func isInForeground() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// withoutPlanted removes directories from PATH in which commands can write (node_modules/.bin is often
// there). The program calls others by name, and they run on the host.
func withoutPlanted(plan *policy.Plan, env []string) []string {
	var dirs []string
	for _, dir := range filepath.SplitList(lookupVariable(env, "PATH")) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		link, _ := plan.Access(filepath.Clean(dir))
		if at, _ := plan.Access(real); link != policy.ReadWrite && at != policy.ReadWrite {
			dirs = append(dirs, dir)
		}
	}
	return append(slices.Clip(env), "PATH="+strings.Join(dirs, string(filepath.ListSeparator)))
}

// limited stores the first bytes that are written to it.
type limited struct {
	bytes.Buffer

	left int
}

func (l *limited) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	_, _ = l.Buffer.Write(keep)
	return len(p), nil
}

// tail stores the last bytes that are written to it, in which programs report why they failed.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	const keep = 4 << 10
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-keep):]
	return len(p), nil
}

// said returns the last line, to append it to an error. It omits a line that repeats the output, because it may be the
// value ("sh -x").
func (t *tail) said(stdout string) string {
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	line := strings.TrimSpace(lines[len(lines)-1])
	if line == "" {
		return ""
	}
	for word := range strings.FieldsSeq(stdout) {
		if strings.Contains(line, word) {
			return ": what it says repeats its output and is not shown"
		}
	}
	return fmt.Sprintf(": %q", line[:min(len(line), maxSaid)])
}
