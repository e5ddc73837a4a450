package run

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
)

// ShellInRepository opens a shell in a repository's sandbox, and starts the sandbox if it does not run.
func ShellInRepository(ctx context.Context, a *console.App, dir string, f *repository.Flags) error {
	relay, starting := console.StartRelay(ctx, false, a.Err.Say)
	name, err := repository.Start(starting, a, dir, f)
	if sig := relay.Stop(); sig != 0 && err != nil {
		return console.ExitStatus(128 + int(sig))
	}
	if err != nil {
		return err
	}
	return Exec(ctx, a, &execFlags{in: name}, []string{"bash"})
}

// onlyRepoFlags rejects flags that do not apply to a repository's sandbox: its configuration sets its policy.
func onlyRepoFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "branch", "base-tag", "build", "firewall":
		default:
			err = console.UsageError(cmd.CommandPath(), "--%s does not go with a repository's sandbox: its policy is that of its configuration", f.Name)
		}
	})
	return err
}
