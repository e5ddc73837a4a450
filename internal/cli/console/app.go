// Package console holds what all commands share: the environment and the streams of one invocation, output of results,
// errors and help, exit statuses, and the relay of signals.
//
// The rules of the user interface:
//
//   - stdout has the result, stderr has the messages
//   - an error is one line, then "hint:" and one line with the fix
//   - the command inside keeps its own exit status; ours are 124 to 127 and 130
//   - colour only on a terminal, and never with NO_COLOR
package console

import (
	"errors"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// App is one invocation: its environment and streams.
type App struct {
	Args  []string      // without argv 0
	Env   []string      // "K=V"
	Stdio sandbox.Stdio // what the command inside inherits
	Out   *Output       // stdout, for our own output
	Err   *Printer      // stderr
}

// New returns an invocation with the environment env and the streams stdio.
func New(env []string, stdio sandbox.Stdio) *App {
	return &App{
		Env: env, Stdio: stdio, Out: &Output{w: stdio.Stdout},
		Err: &Printer{w: stdio.Stderr, color: CanHaveColor(stdio.Stderr, env)},
	}
}

// ExitStatus ends a command with a status and without a message.
type ExitStatus int

func (ExitStatus) Error() string { return "exit status" }

// Lookup returns the value of a variable of env, or "" when it is not set. The
// first one counts, as in getenv(3).
func Lookup(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// Report prints err and turns it into an exit status.
func (a *App) Report(err error) int {
	var code ExitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errPipe):
		// The reader of stdout closed it: exit as after SIGPIPE.
		return 128 + int(syscall.SIGPIPE)
	}
	a.Err.Print(err)
	return ExitCode(err)
}

// ExitCode returns the exit status for an error.
func ExitCode(err error) int {
	var execErr *sandbox.ExecError
	if errors.As(err, &execErr) && execErr.Code != 0 {
		return execErr.Code
	}
	return sandbox.CodeOf(err).Exit()
}
