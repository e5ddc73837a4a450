// Package process contains the process-level functions of the guest: environment, messages, standard streams, and the
// execution of other programs.
package process

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// SelfExe is the file from which this process was started.
const SelfExe = "/proc/self/exe"

// Exit statuses, as a shell uses them.
const (
	ExitRefused       = 1
	ExitUsage         = 2
	ExitNotExecutable = 126
	ExitNotFound      = 127
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

// Process is the guest's own process. It prints errors to standard error.
type Process struct{ Env []string }

// IsOwnName reports whether argv0 is a name of the guest or of agent-sandbox, and not that of a wrapped command.
func IsOwnName(argv0 string) bool {
	switch path.Base(argv0) {
	case "agent-sandbox", "sandbox-guest":
		return true
	}
	return false
}

// IsInside reports whether this process runs inside a sandbox: whether the guest exists at its path there.
func IsInside() bool {
	_, err := os.Lstat(layout.Program)
	return !errors.Is(err, fs.ErrNotExist)
}

// Usage prints the guest's usage and returns the exit status for a usage error.
func (p Process) Usage() int {
	_, _ = os.Stderr.WriteString(usage) // standard error is the last place to report to
	return ExitUsage
}

// Fail prints one line, and one more for each hint, in a single write.
func (p Process) Fail(code int, message string, hints ...string) int {
	var b strings.Builder
	b.WriteString("agent-sandbox: " + session.Printable(message) + "\n")
	for _, h := range hints {
		b.WriteString("hint: " + session.Printable(h) + "\n")
	}
	_, _ = os.Stderr.WriteString(b.String()) // standard error is the last place to report to
	return code
}

// Variable returns the value of the first variable called name, like getenv(3).
func Variable(env []string, name string) string {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

// WithVariable returns env with name set to value and no second entry for it.
func WithVariable(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	for _, kv := range env {
		if k, _, _ := strings.Cut(kv, "="); k != name {
			out = append(out, kv)
		}
	}
	return append(out, name+"="+value)
}
