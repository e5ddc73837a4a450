package cli

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// shellInRepo opens a shell in a repository's sandbox and starts it before when it does not run.
func (a *app) shellInRepo(ctx context.Context, dir string, f *repoFlags) error {
	relay, starting := startRelay(ctx, false, a.err.say)
	name, err := a.startRepo(starting, dir, f)
	if sig := relay.stop(); sig != 0 && err != nil {
		return exitStatus(128 + int(sig))
	}
	if err != nil {
		return err
	}
	return a.exec(ctx, &execFlags{in: name}, []string{"bash"})
}

// onlyRepoFlags refuses flags that a repository's sandbox does not obey: it has the policy of its configuration.
func onlyRepoFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "branch", "base-tag", "build":
		default:
			err = usageError(cmd.CommandPath(), "--%s does not go with a repository's sandbox: its policy is that of its configuration", f.Name)
		}
	})
	return err
}
