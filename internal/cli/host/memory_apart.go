//go:build !memory && !agent

package host

import (
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newVirtual(Host, DriverOptions) (sandbox.Driver, error) {
	return nil, program.Require(program.Of("virtual"), "virtual: in-memory machines")
}
