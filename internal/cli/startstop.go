package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func newStart(a *app) *cobra.Command {
	var f repoFlags
	var at keptAt
	cmd := &cobra.Command{
		Use:   "start [flags] [NAME...|PATH...]",
		Short: "start sandboxes that are stopped, or those of repositories",
		Long: `A NAME is one that 'agent-sandbox list' shows; it starts with the policy that it
was made with, and the environment of this command. A PATH, which has a slash or
is ".", is a repository that 'agent-sandbox init' has prepared; its sandbox is
made when there is none, and its name is printed. Without either: the working
directory's.`,
		Example: `agent-sandbox start work
agent-sandbox start --branch feat/search .
agent-sandbox start --build ~/src/project`,
		ValidArgsFunction: a.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			start := func(ctx context.Context, k kept) error { return k.Start(ctx, k.name, a.env) }
			return a.eachNamed(cmd, args, f.set(), at, start, func(ctx context.Context, path string) error {
				name, err := a.startRepo(ctx, path, &f)
				if err == nil {
					fmt.Fprintln(a.out, name)
				}
				return err
			})
		},
	}
	f.register(cmd, true)
	at.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

func newStop(a *app) *cobra.Command {
	var f repoFlags
	var at keptAt
	cmd := &cobra.Command{
		Use:   "stop [flags] [NAME...|PATH...]",
		Short: "end what runs in sandboxes, and keep them",
		Long: `Their workspaces, stages and volumes stay; what was in their private /tmp is gone.
For a PATH, or the working directory, it is the repository's sandbox, or with
--branch that of a branch.`,
		Example:           "agent-sandbox stop work\nagent-sandbox stop --branch feat/search .",
		ValidArgsFunction: a.completeNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			stop := func(ctx context.Context, k kept) error { return k.Stop(ctx, k.name) }
			return a.eachNamed(cmd, args, f.set(), at, stop, func(ctx context.Context, path string) error {
				return a.stopRepo(ctx, path, &f)
			})
		},
	}
	f.register(cmd, false)
	at.register(cmd.Flags())
	return describe(cmd, exitSimple)
}

func (a *app) stopRepo(ctx context.Context, path string, f *repoFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	r, err := a.repoAt(path)
	if err != nil {
		return err
	}
	h, err := a.keptHere()
	if err != nil {
		return err
	}
	return h.kept().Stop(ctx, r.Container(f.branch))
}

// eachNamed does one thing to each sandbox that is named, and another to the sandbox of each repository; forRepo says
// that flags were given which only repositories have.
func (a *app) eachNamed(cmd *cobra.Command, args []string, forRepo bool, at keptAt,
	named func(ctx context.Context, k kept) error, repository func(ctx context.Context, path string) error,
) error {
	relay, ctx := startRelay(cmd.Context(), false, a.err.say)
	defer relay.stop()
	if len(args) == 0 {
		if at != (keptAt{}) || !forRepo && !initialisedHere() {
			return usageError(cmd.CommandPath(), "no sandbox was named, and this directory is not initialised")
		}
		return repository(ctx, "")
	}
	return eachOf(args, func(arg string) (func() error, error) {
		isRepo, err := a.sortArgument(arg)
		switch {
		case at != (keptAt{}): // only a name
		case err != nil:
			return nil, err
		case isRepo:
			return func() error { return repository(ctx, arg) }, nil
		}
		if forRepo {
			return nil, sandbox.Errorf(sandbox.Invalid, "%q is no initialised directory: --branch, --base-tag and --build are for those", arg).
				WithHint("agent-sandbox init PATH")
		}
		k, err := a.findKept(arg, at)
		return func() error { return a.doKept(ctx, k, named) }, err
	})
}

// doKept does something to a sandbox that is there.
func (a *app) doKept(ctx context.Context, k kept, do func(context.Context, kept) error) error {
	if _, err := k.record(ctx); err != nil {
		return err
	}
	return do(ctx, k)
}
