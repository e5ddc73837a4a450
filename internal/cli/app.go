package cli

import (
	"errors"
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

// newApp returns an invocation with the environment env and the streams stdio.
func newApp(env []string, stdio sandbox.Stdio) *app {
	return &app{
		env: env, stdio: stdio, out: &output{w: stdio.Stdout},
		err: &printer{w: stdio.Stderr, color: colored(stdio.Stderr, env)},
	}
}

// exitStatus ends a command with a status and without a message.
type exitStatus int

func (exitStatus) Error() string { return "exit status" }

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
