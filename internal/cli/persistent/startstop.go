package persistent

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/cli/repository"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewStart returns the command start.
func NewStart(a *console.App) *cobra.Command {
	var f repository.Flags
	var at inventory.Place
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
		ValidArgsFunction: inventory.CompleteNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			x := action{at: at, onlyRepos: f.IsSet(), needed: host.RequireEngines}
			x.toSandbox = func(ctx context.Context, k inventory.Sandbox) error { return k.Start(ctx, k.ID, a.Env) }
			x.toRepository = func(ctx context.Context, path string) error {
				name, err := repository.Start(ctx, a, path, &f)
				if err == nil {
					fmt.Fprintln(a.Out, name)
				}
				return err
			}
			return x.run(a, cmd, args)
		},
	}
	f.Register(cmd, true)
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}

// NewStop returns the command stop.
func NewStop(a *console.App) *cobra.Command {
	var f repository.Flags
	var at inventory.Place
	cmd := &cobra.Command{
		Use:   "stop [flags] [NAME...|PATH...]",
		Short: "stop sandboxes without destroying them",
		Long: `Their workspaces, stages and volumes stay; what was in their private /tmp is gone.
For a PATH, or the working directory, it is the repository's sandbox, or with
--branch that of a branch.`,
		Example:           "agent-sandbox stop work\nagent-sandbox stop --branch feat/search .",
		ValidArgsFunction: inventory.CompleteNames(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			x := action{at: at, onlyRepos: f.IsSet(), needed: func() error { return nil }}
			x.toSandbox = func(ctx context.Context, k inventory.Sandbox) error { return k.Stop(ctx, k.ID) }
			x.toRepository = func(ctx context.Context, path string) error { return stopRepository(ctx, a, path, &f) }
			return x.run(a, cmd, args)
		},
	}
	f.Register(cmd, false)
	at.Register(cmd.Flags())
	return console.Describe(cmd, console.ExitSimple)
}

func stopRepository(ctx context.Context, a *console.App, path string, f *repository.Flags) error {
	if err := f.Check(); err != nil {
		return err
	}
	r, err := repository.At(a, path)
	if err != nil {
		return err
	}
	h, err := host.LocateHome(a)
	if err != nil {
		return err
	}
	return h.Sandboxes().Stop(ctx, r.Container(f.Branch))
}

// action starts or stops each sandbox that the arguments name.
type action struct {
	at           inventory.Place // where the sandboxes are
	onlyRepos    bool            // flags were given that apply only to the sandboxes of repositories
	needed       func() error    // returns an error that asks for another program if repositories need one
	toSandbox    func(ctx context.Context, k inventory.Sandbox) error
	toRepository func(ctx context.Context, path string) error
}

// run performs the action on each argument: the name of a sandbox, or the directory of a repository. Without arguments it
// acts on the repository of the working directory.
func (x action) run(a *console.App, cmd *cobra.Command, args []string) error {
	relay, ctx := console.StartRelay(cmd.Context(), false, a.Err.Say)
	defer relay.Stop()
	if len(args) == 0 {
		if x.at != (inventory.Place{}) || !x.onlyRepos && !repository.IsInitialisedHere() {
			return console.UsageError(cmd.CommandPath(), "no sandbox was named, and this directory is not initialised")
		}
		return x.toRepository(ctx, "")
	}
	return inventory.ForEach(args, func(arg string) (func() error, error) {
		isRepo, err := repository.IsRepository(a, arg)
		switch {
		case x.at != (inventory.Place{}): // only a name
		case err != nil:
			return nil, err
		case isRepo:
			return func() error { return x.toRepository(ctx, arg) }, x.needed()
		}
		if x.onlyRepos {
			return nil, sandbox.Errorf(sandbox.Invalid, "%q is not an initialised directory: --branch, --base-tag, --build and --firewall are for those", arg).
				WithHint("agent-sandbox init PATH")
		}
		k, err := inventory.Find(a, arg, x.at)
		return func() error {
			if _, err := k.Record(ctx); err != nil {
				return err
			}
			return x.toSandbox(ctx, k)
		}, err
	})
}
