//go:build agent

package assistants

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/agent/assistant"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// openRoot opens the root of assistants for a command.
func openRoot(a *console.App, root string) (*assistant.Root, error) {
	h, err := host.Locate(a.Env, "")
	if err != nil {
		return nil, err
	}
	own := filepath.Join(configDir(a.Env, h.Home), "agent-sandbox")
	dir := root
	if dir == "" {
		dir = own
		for _, near := range []string{h.Workspace, filepath.Join(h.Workspace, ".agent-sandbox")} {
			if assistant.Has(near) {
				dir = near
				break
			}
		}
	}
	found, err := assistant.Open(dir)
	if err != nil {
		if root == "" {
			return nil, sandbox.Errorf(sandbox.NotFound, "no assistants in %s, in its .agent-sandbox or in %s", h.Workspace, own).
				WithHint("make assistants/NAME/package.yao there, or name a directory with --root")
		}
		return nil, err
	}
	found.Own, found.Trust = isSameDir(found.Dir(), own), &policy.Trust{Dir: h.TrustDir()}
	return found, nil
}

// completeAssistants completes the names of assistants.
func completeAssistants(a *console.App, root *string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, err := openRoot(a, *root)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, _ := found.Names() // an unreadable root completes nothing
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
