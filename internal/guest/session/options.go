package session

import (
	"context"
	"encoding/json"
	"io"
	"net"
)

// Options configure the guest's end of a session.
type Options struct {
	// Runner is the command line that makes this program call [Run]; its own name comes first.
	Runner []string
	// Inside executes the guest's own commands without a process; ok is false for other commands.
	Inside func(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool)
	// Busy is called with 1 before a command is started, and with -1 when the client knows its end; nil: not called.
	Busy func(n int)
	// Operation executes operations, like that of [Shared]; nil: there are none.
	Operation Operation
	// Container: /sys/fs/cgroup is the cgroup of this sandbox only, so it shows why a command was killed.
	Container bool
	// Loopback listens on a port of the loopback where commands have no kernel loopback; nil: they have one.
	Loopback func(port uint16) (net.Listener, error)
}

// Operation executes an operation that is not a command. Its argument is JSON of at most 1 MiB, or nil. The session
// sends each write of its answer at once. ctx ends when the client leaves. Unsupported: the operation is unknown.
type Operation func(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error
