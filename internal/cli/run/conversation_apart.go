//go:build !memory && !agent

package run

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// converseInMemory does nothing: no sandbox of this program has an in-memory shell.
func converseInMemory(context.Context, *console.App, *execFlags, *sandbox.Sandbox) (status int, ok bool, err error) {
	return 0, false, nil
}
