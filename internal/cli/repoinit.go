package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
)

func newInit(a *app) *cobra.Command {
	var force bool
	var baseTag string
	cmd := &cobra.Command{
		Use:   "init [flags] [PATH]",
		Short: "prepare a repository for sandboxes over Docker",
		Long: `Writes a Dockerfile and a config.json into its .agent-sandbox directory, where
nothing is replaced, and builds the image. The base image must be there:
agent-sandbox build-base. Volumes are made when a sandbox starts.`,
		Example:           "agent-sandbox init\nagent-sandbox init --force ~/src/project",
		ValidArgsFunction: completeDirectory,
		Args:              atMostOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.initRepo(cmd.Context(), first(args), baseTag, force)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&force, "force", false, "first destroy its sandboxes and its .agent-sandbox directory")
	addBaseTag(cmd, &baseTag)
	return describe(cmd, exitSimple)
}

func (a *app) initRepo(ctx context.Context, dir, baseTag string, force bool) error {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	r, err := a.repoAt(dir)
	if err != nil {
		return err
	}
	h, err := a.keptHere()
	if err != nil {
		return err
	}
	release, err := r.Lock(ctx, h.lockDir())
	if err != nil {
		return err
	}
	defer release()
	if force {
		if err := a.destroyRepo(ctx, h, r); err != nil {
			return err
		}
	}
	made, err := r.Init(force)
	for _, name := range made {
		a.err.line("made " + name)
	}
	if err == nil && slices.Contains(made, repo.DockerfileName) {
		err = trustRecipe(h, r)
	}
	if err != nil {
		return err
	}
	e, err := a.openEngine(ctx)
	if err != nil {
		return err
	}
	defer e.Close()
	if _, err := a.buildRepoImage(ctx, e, r, &buildFlags{}, baseTag); err != nil {
		return err
	}
	fmt.Fprintln(a.out, r.Image())
	return nil
}

// trustRecipe trusts what init has written itself.
func trustRecipe(h host, r repo.Repo) error {
	recipe, err := r.Recipe()
	if err != nil {
		return err
	}
	defer recipe.Close()
	return (&policy.Trust{Dir: h.trustDir()}).Add(recipe.File, recipe.Content())
}

// destroyRepo destroys the sandboxes of a repository: its own and those of its branches.
func (a *app) destroyRepo(ctx context.Context, h host, r repo.Repo) error {
	d, err := keptDriver(dockerBackend, h)
	if err != nil {
		return err
	}
	records, err := d.Records(ctx)
	for _, record := range records {
		if belongsTo(record, r) {
			err = errors.Join(err, d.Destroy(ctx, record.ID))
		}
	}
	return err
}
