package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The steps of operations.
const (
	stepMkdir  = "mkdir"
	stepPut    = "put" // a file, link or FIFO
	stepChmod  = "chmod"
	stepRemove = "remove"
	stepRmdir  = "rmdir"
	stepMode   = "mode" // the final mode of a directory
)

// operation is one step of an Apply. It is idempotent.
type operation struct {
	Step string            `json:"step"`
	Path rawPath           `json:"path"`
	Pre  *tree.Fingerprint `json:"pre,omitempty"` // state of the entry that it replaces; nil: there is none
}

// journal lists the operations of an Apply. It exists from before the first change to the
// workspace until the stage no longer has the changes, so that the next Apply after a kill
// finishes it.
type journal struct {
	Operations []operation `json:"operations"`
	// Directories whose entries the Apply changes, and which had not changed since the stage
	// was created: they still count as unchanged afterwards.
	Touched []rawPath `json:"touched,omitempty"`
}

// readJournal returns the journal of an interrupted Apply; nil when there is none.
func (s *Stage) readJournal() (*journal, error) {
	var j journal
	err := readJSON(filepath.Join(s.dir, journalFile), &j)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Internal, "%s: %w", filepath.Join(s.dir, journalFile), err)
	}
	return &j, nil
}

func (s *Stage) writeJournal(j *journal) error {
	return writeJSON(filepath.Join(s.dir, journalFile), j)
}

func (s *Stage) removeJournal() error {
	return os.Remove(filepath.Join(s.dir, journalFile))
}

// plan orders the operations: first those that make room for others, then new directories
// from the top, then files, then removals from the bottom, and last the modes of directories
// from the bottom, because a mode may forbid writes.
func (sel *selection) plan(d *differ) (*journal, error) {
	var room, dirs, files, removals, modes []operation
	j := &journal{}
	for i, c := range sel.changes {
		if !sel.isSelected(i) {
			continue
		}
		low, err := d.low.Lstat(c.Path)
		if err != nil {
			return nil, err
		}
		op := operation{Path: rawPath(c.Path)}
		if low.Exists {
			pre := low.Fingerprint()
			op.Pre = &pre
		}
		switch {
		case c.New == nil:
			op.Step = stepRemove
			if c.Old.Type == patch.Directory {
				op.Step = stepRmdir
			}
			if sel.makesRoom(c.Path) {
				room = append(room, op)
			} else {
				removals = append(removals, op)
			}
		case c.New.Type == patch.Directory:
			if c.Kind != patch.Modified {
				op.Step = stepMkdir
				dirs = append(dirs, op)
			}
			op.Step = stepMode
			modes = append(modes, op)
		case c.Kind == patch.Modified && !c.Content:
			op.Step = stepChmod
			files = append(files, op)
		default:
			op.Step = stepPut
			files = append(files, op)
		}
		if err := j.touch(d, tree.Parent(c.Path)); err != nil {
			return nil, err
		}
	}
	for _, ops := range [][]operation{reverse(room), dirs, files, reverse(removals), reverse(modes)} {
		j.Operations = append(j.Operations, ops...)
	}
	return j, nil
}

// makesRoom reports whether a directory above path gets another type.
func (sel *selection) makesRoom(path string) bool {
	for dir := tree.Parent(path); dir != ""; dir = tree.Parent(dir) {
		if i, ok := sel.index[dir]; ok && sel.changes[i].Kind == patch.Retyped {
			return true
		}
	}
	return false
}

func (j *journal) touch(d *differ, dir string) error {
	if len(j.Touched) > 0 && string(j.Touched[len(j.Touched)-1]) == dir {
		return nil
	}
	low, err := d.low.Lstat(dir)
	if err == nil && low.IsDir() && !d.base.hasChanged(dir, low) {
		j.Touched = append(j.Touched, rawPath(dir))
	}
	return err
}

func reverse(ops []operation) []operation {
	out := make([]operation, 0, len(ops))
	for i := range ops {
		out = append(out, ops[len(ops)-1-i])
	}
	return out
}
