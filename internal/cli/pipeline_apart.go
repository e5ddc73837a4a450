//go:build !agent

package cli

import (
	"context"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// pipelineProgram is this program built with the pipeline of assistants: the clients of models, and the store
// take each start of whatever links them some milliseconds.
const pipelineProgram = "agent-sandbox-agent"

// becomePipeline becomes that program, which begins anew: nothing has been started yet.
func becomePipeline() error {
	return sandbox.Errorf(sandbox.Unavailable, "assistants are run by a program of their own: %w", become(pipelineProgram)).
		WithHint("install it beside this one: make install")
}

func (*app) runAssistant(context.Context, string, string, runFlags) error { return becomePipeline() }

func (*app) serveMCP(context.Context, *mcpFlags) error { return becomePipeline() }

func (*app) chats(context.Context, chatFlags) error { return becomePipeline() }

func (*app) usage(context.Context, usageFlags) error { return becomePipeline() }

func (*app) pruneAgents(context.Context, pruneFlags) error { return becomePipeline() }
