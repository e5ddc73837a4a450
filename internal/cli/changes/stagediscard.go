package changes

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
)

func newStageDiscard(a *console.App) *cobra.Command {
	var cwd string
	var every bool
	cmd := &cobra.Command{
		Use:   "discard [flags] [NAME]",
		Short: "remove a stage and its changes",
		Long: `The changes are lost; the workspace stays as it is. Without a NAME it is the stage
called default, or the only one. A stage that a command runs on is not removed.`,
		Example:           "agent-sandbox stage discard\nagent-sandbox stage discard upgrade\nagent-sandbox stage discard --all -C ~/src/gone",
		ValidArgsFunction: completeStage(a),
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return console.UsageError(cmd.CommandPath(), "expected one name, got %d", len(args))
			case len(args) > 0 && every:
				return console.UsageError(cmd.CommandPath(), "--all takes no name")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return discardStages(a, cwd, every, args) },
	}
	addStageCwd(cmd, &cwd)
	cmd.Flags().BoolVar(&every, "all", false, "all stages of this workspace")
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
