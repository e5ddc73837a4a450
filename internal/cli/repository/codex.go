package repository

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/images"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
)

// NewCodexInit returns the command codex-init-config.
func NewCodexInit(a *console.App) *cobra.Command {
	var auth, force bool
	var baseTag string
	cmd := &cobra.Command{
		Use:   "codex-init-config [flags]",
		Short: "set up Codex in the volume that sandboxes share",
		Long: `It gets a config.toml, a profile "high" (codex -p high) in a file of its own, as
Codex wants it, and an AGENTS.md that says where it runs. What is there stays;
credentials are copied anew each time.`,
		Example: "agent-sandbox codex-init-config\ncodex login && agent-sandbox codex-init-config --auth",
		Args:    console.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return initCodex(cmd.Context(), a, baseTag, auth, force)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&auth, "auth", false, "copy this host's credentials (auth.json, profile.json) into it, too")
	cmd.Flags().BoolVar(&force, "force", false, "replace existing files")
	cmd.Flags().StringVar(&baseTag, "base-tag", "", "use the base image with the tag `TAG` instead of latest")
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}

func initCodex(ctx context.Context, a *console.App, baseTag string, auth, force bool) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	from := console.Lookup(a.Env, "CODEX_HOME")
	if from == "" {
		home, err := host.HomeDir(a.Env)
		if err != nil {
			return err
		}
		from = filepath.Join(home, ".codex")
	}
	files, err := repo.CodexFiles(from, auth)
	if err != nil {
		return err
	}
	e, err := openEngine(ctx, a)
	if err != nil {
		return err
	}
	defer e.Close()
	if err := images.CheckTag(baseTag); err != nil {
		return err
	}
	image, err := repo.BaseImage(ctx, e, baseTag)
	if err != nil {
		return err
	}
	user := fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	done, err := repo.InitCodex(ctx, e, image, user, files, force)
	for _, line := range done {
		fmt.Fprintln(a.Out, console.Escape(line))
	}
	return err
}

// NewCodexLogout returns the command codex-logout.
func NewCodexLogout(a *console.App) *cobra.Command {
	var baseTag string
	cmd := &cobra.Command{
		Use:     "codex-logout [flags]",
		Short:   "delete Codex's credentials from the shared volume",
		Long:    "The tokens themselves stay valid: only their owner can revoke them.",
		Example: "agent-sandbox codex-logout",
		Args:    console.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return logOutCodex(cmd.Context(), a, baseTag) },
	}
	cmd.Flags().StringVar(&baseTag, "base-tag", "", "use the base image with the tag `TAG` instead of latest")
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}

func logOutCodex(ctx context.Context, a *console.App, baseTag string) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	e, err := openEngine(ctx, a)
	if err != nil {
		return err
	}
	defer e.Close()
	exists, err := e.HasVolume(ctx, repo.CodexVolume)
	switch {
	case err != nil:
		return err
	case !exists:
		a.Err.Say("there is no volume " + repo.CodexVolume + ": nothing to delete")
		return nil
	}
	image, err := repo.BaseImage(ctx, e, baseTag)
	if err != nil {
		return err
	}
	gone, err := repo.LogoutCodex(ctx, e, image)
	for _, name := range gone {
		fmt.Fprintln(a.Out, "deleted "+console.Escape(name))
	}
	if err == nil && len(gone) == 0 {
		a.Err.Say("there are no credentials in " + repo.CodexVolume)
	}
	return err
}
