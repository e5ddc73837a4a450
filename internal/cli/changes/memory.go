package changes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/seed434b0696/agent-sandbox/backend/virtual/workspace"
	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// memoryTarget accesses the changes of a sandbox in memory through its keeper.
type memoryTarget struct {
	operator  persist.Operator
	workspace string
}

func memoryOf(r persist.Record, box *sandbox.Sandbox) (*memoryTarget, bool) {
	o, ok := sandbox.As[persist.Operator](box.Unwrap())
	if !ok || r.Backend != "virtual" {
		return nil, false
	}
	return &memoryTarget{o, r.Spec.Workspace}, true
}

// changes calls f with each change as it arrives: their number is unbounded.
func (m *memoryTarget) changes(ctx context.Context, f func(workspace.Change) error) error {
	return readReplies(ctx, m.operator, workspace.OpChanges, nil, f)
}

// patches calls f with each change at and below the paths, with its text, as it arrives.
func (m *memoryTarget) patches(ctx context.Context, paths []string, f func(workspace.Patched) error) error {
	arg, err := json.Marshal(workspace.PatchOptions{Paths: paths})
	if err != nil {
		return err
	}
	return readReplies(ctx, m.operator, workspace.OpPatch, arg, f)
}

// readReplies calls f with each value of a reply.
func readReplies[T any](ctx context.Context, o persist.Operator, op string, arg json.RawMessage, f func(T) error) error {
	r, w := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		err := o.Operate(ctx, op, arg, w)
		_ = w.CloseWithError(err) // documented to return nil
		failed <- err
	}()
	d := json.NewDecoder(r)
	var err error
	for d.More() && err == nil {
		var v T
		if err = d.Decode(&v); err == nil {
			err = f(v)
		}
	}
	_ = r.CloseWithError(io.ErrClosedPipe) // documented to return nil
	if ferr := <-failed; err == nil {
		err = ferr
	}
	return err
}

func (m *memoryTarget) apply(ctx context.Context, o workspace.ApplyOptions) (done workspace.Applied, err error) {
	arg, err := json.Marshal(o)
	if err != nil {
		return done, err
	}
	var answer bytes.Buffer
	if err := m.operator.Operate(ctx, workspace.OpApply, arg, &answer); err != nil {
		return done, err
	}
	return done, json.Unmarshal(answer.Bytes(), &done)
}

func (m *memoryTarget) discard(ctx context.Context) error {
	return m.operator.Operate(ctx, workspace.OpDiscard, nil, nil)
}

// inside makes the user's paths absolute.
func (m *memoryTarget) inside(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		if out[i] = path.Clean(p); !path.IsAbs(p) {
			out[i] = path.Join(m.workspace, p)
		}
	}
	return out
}

// memoryLetters are git's names for the kinds of changes in memory.
var memoryLetters = map[string]string{"created": "A", "modified": "M", "deleted": "D", "retyped": "T"}

func diffMemory(ctx context.Context, a *console.App, f *diffFlags, m *memoryTarget, paths []string) error {
	switch {
	case f.stat:
		return statMemory(ctx, a, m, paths)
	case !f.json && !f.nameStatus:
		return patchMemory(ctx, a, m, paths)
	}
	wanted := m.inside(paths)
	list := []workspace.Change{}
	err := m.changes(ctx, func(c workspace.Change) error {
		switch {
		case len(wanted) > 0 && !slices.ContainsFunc(wanted, func(p string) bool { return isWithin(c.Path, p) }):
		case f.json:
			list = append(list, c)
		default:
			fmt.Fprintf(a.Out, "%s\t%s\n", memoryLetters[c.Kind], patch.Quote(c.Path))
		}
		return a.Out.Err
	})
	if err == nil && f.json {
		err = a.PrintJSON(map[string]any{"changes": list})
	}
	return err
}

func patchMemory(ctx context.Context, a *console.App, m *memoryTarget, paths []string) error {
	w := newPatchWriter(a)
	hidden, conflicts := 0, 0
	err := m.patches(ctx, m.inside(paths), func(p workspace.Patched) error {
		if len(p.Text) == 0 {
			hidden++
		}
		if p.Change.Conflict != "" {
			conflicts++
		}
		_, err := w.Write(p.Text)
		return err
	})
	if err = errors.Join(err, w.flush()); err != nil {
		return err
	}
	remarkPatch(a, hidden, conflicts, "agent-sandbox apply --dry-run")
	return nil
}

func statMemory(ctx context.Context, a *console.App, m *memoryTarget, paths []string) error {
	var changes []stage.Change
	var lines []stage.Lines
	err := m.patches(ctx, m.inside(paths), func(p workspace.Patched) error {
		p.Change.Path = string(p.Path)
		changes, lines = append(changes, p.Change), append(lines, p.Lines)
		return nil
	})
	if err == nil {
		printStat(a, changes, lines)
	}
	return err
}

func applyMemory(ctx context.Context, a *console.App, f *applyFlags, m *memoryTarget, paths []string) error {
	if len(f.protected) > 0 {
		return sandbox.Errorf(sandbox.Unsupported, "what the policy protects is applied from stages only")
	}
	done, err := m.apply(ctx, workspace.ApplyOptions{Force: f.force, DryRun: f.dryRun, Paths: m.inside(paths)})
	if err != nil {
		return err
	}
	if f.json {
		err = a.PrintJSON(done)
	} else {
		PrintFinished(a, done.Finished)
		for _, c := range done.Changes {
			fmt.Fprintf(a.Out, "%s %s\n", memoryLetters[c.Kind], patch.Quote(c.Path))
		}
		for _, k := range done.Skipped {
			fmt.Fprintf(a.Out, "! %s: %s: %s\n", patch.Quote(k.Path), k.Reason, console.Escape(k.Detail))
		}
		verb := " applied"
		if f.dryRun {
			verb = " would be applied"
		}
		a.Err.Say(console.Count(len(done.Changes), "change") + verb)
	}
	if err == nil && len(done.Skipped) > 0 {
		err = console.ExitStatus(1)
	}
	return err
}
