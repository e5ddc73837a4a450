//go:build memory || agent

package host

import (
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newVirtual returns the driver of the in-memory machine.
func newVirtual(h Host, k DriverOptions) (sandbox.Driver, error) {
	return virtual.New(virtual.Options{Share: k.Shared, Apply: k.Shared, Journal: filepath.Join(h.Data, "applies"), Trace: k.Trace, Denied: k.Denied}), nil
}
