//go:build !kube

package repository

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
)

// openEngine fails: its callers have already asked for another program.
func openEngine(context.Context, *console.App) (job.Engine, error) { return nil, host.RequireEngines() }
