package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/images"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newCheckout(a *app) *cobra.Command {
	var f repoFlags
	var dir string
	cmd := &cobra.Command{
		Use:   "checkout [flags] BRANCH",
		Short: "make the worktree of a branch, without starting anything",
		Long: `In the volume that the sandboxes of this repository share, where each branch has a
worktree of its own below /repo-shelf/worktrees. It starts at origin's branch of
that name, the host's, or origin's main.`,
		Example: "agent-sandbox checkout feat/search\nagent-sandbox shell --branch feat/search",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError(cmd.CommandPath(), "checkout takes one branch")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.branch = args[0]
			if f.branch == "" {
				return usageError(cmd.CommandPath(), "checkout takes one branch")
			}
			return a.checkout(cmd.Context(), dir, &f)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVarP(&dir, "cwd", "C", "", "work in `DIR` instead of the current directory")
	cmd.Flags().StringVar(&f.baseTag, "base-tag", "", "use the base image with the tag `TAG` instead of latest")
	return describe(cmd, exitSimple)
}

func (a *app) checkout(ctx context.Context, dir string, f *repoFlags) error {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	s, err := a.openRepo(ctx, dir, f)
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
	release, err := s.Lock(ctx, s.host.lockDir())
	if err != nil {
		return err
	}
	defer release()
	layers, err := a.repoLayers(s.Repo, s.host, "")
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
	return a.provision(ctx, s, sandbox.Spec{
		Name: s.Container(f.branch), Workspace: s.Path, Home: s.host.home, Env: a.env, Layers: layers,
		Image: image, Target: s.Target(), Volumes: s.Volumes(),
	})
}
