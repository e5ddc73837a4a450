package changes

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// target is the owner of changes: a stage, or a persistent sandbox with a stage or in memory.
type target struct {
	sandbox string        // its name; "": a stage named directly
	scope   *scope        // of the stage
	stage   *stage.Stage  // nil: no command has written to it yet
	memory  *memoryTarget // nil: the target has a stage
	paths   []string      // in the arguments, as given
}

// selection describes the targets that a command accepts.
type selection struct {
	cwd        string          // the -C flag
	at         inventory.Place // where the sandbox is; the zero value: as recorded on this machine
	stagesOnly bool            // as for the subcommands of stage
	exclusive  bool            // no command may run in the sandbox meanwhile
}

// register adds the flags of s to cmd.
func (s *selection) register(cmd *cobra.Command) {
	addStageCwd(cmd, &s.cwd)
	if !s.stagesOnly {
		s.at.Register(cmd.Flags())
	}
}

// complete completes the names of sandboxes and stages, then files.
func (s *selection) complete(a *console.App) cobra.CompletionFunc {
	stages, sandboxes := completeStage(a), inventory.CompleteName(a)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names, directive := stages(cmd, args, typed)
		if !s.stagesOnly {
			more, _ := sandboxes(cmd, args, typed)
			names = append(names, more...)
		}
		return names, directive
	}
}

// use calls do with the target that [NAME] [PATH...] names. NAME is a persistent sandbox, or else a stage; without it the
// target is the default stage. After "--" there are only paths.
func (s *selection) use(cmd *cobra.Command, a *console.App, args []string, do func(ctx context.Context, t target) error) error {
	named := len(args) > 0 && cmd.ArgsLenAtDash() != 0
	if s.at != (inventory.Place{}) && !named {
		return console.UsageError(cmd.CommandPath(), "--backend, --context and --namespace go with the name of a sandbox")
	}
	if named && !s.stagesOnly {
		known, err := s.isSandbox(a, args[0])
		if err != nil {
			return err
		}
		if known {
			return s.useSandbox(cmd.Context(), a, args[0], func(ctx context.Context, t target) error {
				t.paths = args[1:]
				return do(ctx, t)
			})
		}
	}
	found, err := findStages(a, s.cwd)
	if err != nil {
		return err
	}
	if named && !s.stagesOnly && found.named(args[0]) == nil {
		return sandbox.Errorf(sandbox.NotFound, "no sandbox and no stage %q", args[0]).
			WithHint("see 'agent-sandbox list' and 'agent-sandbox stage list'; put paths after --")
	}
	st, paths, err := found.target(cmd, args)
	if err != nil {
		return err
	}
	return do(cmd.Context(), target{scope: found, stage: st, paths: paths})
}

// isSandbox reports whether name belongs to a sandbox: one recorded on this machine, or any name if flags give its
// place.
func (s *selection) isSandbox(a *console.App, name string) (bool, error) {
	if s.at != (inventory.Place{}) {
		return true, nil
	}
	if err := persist.CheckName(name); err != nil {
		return false, nil //nolint:nilerr // such a name is not that of a sandbox
	}
	h, err := host.LocateHome(a)
	if err != nil {
		return false, err
	}
	_, err = h.Sandboxes().Load(name)
	return sandbox.CodeOf(err) != sandbox.NotFound, nil
}

// useSandbox calls do with a sandbox whose commands do not write to the workspace directly.
func (s *selection) useSandbox(ctx context.Context, a *console.App, name string, do func(ctx context.Context, t target) error) error {
	return inventory.Use(ctx, a, name, s.at, func(ctx context.Context, r persist.Record, box *sandbox.Sandbox) error {
		t := target{sandbox: name}
		if m, ok := memoryOf(r, box); ok {
			t.memory = m
			return do(ctx, t)
		}
		if r.Cluster != nil {
			return sandbox.Errorf(sandbox.Unsupported, "commands in sandbox %s work on a copy of the workspace, in its pod", name).
				WithHint("'agent-sandbox get %s:PATH HOSTPATH' copies files of it here", name)
		}
		if r.Spec.Stage == "" {
			return sandbox.Errorf(sandbox.Unsupported, "commands in sandbox %s write to the workspace itself", name).
				WithHint("create it with --stage to review its changes before they reach the workspace")
		}
		if rester, ok := sandbox.As[persist.Rester](box.Unwrap()); ok && s.exclusive {
			release, err := rester.Rest(ctx)
			if err != nil {
				return err
			}
			defer release()
		}
		var err error
		if t.scope, err = findStages(a, s.cwd); err != nil {
			return err
		}
		t.stage, err = t.scope.store.Open(r.Spec.Workspace, r.Spec.Stage)
		if err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
			return err
		}
		return do(ctx, t)
	})
}
