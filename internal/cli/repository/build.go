package repository

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// NewBuild returns the command build.
func NewBuild(a *console.App) *cobra.Command {
	var f buildFlags
	var baseTag string
	cmd := &cobra.Command{
		Use:   "build [flags] [PATH]",
		Short: "build the image of a repository's sandbox",
		Long: `From the Dockerfile in its .agent-sandbox directory, which sees no other file of
the repository. Steps in it run in the engine with its default network, so one
that init has not written needs 'agent-sandbox trust .agent-sandbox/Dockerfile'.`,
		Example: `agent-sandbox build
agent-sandbox build --base-tag 2026-11 ~/src/project`,
		ValidArgsFunction: CompleteDirectory,
		Args:              AtMostOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			return buildRepository(cmd.Context(), a, &f, console.First(args), baseTag)
		},
	}
	cmd.Flags().SortFlags = false
	addBaseTag(cmd, &baseTag)
	f.register(cmd.Flags())
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}

func addBaseTag(cmd *cobra.Command, tag *string) {
	cmd.Flags().StringVar(tag, "base-tag", "", "build on the base image with the tag `TAG` instead of latest")
}

// builtRepo is the JSON that build prints.
type builtRepo struct {
	Image string `json:"image"`
	ID    string `json:"id"`
	Repo  string `json:"repo"`
}

func buildRepository(ctx context.Context, a *console.App, f *buildFlags, dir, baseTag string) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	r, err := At(a, dir)
	if err != nil {
		return err
	}
	e, err := openEngine(ctx, a)
	if err != nil {
		return err
	}
	defer e.Close()
	id, err := buildRepoImage(ctx, a, e, r, f, baseTag)
	if err != nil {
		return err
	}
	if f.json {
		return a.PrintJSON(builtRepo{Image: r.Image(), ID: id, Repo: r.Path})
	}
	fmt.Fprintln(a.Out, r.Image())
	return nil
}

func buildRepoImage(ctx context.Context, a *console.App, e job.Engine, r repo.Repo, f *buildFlags, baseTag string) (string, error) {
	args, err := f.arguments()
	if err != nil {
		return "", err
	}
	h, err := host.LocateHome(a)
	if err != nil {
		return "", err
	}
	return r.Build(ctx, e, &policy.Trust{Dir: h.TrustDir()}, baseTag, args, buildProgress(a, f.verbose))
}
