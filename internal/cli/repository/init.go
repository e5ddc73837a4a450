package repository

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewInit returns the command init.
func NewInit(a *console.App) *cobra.Command {
	var force bool
	var baseTag string
	var filter []string
	cmd := &cobra.Command{
		Use:   "init [flags] [PATH]",
		Short: "prepare a repository for sandboxes over Docker",
		Long: `Writes a Dockerfile and a config.json into its .agent-sandbox directory, where
nothing is replaced, and builds the image. The base image must be there:
agent-sandbox build-base. Volumes are made when a sandbox starts. --firewall is
written into config.json.`,
		Example:           "agent-sandbox init\nagent-sandbox init --force ~/src/project",
		ValidArgsFunction: CompleteDirectory,
		Args:              AtMostOnePath,
		RunE: func(cmd *cobra.Command, args []string) error {
			return initRepository(cmd.Context(), a, console.First(args), baseTag, filter, force)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&force, "force", false, "first destroy its sandboxes and its .agent-sandbox directory")
	addBaseTag(cmd, &baseTag)
	host.AddFirewallFlag(cmd.Flags(), "its sandboxes reach hosts and presets such as @default over a packet\nfilter on addresses: `RULE`[,...] (as root)", &filter)
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}

func initRepository(ctx context.Context, a *console.App, dir, baseTag string, filter []string, force bool) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	r, err := At(a, dir)
	if err != nil {
		return err
	}
	h, err := host.LocateHome(a)
	if err != nil {
		return err
	}
	release, err := r.Lock(ctx, h.LockDir())
	if err != nil {
		return err
	}
	defer release()
	if force {
		if err := destroyRepo(ctx, h, r); err != nil {
			return err
		}
	}
	config := repo.DefaultConfig()
	config.Firewall = filter
	made, err := r.Init(config, force)
	for _, name := range made {
		a.Err.Line("made " + name)
	}
	if err == nil && slices.Contains(made, repo.DockerfileName) {
		err = trustRecipe(h, r)
	}
	if err == nil && len(filter) > 0 {
		err = trustConfig(h, r, config, slices.Contains(made, repo.ConfigName))
	}
	if err != nil {
		return err
	}
	e, err := openEngine(ctx, a)
	if err != nil {
		return err
	}
	defer e.Close()
	if _, err := buildRepoImage(ctx, a, e, r, &buildFlags{}, baseTag); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, r.Image())
	return nil
}

// trustRecipe trusts the file that init itself has written.
func trustRecipe(h host.Host, r repo.Repo) error {
	recipe, err := r.Recipe()
	if err != nil {
		return err
	}
	defer recipe.Close()
	return (&policy.Trust{Dir: h.TrustDir()}).Add(recipe.File, recipe.Content())
}

// trustConfig trusts the configuration that init itself has written.
func trustConfig(h host.Host, r repo.Repo, c repo.Config, written bool) error {
	if !written {
		return sandbox.Errorf(sandbox.Exists, "%s exists, and init replaces none", r.ConfigFile()).
			WithHint("write the rules of --firewall into its key firewall, or replace it with --force")
	}
	text, err := c.Text()
	if err != nil {
		return err
	}
	return (&policy.Trust{Dir: h.TrustDir()}).Add(r.ConfigFile(), text)
}

// destroyRepo destroys the sandboxes of a repository and of its branches.
func destroyRepo(ctx context.Context, h host.Host, r repo.Repo) error {
	d, err := inventory.NewDriver(host.Docker, h)
	if err != nil {
		return err
	}
	records, err := d.Records(ctx)
	for _, record := range records {
		if IsSandboxOf(record, r) {
			err = errors.Join(err, d.Destroy(ctx, record.ID))
		}
	}
	return err
}
