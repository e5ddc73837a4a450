// Package snapshots has the commands snapshot, snapshots, restore and fork.
package snapshots

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const snapshotsAre = `A snapshot has the files that are the sandbox's own: the changes on its stage (bwrap,
created with --stage), all files (virtual), the container's root file system (docker), or the
workspace and home on the volume (kube).`

// NewSnapshot returns the command snapshot.
func NewSnapshot(a *console.App) *cobra.Command {
	var at inventory.Place
	cmd := &cobra.Command{
		Use:   "snapshot [flags] NAME [SNAPSHOT]",
		Short: "save the files of a sandbox",
		Long: snapshotsAre + `
Running commands are paused meanwhile, except in memory (virtual). Without a name the
snapshot gets one, which is printed. It lasts as long as the sandbox.`,
		Example:           "agent-sandbox snapshot work before-upgrade\nagent-sandbox restore work before-upgrade",
		ValidArgsFunction: inventory.CompleteName(a),
		Args:              console.ArgsBetween(1, 2, "the name of a sandbox, and one for the snapshot"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := time.Now().UTC().Format("20060102-150405.000")
			if len(args) > 1 {
				name = args[1]
			}
			return inventory.Use(cmd.Context(), a, args[0], at, func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
				err := box.Snapshot(ctx, name)
				if err == nil && len(args) == 1 {
					fmt.Fprintln(a.Out, name)
				}
				return err
			})
		},
	}
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}

// NewSnapshots returns the command snapshots.
func NewSnapshots(a *console.App) *cobra.Command {
	var at inventory.Place
	var asJSON bool
	var remove string
	cmd := &cobra.Command{
		Use:               "snapshots [flags] NAME",
		Short:             "list the snapshots of a sandbox, or remove one",
		Example:           "agent-sandbox snapshots work\nagent-sandbox snapshots --remove before-upgrade work",
		ValidArgsFunction: inventory.CompleteName(a),
		Args:              console.OneSandbox,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inventory.Use(cmd.Context(), a, args[0], at, func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
				if cmd.Flags().Changed("remove") {
					return box.RemoveSnapshot(ctx, remove)
				}
				list, err := box.Snapshots(ctx)
				if err != nil {
					return err
				}
				return printSnapshots(a, list, asJSON)
			})
		},
	}
	at.Register(cmd.Flags())
	cmd.Flags().StringVar(&remove, "remove", "", "remove `SNAPSHOT`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}

func printSnapshots(a *console.App, list []sandbox.SnapshotInfo, asJSON bool) error {
	if asJSON {
		return a.PrintJSON(list)
	}
	if len(list) == 0 {
		return nil
	}
	rows := [][]string{{"SNAPSHOT", "CREATED", "SIZE"}}
	for _, s := range list {
		size := sandbox.Bytes(s.Size).String()
		if s.Problem != "" {
			size = "damaged: " + s.Problem
		}
		rows = append(rows, []string{s.Name, s.Created.Local().Format(time.DateTime), size})
	}
	a.PrintColumns(rows)
	return nil
}

// NewRestore returns the command restore.
func NewRestore(a *console.App) *cobra.Command {
	var at inventory.Place
	cmd := &cobra.Command{
		Use:   "restore [flags] NAME SNAPSHOT",
		Short: "restore the files of a sandbox from a snapshot",
		Long: `What runs in the sandbox is killed, and its private /tmp is empty afterwards unless it is part of
the snapshot. What was changed since is lost; the snapshot stays. ` + `
` + snapshotsAre,
		Example:           "agent-sandbox restore work before-upgrade",
		ValidArgsFunction: completeSnapshot(a),
		Args:              console.ArgsBetween(2, 2, "the names of a sandbox and of a snapshot"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return inventory.Use(cmd.Context(), a, args[0], at, func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
				return box.Restore(ctx, args[1])
			})
		},
	}
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}

// NewFork returns the command fork.
func NewFork(a *console.App) *cobra.Command {
	var at inventory.Place
	var snapshot string
	cmd := &cobra.Command{
		Use:   "fork [flags] NAME NEW",
		Short: "create a sandbox from the files of another",
		Long: `The new sandbox has the same policy, and from then on neither sees the other. Snapshots stay
with the first. Its published ports get other ports of the host, which are printed. ` + `
` + snapshotsAre,
		Example:           "agent-sandbox fork work try-2\nagent-sandbox fork --snapshot before-upgrade work other-way",
		ValidArgsFunction: inventory.CompleteName(a),
		Args:              console.ArgsBetween(2, 2, "the names of a sandbox and of the new one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := persist.CheckName(args[1]); err != nil {
				return err
			}
			return inventory.Use(cmd.Context(), a, args[0], at, func(ctx context.Context, r persist.Record, box *sandbox.Sandbox) error {
				return forkSandbox(ctx, a, r, box, args[1], snapshot)
			})
		},
	}
	at.Register(cmd.Flags())
	cmd.Flags().StringVar(&snapshot, "snapshot", "", "begin with the files of `SNAPSHOT` and not with those of now")
	return console.Describe(cmd, console.ExitSimple)
}

// forkSandbox creates a sandbox from a snapshot of another, and a local record for a pod.
func forkSandbox(ctx context.Context, a *console.App, of persist.Record, box *sandbox.Sandbox, name, snapshot string) error {
	h, err := host.LocateHome(a)
	if err == nil {
		err = inventory.CheckVacant(ctx, a, h, name)
	}
	if err != nil {
		return err
	}
	forked, err := box.Fork(ctx, name, snapshot)
	if err != nil {
		return err
	}
	d, err := inventory.LifecycleOf(of, h)
	if err == nil {
		err = inventory.Remember(ctx, a, h, d, name)
	}
	if err != nil {
		return errors.Join(err, forked.Close(context.WithoutCancel(ctx)))
	}
	if of.Cluster == nil {
		announcePorts(a, h, name)
	}
	return forked.Detach()
}

// announcePorts prints on which ports of the host a fork publishes its ports: on others than its origin.
func announcePorts(a *console.App, h host.Host, name string) {
	record, err := h.Sandboxes().Load(name)
	if err != nil {
		return // another process has destroyed it
	}
	plan, err := policy.Resolve(record.Spec)
	if err != nil {
		return // what the plan depends on has changed since the fork began; its next start reports that
	}
	for _, p := range plan.Publish {
		a.Err.Say(fmt.Sprintf("127.0.0.1:%d is port %d of %s", p.Host, p.Port, name))
	}
}

// completeSnapshot completes the names of sandboxes, then of their snapshots.
func completeSnapshot(a *console.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return inventory.Names(a, cmd), cobra.ShellCompDirectiveNoFileComp
		}
		var names []string
		_ = inventory.Use(cmd.Context(), a, args[0], inventory.PlaceOf(cmd), func(ctx context.Context, _ persist.Record, box *sandbox.Sandbox) error {
			list, err := box.Snapshots(ctx)
			for _, s := range list {
				names = append(names, s.Name)
			}
			return err
		}) // completion ignores unreadable sandboxes
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
