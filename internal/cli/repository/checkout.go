package repository

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/images"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewCheckout returns the command checkout.
func NewCheckout(a *console.App) *cobra.Command {
	var f Flags
	var dir string
	cmd := &cobra.Command{
		Use:   "checkout [flags] BRANCH",
		Short: "create the worktree of a branch",
		Long: `In the volume that the sandboxes of this repository share, where each branch has a
worktree of its own below /repo-shelf/worktrees. It starts at origin's branch of
that name, the host's, or origin's main.`,
		Example: "agent-sandbox checkout feat/search\nagent-sandbox shell --branch feat/search",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.UsageError(cmd.CommandPath(), "checkout takes one branch")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Branch = args[0]
			if f.Branch == "" {
				return console.UsageError(cmd.CommandPath(), "checkout takes one branch")
			}
			return checkoutBranch(cmd.Context(), a, dir, &f)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&dir, "cwd", "C", "", "work in `DIR` instead of the current directory")
	cmd.Flags().StringVar(&f.baseTag, "base-tag", "", "use the base image with the tag `TAG` instead of latest")
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}

func checkoutBranch(ctx context.Context, a *console.App, dir string, f *Flags) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	s, err := openRepository(ctx, a, dir, f)
	if err != nil {
		return err
	}
	defer s.engine.Close()
	if err := images.CheckTag(f.baseTag); err != nil {
		return err
	}
	image, err := repo.BaseImage(ctx, s.engine, f.baseTag)
	if err != nil {
		return err
	}
	release, err := s.Lock(ctx, s.host.LockDir())
	if err != nil {
		return err
	}
	defer release()
	layers, filter, err := repoLayers(a, s, "")
	if err != nil {
		return err
	}
	owner, err := s.Owner()
	if err != nil {
		return err
	}
	if err := s.Own(ctx, s.engine, image, owner); err != nil {
		return err
	}
	return createWorktree(ctx, a, s, sandbox.Spec{
		Name: s.Container(f.Branch), Workspace: s.Path, Home: s.host.Home, Env: a.Env, Layers: layers,
		Container: sandbox.Container{Image: image, Target: s.Target(), Volumes: s.Volumes(), Firewall: filter},
	})
}
