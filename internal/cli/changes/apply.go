package changes

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	force, dryRun, json bool
	protected           []string
}

// applyDocument is the JSON that apply --json prints for a stage.
type applyDocument struct {
	Stage    string            `json:"stage"`
	DryRun   bool              `json:"dry_run"`
	Applied  []changeDocument  `json:"applied"`
	Kept     []skippedDocument `json:"kept"`
	Finished []string          `json:"finished,omitempty"` // of an interrupted apply
}

type skippedDocument struct {
	stage.Skipped
	Base64 string `json:"path_base64,omitempty"` // the path's bytes, when they are not UTF-8
}

// NewApply returns the command apply, which makes the changes of a persistent sandbox or a stage in the workspace.
func NewApply(a *console.App) *cobra.Command {
	cmd := newApply(a, false)
	cmd.Short = "make the changes of a sandbox or a stage in the workspace"
	cmd.Long = `NAME is a persistent sandbox, or a stage of this workspace; without it, the stage called default, or the
only one. ` + applyText + `
When a sandbox has a stage, no command may run in it meanwhile; what commands have left running
ends, and its /tmp is empty afterwards.`
	cmd.Example = `agent-sandbox apply --dry-run
agent-sandbox apply work package.json
agent-sandbox apply --force -- src/main.go
agent-sandbox apply --protected .vscode/settings.json`
	return cmd
}

// newStageApply returns the command stage apply: apply, for stages only.
func newStageApply(a *console.App) *cobra.Command {
	cmd := newApply(a, true)
	cmd.Short = "make the changes of a stage in the workspace"
	cmd.Long = applyText
	cmd.Example = `agent-sandbox stage apply --dry-run
agent-sandbox stage apply
agent-sandbox stage apply upgrade package.json src
agent-sandbox stage apply --force -- src/main.go
agent-sandbox stage apply --protected .vscode/settings.json`
	return cmd
}

const applyText = `Makes all changes, or those at and below each PATH, with the directories that they need. Each file
is replaced in one step; an apply that was killed is finished by the next. A change is not
applied, and the reason is printed, when its path changed in the workspace meanwhile (--force
overwrites that), when the policy protects it, such as a git hook (--protected PATH), or when it
depends on another that is not applied.`

func newApply(a *console.App, stagesOnly bool) *cobra.Command {
	var f applyFlags
	s := selection{stagesOnly: stagesOnly}
	cmd := &cobra.Command{
		Use:               "apply [flags] [NAME] [--] [PATH...]",
		ValidArgsFunction: s.complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			s.exclusive = !f.dryRun
			return s.use(cmd, a, args, func(ctx context.Context, t target) error {
				switch {
				case t.memory != nil:
					return applyMemory(ctx, a, &f, t.memory, t.paths)
				case t.stage == nil:
					a.Err.Say("0 changes applied")
					return nil
				}
				return applyStage(a, &f, t.scope, t.stage, t.scope.inside(t.stage, t.paths))
			})
		},
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "only print what would be applied and what not")
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite what changed in the workspace meanwhile")
	console.AddListFlag(cmd.Flags(), "protected", "apply `PATH`, and what is below, although the policy protects it", &f.protected)
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return console.Describe(cmd, `  0    all that was asked for is applied
  1    a change was not applied, for the reason that is printed
  125  something went wrong`)
}

func applyStage(a *console.App, f *applyFlags, s *scope, st *stage.Stage, paths []string) error {
	named := s.inside(st, f.protected)
	for _, p := range named {
		if p == st.Workspace || !isWithin(p, st.Workspace) {
			return console.UsageError("agent-sandbox stage apply", "--protected %q: name a path in %s", p, st.Workspace)
		}
	}
	if isGone(st) {
		return sandbox.Errorf(sandbox.NotFound, "the workspace %s is gone", st.Workspace).
			WithHint("put it back, or discard the stage")
	}
	review, err := reviewStage(a, st, named)
	if err != nil {
		return err
	}
	refuse := func(path string, c stage.Change) string { return review.Refuse(changed(path, c)) }
	res, err := st.Apply(stage.ApplyOptions{Paths: paths, Force: f.force, DryRun: f.dryRun, Refuse: refuse})
	if err != nil {
		return err
	}
	if f.json {
		err = a.PrintJSON(newApplyDocument(st, f.dryRun, res))
	} else {
		printApplied(a, f.dryRun, res)
		if review.IsHeld() {
			a.Err.Line("hint: '--protected PATH' applies what the policy refuses")
		}
	}
	if err == nil && len(res.Skipped) > 0 {
		err = console.ExitStatus(1)
	}
	return err
}

func newApplyDocument(st *stage.Stage, dryRun bool, res stage.Result) applyDocument {
	d := applyDocument{
		Stage: st.Name, DryRun: dryRun, Applied: newChangeDocuments(res.Applied), Kept: []skippedDocument{}, Finished: res.Finished,
	}
	for _, k := range res.Skipped {
		d.Kept = append(d.Kept, skippedDocument{Skipped: k, Base64: encodePath(k.Path)})
	}
	return d
}

// printApplied prints a line for each change, and the changes that stay.
func printApplied(a *console.App, dryRun bool, res stage.Result) {
	for _, path := range res.Finished {
		fmt.Fprintf(a.Out, "finished %s\n", patch.Quote(path))
	}
	for _, c := range res.Applied {
		note := ""
		if c.Note != "" {
			note = " (" + c.Note + ")"
		}
		fmt.Fprintf(a.Out, "%s %s%s\n", letters[c.Kind], patch.Quote(c.Path), console.Escape(note))
	}
	for _, k := range res.Skipped {
		fmt.Fprintf(a.Out, "! %s: %s: %s\n", patch.Quote(k.Path), k.Reason, console.Escape(k.Detail))
	}
	verb := "applied"
	if dryRun {
		verb = "would be applied"
	}
	line := console.Count(len(res.Applied), "change") + " " + verb
	if n := len(res.Skipped); n > 0 {
		line += fmt.Sprintf(", %d kept in the stage", n)
	}
	a.Err.Say(line)
}

// reviewStage loads the policy of a stage's workspace as a command there would.
func reviewStage(a *console.App, st *stage.Stage, named []string) (*policy.Review, error) {
	h, err := host.Locate(a.Env, st.Workspace)
	if err != nil {
		return nil, err
	}
	if filepath.Clean(h.Workspace) != st.Workspace {
		return nil, sandbox.Errorf(sandbox.Denied, "%s is %s now", st.Workspace, h.Workspace)
	}
	spec, err := host.NewSpec(a, h, &host.Options{})
	if err != nil {
		return nil, err
	}
	changes, err := st.Diff()
	if err != nil {
		return nil, err
	}
	plan, err := policy.Resolve(spec)
	if err != nil {
		return nil, err
	}
	all := make([]policy.Changed, len(changes))
	for i, c := range changes {
		all[i] = changed(filepath.Join(plan.Workspace, c.Path), c)
	}
	return policy.NewReview(plan, all, named), nil
}

func changed(path string, c stage.Change) policy.Changed {
	return policy.Changed{
		Path: path, Exists: c.New != nil, Link: c.New != nil && c.New.Type == patch.Symlink,
		Replaced: c.Kind == patch.Deleted || c.Kind == patch.Retyped,
	}
}
