package changes

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/inventory"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
)

// NewDiscard returns the command discard, which drops the changes of a persistent sandbox or a stage.
func NewDiscard(a *console.App) *cobra.Command {
	cmd := newDiscard(a, false)
	cmd.Short = "drop the changes of a sandbox or a stage"
	cmd.Long = `NAME is a persistent sandbox, or a stage of this workspace; without it, the stage called default, or the
only one. The changes are lost; the workspace stays as it is. When a sandbox has a stage, no
command may run in it meanwhile; what commands have left running ends, and its /tmp is empty
afterwards.`
	cmd.Example = "agent-sandbox discard work\nagent-sandbox discard --all -C ~/src/gone"
	return cmd
}

// newStageDiscard returns the command stage discard: discard, for stages only.
func newStageDiscard(a *console.App) *cobra.Command {
	cmd := newDiscard(a, true)
	cmd.Short = "remove a stage and its changes"
	cmd.Long = `The changes are lost; the workspace stays as it is. Without a NAME it is the stage
called default, or the only one. A stage that a command runs on is not removed.`
	cmd.Example = "agent-sandbox stage discard\nagent-sandbox stage discard upgrade\nagent-sandbox stage discard --all -C ~/src/gone"
	return cmd
}

func newDiscard(a *console.App, stagesOnly bool) *cobra.Command {
	s := selection{stagesOnly: stagesOnly, exclusive: true}
	var every bool
	cmd := &cobra.Command{
		Use:               "discard [flags] [NAME]",
		ValidArgsFunction: s.complete(a),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return console.UsageError(cmd.CommandPath(), "expected one name, got %d", len(args))
			case len(args) > 0 && every:
				return console.UsageError(cmd.CommandPath(), "--all takes no name")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if stagesOnly || len(args) == 0 && s.at == (inventory.Place{}) {
				return discardStages(a, s.cwd, every, args)
			}
			return s.use(cmd, a, args, func(ctx context.Context, t target) error {
				switch {
				case t.sandbox == "":
					return discardStages(a, s.cwd, false, args)
				case t.memory != nil:
					if err := t.memory.discard(ctx); err != nil {
						return err
					}
				case t.stage != nil:
					if err := t.stage.Discard(); err != nil {
						return err
					}
				}
				fmt.Fprintf(a.Out, "the changes of %s are discarded\n", t.sandbox)
				return nil
			})
		},
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&every, "all", false, "discard all stages of this workspace")
	return console.Describe(cmd, console.ExitSimple)
}

func discardStages(a *console.App, cwd string, every bool, args []string) error {
	s, err := findStages(a, cwd)
	if err != nil {
		return err
	}
	chosen := s.here()
	switch {
	case len(args) > 0:
		st := s.named(args[0])
		if st == nil {
			return errors.Join(s.failed, s.none("no stage %s of %s", args[0], s.dir))
		}
		chosen = []*stage.Stage{st}
	case !every || len(chosen) == 0:
		st, err := s.usual()
		if err != nil {
			return err
		}
		chosen = []*stage.Stage{st}
	}
	var errs []error
	for _, st := range chosen {
		if err := st.Discard(); err != nil {
			errs = append(errs, err)
			continue
		}
		fmt.Fprintf(a.Out, "stage %s of %s is discarded\n", st.Name, console.Escape(st.Workspace))
	}
	return errors.Join(errs...)
}
