package connector

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// errSlow is the cause of a context that ended because a command took too long.
var errSlow = errors.New("it took too long")

// command runs a program of the host, without a shell, and returns its output. Errors do not repeat its stderr, which
// under "sh -x" contains the key. The command has its own session, which is killed as a whole.
func (k *Keys) command(ctx context.Context, args []string) (string, error) {
	limit := cmp.Or(k.Timeout, defaultTimeout)
	own, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	cmd := exec.CommandContext(own, args[0], args[1:]...)
	// Not the current directory, which may belong to a repository: programs load files from there.
	cmd.Dir, cmd.Env = "/", append(slices.Clip(k.Env), "PWD=/")
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	out := limited{left: MaxKey + 3} // a final line break is not part of the key
	cmd.Stdout = &out
	err := cmd.Run()
	switch {
	case err == nil:
		return out.String(), nil
	case errors.Is(context.Cause(own), errSlow):
		return "", sandbox.Errorf(sandbox.Timeout, "it did not end within %s", limit)
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", sandbox.Errorf(sandbox.Unavailable, "%s", exit.ProcessState).WithHint("run it yourself to see what it says")
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	return "", sandbox.Errorf(sandbox.Unavailable, "it cannot be run: %w", fileError(err))
}

// limited retains the beginning of the output.
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
