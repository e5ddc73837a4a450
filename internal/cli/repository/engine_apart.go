//go:build !kube

package repository

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
)

// openEngine fails: the commands that call it have asked for another program before.
func openEngine(context.Context, *console.App) (job.Engine, error) { return nil, host.RequireEngines() }
