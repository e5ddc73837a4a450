package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newPut(a *app) *cobra.Command {
	var at keptAt
	cmd := &cobra.Command{
		Use:   "put [flags] HOSTPATH|- NAME:PATH",
		Short: "copy a file or directory into a sandbox",
		Long: `Into PATH when that is a directory, to that name otherwise; HOSTPATH/. means what
is in HOSTPATH. Symbolic links are copied as links. With - a tar archive comes
from standard input and is extracted into PATH.`,
		Example:           "agent-sandbox put data.csv work:/tmp\nagent-sandbox put src/. work:/tmp/src",
		ValidArgsFunction: a.completePlace(1),
		Args:              twoPlaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, inside, err := place(cmd, args[1])
			if err != nil {
				return err
			}
			return a.within(cmd.Context(), name, at, func(ctx context.Context, box *sandbox.Sandbox) error {
				if args[0] == "-" {
					return transfer.PutTar(ctx, box, a.stdio.Stdin, inside)
				}
				return transfer.In(ctx, box, args[0], inside)
			})
		},
	}
	at.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

func newGet(a *app) *cobra.Command {
	var at keptAt
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
		ValidArgsFunction: a.completePlace(0),
		Args:              twoPlaces,
		RunE: func(cmd *cobra.Command, args []string) error {
			name, inside, err := place(cmd, args[0])
			if err != nil {
				return err
			}
			bytes, err := sandbox.ParseBytes(size)
			if err != nil || l.Entries < 1 {
				return usageError(cmd.CommandPath(), "--max-size is a size such as 10GiB, and --max-entries at least 1")
			}
			l.Bytes = int64(bytes)
			return a.within(cmd.Context(), name, at, func(ctx context.Context, box *sandbox.Sandbox) error {
				return a.fetch(ctx, box, inside, args[1], l)
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().StringVar(&size, "max-size", "64GiB", "fail when it is more than `SIZE`")
	cmd.Flags().Int64Var(&l.Entries, "max-entries", l.Entries, "fail when it is more than `N` files and directories")
	return describe(cmd, exitSimple)
}

func (a *app) fetch(ctx context.Context, box *sandbox.Sandbox, inside, dest string, l transfer.Limits) error {
	var left []string
	var err error
	if dest == "-" {
		left, err = transfer.GetTar(ctx, box, inside, a.stdio.Stdout, l)
	} else {
		left, err = transfer.Out(ctx, box, inside, dest, l)
	}
	if sandbox.CodeOf(err) == sandbox.Exhausted && errors.Is(err, transfer.ErrTooBig) {
		return sandbox.Errorf(sandbox.Exhausted, "%w", err).WithHint("--max-size and --max-entries allow more")
	}
	if err == nil && len(left) > 0 {
		return sandbox.Errorf(sandbox.Denied, "left out, because they lead out or are no files: %q", left)
	}
	return err
}

func twoPlaces(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return usageError(cmd.CommandPath(), "%s takes two names", cmd.Name())
	}
	return nil
}

// place splits NAME:PATH.
func place(cmd *cobra.Command, arg string) (name, inside string, err error) {
	name, inside, ok := strings.Cut(arg, ":")
	if !ok || name == "" || inside == "" {
		return "", "", usageError(cmd.CommandPath(), "%q is not NAME:PATH", arg)
	}
	return name, inside, nil
}

// within does something with a sandbox that lives on.
func (a *app) within(ctx context.Context, name string, at keptAt, do func(context.Context, *sandbox.Sandbox) error) (err error) {
	relay, ctx := startRelay(ctx, false, a.err.say)
	defer relay.stop()
	box, err := a.openKept(ctx, name, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Detach()) }()
	return do(ctx, box)
}

// completePlace completes NAME: as the nth argument, and files of the host as the other.
func (a *app) completePlace(nth int) func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != nth {
			return nil, cobra.ShellCompDirectiveDefault
		}
		names := a.namesOf(cmd)
		for i := range names {
			names[i] += ":"
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
