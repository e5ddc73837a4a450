//go:build kube

package repository

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
)

// openEngine connects to the container engine. The caller closes it.
func openEngine(ctx context.Context, a *console.App) (job.Engine, error) {
	return engine.Open(ctx, a.Env)
}
