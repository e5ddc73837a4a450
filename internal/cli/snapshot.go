package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const snapshotsAre = `A snapshot has the files that are the sandbox's own: the changes on its stage (bwrap,
created with --stage), all files (virtual), or the container's root file system (docker).`

func newSnapshot(a *app) *cobra.Command {
	var at keptAt
	cmd := &cobra.Command{
		Use:   "snapshot [flags] NAME [SNAPSHOT]",
		Short: "keep the files of a sandbox as they are now",
		Long: snapshotsAre + `
What runs is stopped for as long as it takes, and goes on. Without a name the snapshot
gets one, which is printed. It lasts as long as the sandbox.`,
		Example:           "agent-sandbox snapshot work before-upgrade\nagent-sandbox restore work before-upgrade",
		ValidArgsFunction: a.completeName(),
		Args:              between(1, 2, "the name of a sandbox, and one for the snapshot"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := time.Now().UTC().Format("20060102-150405.000")
			if len(args) > 1 {
				name = args[1]
			}
			return a.withKept(cmd.Context(), args[0], at, func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
				err := box.Snapshot(ctx, name)
				if err == nil && len(args) == 1 {
					fmt.Fprintln(a.out, name)
				}
				return err
			})
		},
	}
	at.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

func newSnapshots(a *app) *cobra.Command {
	var at keptAt
	var asJSON bool
	var remove string
	cmd := &cobra.Command{
		Use:               "snapshots [flags] NAME",
		Short:             "list the snapshots of a sandbox, or remove one",
		Example:           "agent-sandbox snapshots work\nagent-sandbox snapshots --remove before-upgrade work",
		ValidArgsFunction: a.completeName(),
		Args:              oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withKept(cmd.Context(), args[0], at, func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
				if cmd.Flags().Changed("remove") {
					return box.RemoveSnapshot(ctx, remove)
				}
				list, err := box.Snapshots(ctx)
				if err != nil {
					return err
				}
				return a.printSnapshots(list, asJSON)
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().StringVar(&remove, "remove", "", "remove `SNAPSHOT`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return describe(cmd, exitSimple)
}

func (a *app) printSnapshots(list []sandbox.SnapshotInfo, asJSON bool) error {
	if asJSON {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"SNAPSHOT", "CREATED", "SIZE"}}
	for _, s := range list {
		rows = append(rows, []string{s.Name, s.Created.Local().Format(time.DateTime), sandbox.Bytes(s.Size).String()})
	}
	a.printColumns(rows)
	return nil
}

func newRestore(a *app) *cobra.Command {
	var at keptAt
	cmd := &cobra.Command{
		Use:   "restore [flags] NAME SNAPSHOT",
		Short: "put the files of a sandbox back to a snapshot",
		Long: `What runs in the sandbox is killed, and its private /tmp is empty afterwards unless it is part of
the snapshot. What was changed since is lost; the snapshot stays. ` + `
` + snapshotsAre,
		Example:           "agent-sandbox restore work before-upgrade",
		ValidArgsFunction: a.completeSnapshot(),
		Args:              between(2, 2, "the names of a sandbox and of a snapshot"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withKept(cmd.Context(), args[0], at, func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
				return box.Restore(ctx, args[1])
			})
		},
	}
	at.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

func newFork(a *app) *cobra.Command {
	var at keptAt
	var snapshot string
	cmd := &cobra.Command{
		Use:   "fork [flags] NAME NEW",
		Short: "make another sandbox that begins with the files of one",
		Long: `The new sandbox has the same policy, and from then on neither sees the other. Snapshots stay
with the first. ` + `
` + snapshotsAre,
		Example:           "agent-sandbox fork work try-2\nagent-sandbox fork --snapshot before-upgrade work other-way",
		ValidArgsFunction: a.completeName(),
		Args:              between(2, 2, "the names of a sandbox and of the new one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := persist.CheckName(args[1]); err != nil {
				return err
			}
			return a.withKept(cmd.Context(), args[0], at, func(ctx context.Context, r persist.Record, box *sandbox.Sandbox) error {
				return a.fork(ctx, r, box, args[1], snapshot)
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().StringVar(&snapshot, "snapshot", "", "begin with the files of `SNAPSHOT` and not with those of now")
	return describe(cmd, exitSimple)
}

// fork makes a sandbox of another. Where that is a pod, it is known here, too.
func (a *app) fork(ctx context.Context, of persist.Record, box *sandbox.Sandbox, name, snapshot string) error {
	h, err := a.keptHere()
	if err == nil {
		err = a.vacant(ctx, h, name)
	}
	if err != nil {
		return err
	}
	forked, err := box.Fork(ctx, name, snapshot)
	if err != nil {
		return err
	}
	d, err := whoKeeps(of, h)
	if err == nil {
		err = a.remember(ctx, h, d, name)
	}
	if err != nil {
		return errors.Join(err, forked.Close(context.WithoutCancel(ctx)))
	}
	return forked.Detach()
}

// completeSnapshot offers the names of sandboxes, and then those of the snapshots.
func (a *app) completeSnapshot() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return a.namesOf(cmd), cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		_ = a.withKept(cmd.Context(), args[0], keptAtOf(cmd), func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
			list, err := box.Snapshots(ctx)
			for _, s := range list {
				names = append(names, s.Name)
			}
			return err
		}) // completion offers what it can read
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
