package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// app is one invocation: all that a command may touch of its surroundings.
type app struct {
	env   []string      // "K=V"
	stdio sandbox.Stdio // what the command inside inherits
	out   *output       // stdout, for what we print ourselves
	err   *printer      // stderr
}

// exitStatus ends a command with a status and without a message.
type exitStatus int

func (exitStatus) Error() string { return "exit status" }

// run is the whole command: it returns the exit status and never exits.
func run(ctx context.Context, args, env []string, stdio sandbox.Stdio) int {
	a := &app{
		env:   env,
		stdio: stdio,
		out:   &output{w: stdio.Stdout},
	}
	a.err = &printer{w: stdio.Stderr, color: colored(stdio.Stderr, env)}
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.out.err
	}
	return a.status(err)
}

// status prints err and turns it into an exit status.
func (a *app) status(err error) int {
	var code exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errPipe):
		// Whoever read us has seen enough: end as SIGPIPE would have ended us.
		return 128 + int(syscall.SIGPIPE)
	}
	a.err.print(err)
	return exitCode(err)
}

// exitCode is the exit status for an error.
func exitCode(err error) int {
	var execErr *sandbox.ExecError
	if errors.As(err, &execErr) && execErr.Code != 0 {
		return execErr.Code
	}
	return sandbox.CodeOf(err).Exit()
}

// lookup returns the value of a variable of env, and "" when it is not set. The
// first one counts, as in getenv(3).
func lookup(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// errPipe says that the reader of our stdout is gone.
var errPipe = errors.New("broken pipe")

// output is stdout. It remembers the first failure, so that the many small
// writes of a table need no error handling and a full disk is still an error.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE):
		o.err = errPipe
	case err != nil:
		o.err = sandbox.Errorf(sandbox.Exhausted, "cannot write to stdout: %w", err)
	}
	return n, o.err
}
