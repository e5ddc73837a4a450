package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
)

func newBuild(a *app) *cobra.Command {
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
		ValidArgsFunction: completeDirectory,
		Args:              atMostOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.buildRepo(cmd.Context(), &f, first(args), baseTag)
		},
	}
	cmd.Flags().SortFlags = false
	addBaseTag(cmd, &baseTag)
	f.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

func addBaseTag(cmd *cobra.Command, tag *string) {
	cmd.Flags().StringVar(tag, "base-tag", "", "build on the base image with the tag `TAG` instead of latest")
}

// builtRepo is what build prints as JSON.
type builtRepo struct {
	Image string `json:"image"`
	ID    string `json:"id"`
	Repo  string `json:"repo"`
}

func (a *app) buildRepo(ctx context.Context, f *buildFlags, dir, baseTag string) error {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	r, err := a.repoAt(dir)
	if err != nil {
		return err
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	id, err := a.buildRepoImage(ctx, e, r, f, baseTag)
	if err != nil {
		return err
	}
	if f.json {
		return a.printJSON(builtRepo{Image: r.Image(), ID: id, Repo: r.Path})
	}
	fmt.Fprintln(a.out, r.Image())
	return nil
}

func (a *app) buildRepoImage(ctx context.Context, e *engine.Client, r repo.Repo, f *buildFlags, baseTag string) (string, error) {
	args, err := f.arguments()
	if err != nil {
		return "", err
	}
	h, err := a.keptHere()
	if err != nil {
		return "", err
	}
	return r.Build(ctx, e, &policy.Trust{Dir: h.trustDir()}, baseTag, args, a.buildProgress(f.verbose))
}
