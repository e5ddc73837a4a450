//go:build !agent

package assistants

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/program"
)

// requirePipeline returns the error of a command that needs the pipeline. The clients of models and the store would add
// some milliseconds to each start of a program that links them.
func requirePipeline() error { return program.Require(program.Everything, "assistants") }

func runAssistant(context.Context, *console.App, string, string, runFlags) error {
	return requirePipeline()
}

func serveMCP(context.Context, *console.App, *mcpFlags) error { return requirePipeline() }

func manageChats(context.Context, *console.App, chatFlags) error { return requirePipeline() }

func printUsage(context.Context, *console.App, usageFlags) error { return requirePipeline() }

func printAudit(context.Context, *console.App, auditFlags) error { return requirePipeline() }

func pruneAgents(context.Context, *console.App, pruneFlags) error { return requirePipeline() }

func listAssistants(*console.App, string, bool) error { return requirePipeline() }

func validateAssistants(context.Context, *console.App, string, []string) error {
	return requirePipeline()
}

func replayRun(context.Context, *console.App, string, replayFlags) error { return requirePipeline() }

func listSkills(*console.App, *skillPlaces, bool, bool) error { return requirePipeline() }

func showSkill(*console.App, *skillPlaces, string, bool, bool) error { return requirePipeline() }

func validateSkills(*console.App, []string, bool) error { return requirePipeline() }

func completeAssistants(*console.App, *string) cobra.CompletionFunc { return cobra.NoFileCompletions }

func completeSkills(*console.App, *skillPlaces) cobra.CompletionFunc { return cobra.NoFileCompletions }
