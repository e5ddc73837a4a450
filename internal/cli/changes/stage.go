// Package changes has the commands that show, apply and discard what commands wrote on a stage or in memory.
package changes

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// NewStage returns the command stage, with its subcommands.
func NewStage(a *console.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stage COMMAND",
		Short: "list, show, apply or discard stages",
		Long: `'agent-sandbox exec --stage[=NAME]' runs a command on a copy-on-write view of the
workspace: the command sees its own changes, and the workspace stays as it is until
they are applied. The next run with the same NAME continues where the last one ended.`,
		Example: `agent-sandbox exec --stage -- ./codemod.sh
agent-sandbox stage diff
agent-sandbox stage apply src
agent-sandbox stage discard`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.UsageError(cmd.CommandPath(), "unknown command %q", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newStageList(a), newStageDiff(a), newStageApply(a), newStageDiscard(a))
	return console.Describe(cmd, console.ExitSimple)
}

// scope holds the stages that a "stage" command can address from its working directory.
type scope struct {
	host   host.Host
	dir    string // the working directory or the -C flag; need not exist
	store  *stage.Store
	stages []*stage.Stage // of all workspaces
	failed error          // error of stages that cannot be read
}

// findStages finds the stages for cwd, the -C flag. A removed directory still has its stages.
func findStages(a *console.App, cwd string) (*scope, error) {
	h, err := host.Locate(a.Env, cwd)
	if errors.Is(err, sandbox.ErrNotFound) && filepath.IsAbs(cwd) {
		h, err = host.Locate(a.Env, "/")
		h.Workspace = filepath.Clean(cwd)
	}
	if err != nil {
		return nil, err
	}
	s := &scope{host: h, dir: h.Workspace, store: &stage.Store{Dir: stage.In(h.Data)}}
	s.store.Sweep()
	s.stages, s.failed = s.store.List()
	return s, nil
}

// here returns the stages of the innermost workspace around the user that has any.
func (s *scope) here() []*stage.Stage {
	for dir := s.dir; ; dir = filepath.Dir(dir) {
		of := func(st *stage.Stage) bool { return st.Workspace == dir }
		if slices.ContainsFunc(s.stages, of) {
			return slices.DeleteFunc(slices.Clone(s.stages), func(st *stage.Stage) bool { return !of(st) })
		}
		if dir == "/" {
			return nil
		}
	}
}

// named finds a stage by its name in the innermost workspace that has one; nil:
// not found.
func (s *scope) named(name string) *stage.Stage {
	var found *stage.Stage
	for _, st := range s.stages {
		inner := found == nil || len(st.Workspace) > len(found.Workspace)
		if st.Name == name && inner && isWithin(s.dir, st.Workspace) {
			found = st
		}
	}
	return found
}

// usual returns the stage of a command without a name.
func (s *scope) usual() (*stage.Stage, error) {
	here := s.here()
	if len(here) == 1 {
		return here[0], nil
	}
	var names []string
	for _, st := range here {
		if st.Name == stage.DefaultName {
			return st, nil
		}
		names = append(names, st.Name)
	}
	if len(here) == 0 {
		return nil, errors.Join(s.failed, s.none("no stage of %s", s.dir))
	}
	return nil, sandbox.Errorf(sandbox.Invalid, "%s has several stages: %s", here[0].Workspace, strings.Join(names, ", ")).
		WithHint("name one of them")
}

func (s *scope) none(format string, args ...any) error {
	e := sandbox.Errorf(sandbox.NotFound, format, args...)
	if len(s.stages) == 0 {
		return e.WithHint("'agent-sandbox exec --stage -- COMMAND' makes one")
	}
	return e.WithHint("see 'agent-sandbox stage list --all'")
}

// target parses [NAME] [PATH...]. The first argument is a name if a stage has
// that name; after "--" there are only paths.
func (s *scope) target(cmd *cobra.Command, args []string) (*stage.Stage, []string, error) {
	dash := cmd.ArgsLenAtDash()
	if len(args) > 0 && dash != 0 {
		if st := s.named(args[0]); st != nil {
			return st, args[1:], nil
		}
		if dash == 1 {
			return nil, nil, s.none("no stage %s of %s", args[0], s.dir)
		}
	}
	st, err := s.usual()
	if err != nil && len(args) > 0 && dash < 0 {
		err = s.none("no stage %s of %s", args[0], s.dir)
	}
	return st, args, err
}

// inside makes the user's paths absolute in the stage's workspace.
func (s *scope) inside(st *stage.Stage, paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			p = filepath.Join(s.dir, p)
		}
		p = filepath.Clean(p)
		if !isWithin(p, st.Workspace) {
			if dir, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
				p = filepath.Join(dir, filepath.Base(p))
			}
		}
		out = append(out, p)
	}
	return out
}

// completeStage completes the names of stages, then files.
func completeStage(a *console.App) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		cwd, _ := cmd.Flags().GetString("cwd") // every command of a stage has the flag
		s, err := findStages(a, cwd)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var names []string
		for _, st := range s.here() {
			names = append(names, st.Name)
		}
		return names, cobra.ShellCompDirectiveDefault
	}
}

// isWithin reports whether path is dir or lies below it.
func isWithin(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// isGone reports whether the workspace of st no longer exists.
func isGone(st *stage.Stage) bool {
	info, err := os.Lstat(st.Workspace)
	return err != nil || !info.IsDir()
}
