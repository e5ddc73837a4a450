package changes

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// keptChanges is a sandbox with what its commands changed: on a stage, or in memory.
type keptChanges struct {
	box    *sandbox.Sandbox
	scope  *scope       // of the stage
	stage  *stage.Stage // nil: there is none yet
	memory *keptMemory  // nil: it has a stage
}

// withChanges calls do with a sandbox whose commands do not write to the workspace itself. With rest, nothing runs in it meanwhile.
func withChanges(ctx context.Context, a *console.App, name string, at inventory.Place, rest bool, do func(ctx context.Context, c keptChanges) error) error {
	return inventory.Use(ctx, a, name, at, func(ctx context.Context, r persist.Record, box *sandbox.Sandbox) error {
		c := keptChanges{box: box}
		if m, ok := memoryOfKept(r, box); ok {
			c.memory = m
			return do(ctx, c)
		}
		if r.Cluster != nil {
			return sandbox.Errorf(sandbox.Unsupported, "commands in sandbox %s work on a copy of the workspace, in its pod", name).
				WithHint("'agent-sandbox get %s:PATH HOSTPATH' brings files of it here", name)
		}
		if r.Spec.Stage == "" {
			return sandbox.Errorf(sandbox.Unsupported, "commands in sandbox %s write to the workspace itself", name).
				WithHint("create it with --stage to have a say in what becomes of its changes")
		}
		if rester, ok := sandbox.As[persist.Rester](box.Unwrap()); ok && rest {
			release, err := rester.Rest(ctx)
			if err != nil {
				return err
			}
			defer release()
		}
		var err error
		if c.scope, err = findStages(a, ""); err != nil {
			return err
		}
		c.stage, err = c.scope.store.Open(r.Spec.Workspace, r.Spec.Stage)
		if err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			return err
		}
		return do(ctx, c)
	})
}

// NewDiff returns the command diff.
func NewDiff(a *console.App) *cobra.Command {
	var at inventory.Place
	var f stageDiffFlags
	cmd := &cobra.Command{
		Use:   "diff [flags] NAME [PATH...]",
		Short: "show what a sandbox that lives on would change in the workspace",
		Long: `Prints the patch of the workspace that 'stage diff' prints, of a sandbox with a stage and of one in memory.
--name-status tells what a patch cannot hold, and in memory what changed in other directories, too.`,
		Example:           "agent-sandbox diff work\nagent-sandbox diff --stat work src",
		ValidArgsFunction: inventory.CompleteNames(a),
		Args:              console.SandboxAndArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := countTrue(f.stat, f.nameStatus, f.json); n > 1 {
				return console.UsageError(cmd.CommandPath(), "--stat, --name-status and --json exclude each other")
			}
			return withChanges(cmd.Context(), a, args[0], at, false, func(ctx context.Context, c keptChanges) error {
				switch {
				case c.memory != nil:
					return diffMemory(ctx, a, &f, c.memory, args[1:])
				case c.stage == nil:
					return nil
				}
				return diffStage(a, &f, c.stage, c.scope.inside(c.stage, args[1:]))
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.stat, "stat", false, "how much changes in each file")
	cmd.Flags().BoolVar(&f.nameStatus, "name-status", false, "one line a path: A created, M modified, D deleted, T another type")
	at.Register(cmd.Flags())
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}

// NewApply returns the command apply.
func NewApply(a *console.App) *cobra.Command {
	var at inventory.Place
	var f stageApplyFlags
	cmd := &cobra.Command{
		Use:   "apply [flags] NAME [PATH...]",
		Short: "make the changes of a sandbox that lives on in the workspace",
		Long: `All changes, or those at and below each PATH, as 'stage apply' makes them. With a stage no command may run
meanwhile; what commands have left running ends, and /tmp is empty afterwards.`,
		Example:           "agent-sandbox apply --dry-run work\nagent-sandbox apply work package.json",
		ValidArgsFunction: inventory.CompleteNames(a),
		Args:              console.SandboxAndArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withChanges(cmd.Context(), a, args[0], at, !f.dryRun, func(ctx context.Context, c keptChanges) error {
				switch {
				case c.memory != nil:
					return applyMemory(ctx, a, &f, c.memory, args[1:])
				case c.stage == nil:
					a.Err.Say("0 changes applied")
					return nil
				}
				return applyStage(a, &f, c.scope, c.stage, c.scope.inside(c.stage, args[1:]))
			})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only tell what would be applied and what not")
	cmd.Flags().BoolVar(&f.force, "force", false, "also where the workspace changed meanwhile")
	console.AddListFlag(cmd.Flags(), "protected", "also `PATH`, and what is below, although the policy protects it", &f.protected)
	at.Register(cmd.Flags())
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return console.Describe(cmd, `  0    all that was asked for is applied
  1    something stays in the sandbox, for the reason that is told
  125  something went wrong`)
}

// NewDiscard returns the command discard.
func NewDiscard(a *console.App) *cobra.Command {
	var at inventory.Place
	cmd := &cobra.Command{
		Use:   "discard [flags] NAME",
		Short: "drop the changes of a sandbox that lives on",
		Long: `The workspace stays as it is. With a stage no command may run meanwhile; what commands have left running
ends, and /tmp is empty afterwards.`,
		Example:           "agent-sandbox discard work",
		ValidArgsFunction: inventory.CompleteName(a),
		Args:              console.OneSandbox,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withChanges(cmd.Context(), a, args[0], at, true, func(ctx context.Context, c keptChanges) error {
				var err error
				switch {
				case c.memory != nil:
					err = c.memory.discard(ctx)
				case c.stage != nil:
					err = c.stage.Discard()
				}
				if err == nil {
					fmt.Fprintf(a.Out, "the changes of %s are discarded\n", args[0])
				}
				return err
			})
		},
	}
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}
