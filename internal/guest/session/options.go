package session

import (
	"context"
	"encoding/json"
	"io"
	"net"
)

// Options are what the guest adds to a session.
type Options struct {
	// Runner is the command line, its own name first, with which this program calls [Run].
	Runner []string
	// Inside handles the commands that the guest itself is, without a process; ok is false for others.
	Inside func(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool)
	// Busy is told 1 before a command is started, and -1 when its end has been told; nil: nobody is.
	Busy func(n int)
	// Operation does what is not a command, as that of [Shared]; nil: nothing is.
	Operation Operation
	// Loopback listens on a port of the loopback in a sandbox where the kernel has none for its commands; nil: it has.
	Loopback func(port uint16) (net.Listener, error)
}

// Operation does what is not a command: its argument is JSON of at most 1 MiB, or nil, and what it writes is its
// answer, which is sent as it comes. ctx ends with the client's interest. An unknown one is Unsupported.
type Operation func(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error
