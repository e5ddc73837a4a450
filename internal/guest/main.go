package guest

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Exit statuses that a shell would use too.
const (
	exitRefused       = 1
	exitUsage         = 2
	exitNotExecutable = 126
	exitNotFound      = 127
)

const usage = `usage: agent-sandbox check
       agent-sandbox init [--tty] [--net FD] [--ports FD] -- COMMAND [ARGUMENT...]
       agent-sandbox serve FD|-
       agent-sandbox files OPERATION [NAME...]
       agent-sandbox connect HOST PORT
       agent-sandbox bridge 127.0.0.1:PORT|unix:/PATH
       agent-sandbox pod [--offline] [--debuggers] [--file BYTES] [--linger SECONDS] [--keep] [--idle SECONDS] [--until UNIXTIME]
       agent-sandbox join SIZE SHA256 [--wait|--wake]
       agent-sandbox attend
       agent-sandbox install
       agent-sandbox store SIZE SHA256 [--alone]
`

// Main runs the guest with the arguments of its process, args[0] included, and
// its environment, and returns the exit status. When it becomes another program
// it does not return.
func Main(args, env []string) int {
	p := process{env: env}
	if len(args) == 0 {
		return p.fail(exitUsage, "no arguments, not even a name")
	}
	if !ownName(args[0]) {
		return p.wrapped(args)
	}
	if len(args) < 2 {
		return p.usage()
	}
	switch rest := args[2:]; args[1] {
	case "check":
		return p.check()
	case "init":
		return p.init(rest)
	case "files":
		// At the limit of a file's size the error is enough; our runtime would die of the signal.
		signal.Ignore(syscall.SIGXFSZ)
		return serveFiles(rest, os.Stdin, os.Stdout, os.Stderr)
	case "serve":
		return p.serve(rest)
	case runnerCommand:
		return session.Run()
	case "stage":
		return runStage(rest, env)
	case "connect":
		return p.connect(rest)
	case bridgeCommand:
		return p.bridge(rest)
	case "ports":
		return servePorts(p)
	case "pod":
		return p.pod(rest)
	case "attend":
		return p.attend(rest)
	case "join":
		return p.join(rest)
	case "install":
		return p.install(rest)
	case storeCommand:
		return p.store(rest)
	case "multicall":
		if len(rest) == 0 || ownName(rest[0]) {
			return p.usage()
		}
		return p.wrapped(rest)
	case "exec", "shell", "--":
		return p.fail(sandbox.ExitFailed, "this is inside a sandbox already")
	}
	return p.usage()
}

// Serves reports whether a program that can be both the command and the guest
// was started as the guest: by an operation that only the guest has, or under the
// name of a wrapped command inside a sandbox.
func Serves(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if ownName(args[0]) && len(args) > 1 {
		switch args[1] {
		case "init", "serve", runnerCommand, "files", "multicall", "connect", bridgeCommand, "ports", "pod", "attend", "join", storeCommand:
			return true
		}
	}
	return !ownName(args[0]) && inside() && launcher()
}

func ownName(argv0 string) bool {
	switch path.Base(argv0) {
	case "agent-sandbox", "sandbox-guest":
		return true
	}
	return false
}

func inside() bool {
	_, err := os.Lstat(Program)
	return !errors.Is(err, fs.ErrNotExist)
}

// launcher reports whether this process was started from a file that hides
// another program, not from where the guest itself lies.
func launcher() bool {
	exe, err := os.Readlink(selfExe)
	return err == nil && exe != Program && !ownName(exe)
}

// process is the guest's own process: its environment and its way to complain.
type process struct{ env []string }

func (p process) check() int {
	text, code := "inside sandbox\n", 0
	if !inside() {
		text, code = "outside sandbox\n", 1
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		return p.fail(exitRefused, err.Error())
	}
	return code
}

func (p process) usage() int {
	_, _ = os.Stderr.WriteString(usage) // nobody is left to tell
	return exitUsage
}

// fail prints one line, and one more for each hint, in a single write.
func (p process) fail(code int, message string, hints ...string) int {
	var b strings.Builder
	b.WriteString("agent-sandbox: " + session.Printable(message) + "\n")
	for _, h := range hints {
		b.WriteString("hint: " + session.Printable(h) + "\n")
	}
	_, _ = os.Stderr.WriteString(b.String()) // nobody is left to tell
	return code
}

// variable returns the value of the first variable called name, as getenv(3).
func variable(env []string, name string) string {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// withVariable returns env with name set to value and no second entry for it.
func withVariable(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if k, _, _ := strings.Cut(kv, "="); k != name {
			out = append(out, kv)
		}
	}
	return append(out, name+"="+value)
}
