package host

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
)

// AddStageFlag adds --stage.
func AddStageFlag(fs *pflag.FlagSet, name *string) {
	console.AddFlag(fs, "stage", stage.DefaultName, "write to a stage of the workspace, `NAME` or default, and not to\nthe workspace: see 'agent-sandbox stage --help'", func(s string) error {
		if s == "" {
			return fmt.Errorf("expected a name, got an empty one")
		}
		*name = s
		return nil
	})
}
