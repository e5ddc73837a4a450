//go:build !linux

package guestnet

import (
	"errors"

	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// Network describes the network that "init" prepares before it executes the command.
type Network struct{ Net, Ports int }

// Prepare fails: only Linux has network namespaces.
func (n Network) Prepare() error {
	if n.Net < 0 && n.Ports < 0 {
		return nil
	}
	return errors.ErrUnsupported
}

// ServePorts fails: only Linux has network namespaces.
func ServePorts(p process.Process) int {
	return p.Fail(ExitNetwork, "ports: only Linux has network namespaces")
}

// Connect fails: only Linux has network namespaces.
func Connect(p process.Process, _ []string) int {
	return p.Fail(ExitNetwork, "connect: only Linux has network namespaces")
}
