package inventory

import (
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
)

// AddInFlag adds --in.
func AddInFlag(fs *pflag.FlagSet, name *string) {
	fs.StringVar(name, "in", "", "run in the sandbox `NAME`, which 'agent-sandbox create' made")
}

// CheckInFlags rejects flags that cannot change an existing sandbox.
func CheckInFlags(cmd *cobra.Command, path string) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "in", "cwd", "json", "quiet", "backend", "context", "namespace": // the last three select its place
		default:
			err = console.UsageError(path, "--%s does not go with --in: the sandbox has its policy since it was created", f.Name)
		}
	})
	if cwd := cmd.Flags().Lookup("cwd"); err == nil && cwd.Changed && !filepath.IsAbs(cwd.Value.String()) {
		err = console.UsageError(path, "with --in the -C directory is one inside the sandbox, and absolute; got %q", cwd.Value.String())
	}
	return err
}
