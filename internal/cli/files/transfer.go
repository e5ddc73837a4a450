// Package files has the commands put and get, which copy files into and out of persistent sandboxes.
package files

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewPut returns the command put.
func NewPut(a *console.App) *cobra.Command {
	var at inventory.Place
	cmd := &cobra.Command{
		Use:   "put [flags] HOSTPATH|- NAME:PATH",
		Short: "copy a file or directory into a sandbox",
		Long: `Into PATH when that is a directory, to that name otherwise; HOSTPATH/. means what
is in HOSTPATH. Symbolic links are copied as links. With - a tar archive comes
from standard input and is extracted into PATH.`,
		Example:           "agent-sandbox put data.csv work:/tmp\nagent-sandbox put src/. work:/tmp/src",
		ValidArgsFunction: completePlace(a, 1),
		Args:              twoPlaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, inside, err := splitPlace(cmd, args[1])
			if err != nil {
				return err
			}
			return withSandbox(cmd.Context(), a, name, at, func(ctx context.Context, box *sandbox.Sandbox) error {
				if args[0] == "-" {
					return transfer.PutTar(ctx, box, a.Stdio.Stdin, inside)
				}
				return transfer.In(ctx, box, args[0], inside, writableBy(a, name, at))
			})
		},
	}
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}

// NewGet returns the command get.
func NewGet(a *console.App) *cobra.Command {
	var at inventory.Place
	var size string
	l := transfer.Limits{Entries: transfer.DefaultEntries}
	cmd := &cobra.Command{
		Use:   "get [flags] NAME:PATH HOSTPATH|-",
		Short: "copy a file or directory out of a sandbox",
		Long: `Into HOSTPATH when that is a directory, to that name otherwise; PATH/. means what
is in PATH. Nothing is written anywhere else: links that lead out of what is
copied, devices and pipes are left out, and named. With - a tar archive goes to
standard output.`,
		Example:           "agent-sandbox get work:/tmp/result.json .\nagent-sandbox get work:src/. src",
		ValidArgsFunction: completePlace(a, 0),
		Args:              twoPlaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, inside, err := splitPlace(cmd, args[0])
			if err != nil {
				return err
			}
			bytes, err := sandbox.ParseBytes(size)
			if err != nil || l.Entries < 1 {
				return console.UsageError(cmd.CommandPath(), "--max-size is a size such as 10GiB, and --max-entries at least 1")
			}
			l.Bytes = int64(bytes)
			return withSandbox(cmd.Context(), a, name, at, func(ctx context.Context, box *sandbox.Sandbox) error {
				return fetchFiles(ctx, a, box, inside, args[1], l, writableBy(a, name, at))
			})
		},
	}
	at.Register(cmd.Flags())
	cmd.Flags().StringVar(&size, "max-size", "64GiB", "fail when it is more than `SIZE`")
	cmd.Flags().Int64Var(&l.Entries, "max-entries", l.Entries, "fail when it is more than `N` files and directories")
	return console.Describe(cmd, console.ExitSimple)
}

func fetchFiles(ctx context.Context, a *console.App, box *sandbox.Sandbox, inside, dest string, l transfer.Limits, w hostfile.Writable) error {
	var left []string
	var err error
	if dest == "-" {
		left, err = transfer.GetTar(ctx, box, inside, a.Stdio.Stdout, l)
	} else {
		left, err = transfer.Out(ctx, box, inside, dest, l, w)
	}
	if sandbox.CodeOf(err) == sandbox.Exhausted && errors.Is(err, transfer.ErrTooBig) {
		return sandbox.Errorf(sandbox.Exhausted, "%w", err).WithHint("--max-size and --max-entries allow more")
	}
	if err == nil && len(left) > 0 {
		return sandbox.Errorf(sandbox.Denied, "left out, because they lead out or are no files: %q", left)
	}
	return err
}

// writableBy returns where commands of a persistent sandbox, and of one in the current directory, can create files.
func writableBy(a *console.App, name string, at inventory.Place) hostfile.Writable {
	here := host.WritableHere(a)
	found, err := inventory.Find(a, name, at)
	if err != nil || found.Known.Spec.Workspace == "" {
		return here // a pod without a local record has no directory of this host
	}
	configured, _ := host.WritableIn(found.Known.Spec) // the workspace counts in any case
	return here.Or(hostfile.Below(found.Known.Spec.Workspace)).Or(configured)
}

func twoPlaces(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return console.UsageError(cmd.CommandPath(), "%s takes two names", cmd.Name())
	}
	return nil
}

// splitPlace splits NAME:PATH.
func splitPlace(cmd *cobra.Command, arg string) (name, inside string, err error) {
	name, inside, ok := strings.Cut(arg, ":")
	if !ok || name == "" || inside == "" {
		return "", "", console.UsageError(cmd.CommandPath(), "%q is not NAME:PATH", arg)
	}
	return name, inside, nil
}

// withSandbox calls do with a persistent sandbox.
func withSandbox(ctx context.Context, a *console.App, name string, at inventory.Place, do func(context.Context, *sandbox.Sandbox) error) (err error) {
	relay, ctx := console.StartRelay(ctx, false, a.Err.Say)
	defer relay.Stop()
	box, err := inventory.Open(ctx, a, name, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	return do(ctx, box)
}

// completePlace completes NAME: as the nth argument, and files of the host as the other.
func completePlace(a *console.App, nth int) func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != nth {
			return nil, cobra.ShellCompDirectiveDefault
		}
		names := inventory.Names(a, cmd)
		for i := range names {
			names[i] += ":"
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
