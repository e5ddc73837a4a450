//go:build !agent

package assistants

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// pipelineProgram is this program built with the pipeline of assistants: the clients of models, and the store
// take each start of whatever links them some milliseconds.
const pipelineProgram = "agent-sandbox-agent"

// becomePipeline becomes that program, which begins anew: nothing has been started yet.
func becomePipeline() error {
	return sandbox.Errorf(sandbox.Unavailable, "assistants need a program of their own: %w", program.Become(pipelineProgram)).
		WithHint("install it beside this one: make install")
}

func runAssistant(context.Context, *console.App, string, string, runFlags) error {
	return becomePipeline()
}

func serveMCP(context.Context, *console.App, *mcpFlags) error { return becomePipeline() }

func manageChats(context.Context, *console.App, chatFlags) error { return becomePipeline() }

func printUsage(context.Context, *console.App, usageFlags) error { return becomePipeline() }

func pruneAgents(context.Context, *console.App, pruneFlags) error { return becomePipeline() }
