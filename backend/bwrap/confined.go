//go:build linux

package bwrap

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/confine"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// canConfine reports whether the commands of a plan run in a Landlock domain, in which they can make no directory entry
// themselves. They then get the guard's program from the guest, after bubblewrap, so that the guard does not receive bubblewrap's
// own calls. Bubblewrap's first process has no program in that case; commands cannot change it, because nothing in a domain may
// trace a process outside. A process in a domain cannot mount, so commands that may have user namespaces cannot be in one.
func canConfine(plan *policy.Plan) bool { return !plan.Userns && landlock.Version() > 0 }

// confined is the connection to the guest that confines a command. A nil one is valid: there is none.
type confined struct {
	host      int
	guest     *os.File
	listening bool
	err       error // why there is no listener
}

func newConfined(asks seccomp.Program) (*confined, error) {
	host, inside, err := confine.Socket(asks)
	if err != nil {
		return nil, err
	}
	return &confined{host: host, guest: os.NewFile(uintptr(inside), "confine")}, nil
}

// receive gives the guard its listener.
func (c *confined) receive(g *guard.Guard) {
	var fd int
	if fd, c.err = confine.ReceiveListener(c.host); c.err == nil {
		c.listening = true
		g.Listen(guard.NewListener(fd))
	}
}

// failure returns the error of a guest that has ended with a status of its own, not that of the command; nil: it became the command.
func (c *confined) failure(command string) error {
	switch {
	case c == nil:
		return nil
	case !c.listening && c.err != nil:
		return sandbox.Errorf(sandbox.Unavailable, "the guard cannot be installed inside: %w", c.err).
			WithHint("run 'agent-sandbox doctor' for the layer that forbids it")
	case !c.listening:
		return sandbox.Errorf(sandbox.Unavailable, "the guard cannot be installed inside")
	case confine.ExecuteError(c.host) != nil:
		return execError(command, errNoExec)
	}
	return nil
}

// closeGuest closes the end that only the guest needs.
func (c *confined) closeGuest() {
	if c != nil {
		_ = c.guest.Close()
	}
}

// close may be called again.
func (c *confined) close() {
	if c != nil && c.host >= 0 {
		_, _ = c.guest.Close(), unix.Close(c.host)
		c.host = -1
	}
}
