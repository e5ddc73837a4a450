package repository

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// newVolumePrune returns the command volume prune.
func newVolumePrune(a *console.App) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "prune [flags]",
		Short: "remove the volumes of repositories that have no sandbox",
		Long: `It prints the names of the volumes that it removes: those with the worktrees and the
history of shells of repositories whose sandboxes were all destroyed, or which no
longer exist. What was not pushed from a worktree is lost. The configuration of
Claude Code and Codex stays, and so do volumes of other users.`,
		Example: "agent-sandbox volume prune --dry-run\nagent-sandbox volume prune",
		Args:    console.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return pruneVolumes(cmd.Context(), a, dryRun) },
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be removed")
	return needsEngine(console.Describe(cmd, console.ExitSimple))
}

func pruneVolumes(ctx context.Context, a *console.App, dryRun bool) error {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	h, err := host.LocateHome(a)
	if err != nil {
		return err
	}
	e, err := openEngine(ctx, a)
	if err != nil {
		return err
	}
	defer e.Close()
	unused, err := repo.UnusedVolumes(ctx, e, h.LockDir())
	if err != nil {
		return err
	}
	isUsed := func(name string) (bool, error) { return hasSandbox(h, name) }
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		used, err := isUsed(name)
		if err != nil {
			return err
		}
		gone := !used
		if gone && !dryRun {
			gone, err = unused[name].RemoveVolume(ctx, e, h.LockDir(), name, isUsed)
			errs = append(errs, err)
		}
		if gone {
			fmt.Fprintln(a.Out, name)
		}
	}
	return errors.Join(errs...)
}

// hasSandbox reports whether a persistent sandbox of this machine has the volume. Its container need not exist.
func hasSandbox(h host.Host, volume string) (bool, error) {
	records, err := h.Sandboxes().List()
	for _, r := range records {
		if slices.ContainsFunc(r.Spec.Volumes, func(v sandbox.Volume) bool { return v.Name == volume }) {
			return true, nil
		}
	}
	return false, err
}
