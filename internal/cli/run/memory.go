package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/backend/virtual/workspace"
	"github.com/seed434b0696/agent-sandbox/internal/cli/changes"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// memory accesses the changes of a backend that holds them in memory; the zero value is a
// backend that does not.
type memory struct {
	workspace workspace.Workspace
	files     sandbox.Files
	data      string // agent-sandbox's directory on the host
}

// memoryOf returns the changes of a sandbox. apply says that finish applies them; what it cannot apply it stores below data.
func memoryOf(box *sandbox.Sandbox, data string, apply bool) (memory, error) {
	w, ok := sandbox.As[workspace.Workspace](box.Unwrap())
	if !ok && apply {
		return memory{}, console.UsageError("agent-sandbox exec", "--apply is for backend virtual; with %s commands write to the workspace itself", box.Backend())
	}
	return memory{w, box.Files(), data}, nil
}

// memoryReport is the part of exec --json about changes in memory.
type memoryReport struct {
	List    []workspace.Change  `json:"list"`
	Applied bool                `json:"applied"`        // except those in Skipped
	Skipped []workspace.Skipped `json:"kept,omitempty"` // changes that could not be applied
	// Finished lists paths of an earlier run that was killed while it applied its changes.
	Finished []string `json:"finished,omitempty"`
	// Unapplied is where the changes are that could not be applied.
	Unapplied *unapplied `json:"unapplied,omitempty"`
}

// finish applies the changes, or only lists them; nil when there are none in memory.
func (m memory) finish(ctx context.Context, apply bool) (*memoryReport, error) {
	if m.workspace == nil {
		return nil, nil //nolint:nilnil // nothing to report is not an error
	}
	list, err := m.workspace.Changes()
	if err != nil || !apply {
		return &memoryReport{List: list}, err
	}
	done, err := m.workspace.Apply(ctx, workspace.ApplyOptions{})
	r := &memoryReport{List: list, Applied: true, Skipped: done.Skipped, Finished: done.Finished}
	reasons := map[string]string{}
	for _, s := range done.Skipped {
		reasons[s.Path] = s.Reason
	}
	isLeft := func(path string) bool {
		reason, isSkipped := reasons[path]
		return err != nil || isSkipped && reason != "refused"
	}
	if err == nil && len(done.Skipped) == 0 {
		return r, nil
	}
	u, storeErr := storeUnapplied(context.WithoutCancel(ctx), m.files, list, isLeft, unappliedDirs(m.data)...)
	r.Unapplied = &u
	return r, errors.Join(err, storeErr)
}

// printMemoryRemark reports what happened to the changes.
func printMemoryRemark(ctx context.Context, a *console.App, m memory, f *execFlags, code int) error {
	r, err := m.finish(ctx, f.apply && code == 0)
	if r != nil {
		changes.PrintFinished(a, r.Finished)
	}
	if r == nil || len(r.List) == 0 {
		return err
	}
	for _, k := range r.Skipped {
		a.Err.Say(fmt.Sprintf("not applied: %s: %s: %s", patch.Quote(k.Path), k.Reason, console.Escape(k.Detail)))
	}
	if r.Unapplied != nil {
		r.Unapplied.print(a)
	}
	switch {
	case err != nil:
		return err
	case r.Applied:
		if !f.quiet {
			a.Err.Say(console.Count(len(r.List)-len(r.Skipped), "change") + " applied")
		}
		if len(r.Skipped) > 0 {
			return console.ExitStatus(sandbox.ExitFailed)
		}
	case f.apply:
		a.Err.Say(console.Count(len(r.List), "change") + " in memory not applied: the command failed")
	case !f.quiet:
		a.Err.Say(console.Count(len(r.List), "change") + " in memory dropped: --apply would have made them in the workspace")
	}
	return nil
}
