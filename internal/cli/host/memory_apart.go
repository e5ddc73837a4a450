//go:build !memory && !agent

package host

import (
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newVirtual replaces this process by the program that is built with the in-memory machine. Nothing has been started yet.
func newVirtual(Host, DriverOptions) (sandbox.Driver, error) {
	return nil, sandbox.Errorf(sandbox.Unavailable, "virtual: the in-memory machine needs a program of its own: %w", program.Become(program.Memory)).
		WithHint("install it beside this one: make install")
}
