package inventory

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// AddInFlag adds --in.
func AddInFlag(fs *pflag.FlagSet, name *string) {
	fs.StringVar(name, "in", "", "run in the sandbox `NAME`, which 'agent-sandbox create' made")
}

// CheckInFlags rejects flags that cannot change an existing sandbox. more are flags that change how this command runs in it.
func CheckInFlags(cmd *cobra.Command, path string, more ...string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(more, f.Name) {
			return
		}
		switch f.Name {
		case "in", "cwd", "json", "quiet", "verbose", "backend", "context", "namespace": // the last three select its place
		default:
			err = console.UsageError(path, "--%s does not go with --in: the sandbox has its policy since it was created", f.Name)
		}
	})
	if cwd := cmd.Flags().Lookup("cwd"); err == nil && cwd.Changed && !filepath.IsAbs(cwd.Value.String()) {
		err = console.UsageError(path, "with --in the -C directory is one inside the sandbox, and absolute; got %q", cwd.Value.String())
	}
	return err
}

// Refused returns the denials of a persistent sandbox since its last call, or since the sandbox was opened, including those of
// concurrent commands. A sandbox that ended with the command cannot answer; its log has them.
func Refused(ctx context.Context, box *sandbox.Sandbox) []sandbox.Denial {
	told, ok := sandbox.As[interface {
		Denials(ctx context.Context) ([]sandbox.Denial, error)
	}](box.Unwrap())
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	list, _ := told.Denials(ctx) // see above
	return list
}
