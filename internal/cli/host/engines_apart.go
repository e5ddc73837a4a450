//go:build !kube

package host

import (
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newDocker(Host, DriverOptions) (sandbox.Driver, error) { return nil, RequireEngines() }

func newCluster(Host, DriverOptions) (sandbox.Driver, error) { return nil, RequireEngines() }

// RequireEngines returns an error, because this program lacks the drivers of containers and pods.
func RequireEngines() error {
	return program.Require(program.Of(Docker), "docker and kube: containers and pods")
}
