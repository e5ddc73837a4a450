package stage

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// selection decides which changes of a stage are applied.
type selection struct {
	changes []Change
	index   map[string]int
	wanted  []bool
	skipped []Skipped // by the index of the change; Reason "": not skipped
}

// choose selects the requested changes and the changes that they need: the new directories
// above a path.
func (s *Stage) choose(changes []Change, options ApplyOptions) (*selection, error) {
	sel := &selection{
		changes: changes, index: map[string]int{}, wanted: make([]bool, len(changes)), skipped: make([]Skipped, len(changes)),
	}
	for i, c := range changes {
		sel.index[c.Path] = i
	}
	paths, err := s.relative(options.Paths)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		found := false
		for i, c := range changes {
			if tree.IsBelow(c.Path, p) {
				sel.wanted[i], found = true, true
			}
		}
		if !found && p != "" {
			return nil, sandbox.Errorf(sandbox.NotFound, "the stage changes nothing at %s", patch.Quote(p))
		}
		for dir := tree.Parent(p); dir != ""; dir = tree.Parent(dir) {
			if i, ok := sel.index[dir]; ok && changes[i].New != nil && changes[i].Kind != patch.Modified {
				sel.wanted[i] = true
				sel.wantBelowOld(i)
			}
		}
	}
	for i, c := range changes {
		if sel.wanted[i] {
			sel.judge(i, filepath.Join(s.Workspace, c.Path), options)
		}
	}
	sel.together()
	sel.propagate()
	return sel, nil
}

// wantBelowOld selects the deletions that the change of type in changes[i] needs.
func (sel *selection) wantBelowOld(i int) {
	c := sel.changes[i]
	if c.Kind != patch.Retyped || c.Old.Type != patch.Directory {
		return
	}
	for j, other := range sel.changes {
		if tree.IsBelow(other.Path, c.Path) {
			sel.wanted[j] = true
		}
	}
}

func (s *Stage) relative(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return []string{""}, nil
	}
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		rel := p
		if filepath.IsAbs(p) {
			var err error
			if rel, err = filepath.Rel(s.Workspace, p); err != nil {
				return nil, err
			}
		}
		rel = filepath.Clean(rel)
		if p == "" || rel == ".." || strings.HasPrefix(rel, "../") {
			return nil, sandbox.Errorf(sandbox.Invalid, "%q is not in the workspace %s", p, s.Workspace)
		}
		if rel == "." {
			rel = ""
		}
		out = append(out, rel)
	}
	return out, nil
}

// judge decides about one change, independent of the others.
func (sel *selection) judge(i int, absolute string, options ApplyOptions) {
	c := sel.changes[i]
	if c.Never != "" {
		sel.skip(i, Refused, c.Never)
		return
	}
	if options.Refuse != nil {
		if why := options.Refuse(absolute, c); why != "" {
			sel.skip(i, Refused, why)
			return
		}
	}
	if c.Conflict != "" && !options.Force {
		sel.skip(i, Conflicting, c.Conflict)
	}
}

func (sel *selection) skip(i int, reason Reason, detail string) {
	if sel.skipped[i].Reason == "" {
		sel.skipped[i] = Skipped{Path: sel.changes[i].Path, Reason: reason, Detail: detail}
	}
}

// propagate skips changes that depend on a skipped change. A new entry depends on its new
// directory. The removal of a directory depends on the removal of all its entries. A removal
// below a directory that changes its type depends on that change.
func (sel *selection) propagate() {
	for i := range slices.Backward(sel.changes) { // the entries of a directory before it
		if sel.isSelected(i) {
			continue
		}
		for dir := tree.Parent(sel.changes[i].Path); dir != ""; dir = tree.Parent(dir) {
			j, ok := sel.index[dir]
			if !ok {
				continue
			}
			if c := sel.changes[j]; sel.changes[i].New == nil && c.Old != nil && c.Old.Type == patch.Directory && c.Kind != patch.Modified {
				sel.skip(j, Depends, patch.Quote(sel.changes[i].Path)+" stays")
			}
		}
	}
	for i, c := range sel.changes {
		if !sel.wanted[i] {
			continue
		}
		for dir := tree.Parent(c.Path); dir != ""; dir = tree.Parent(dir) {
			j, ok := sel.index[dir]
			if !ok || sel.isSelected(j) || sel.changes[j].New == nil || sel.changes[j].Kind == patch.Modified {
				continue
			}
			sel.skip(i, Depends, patch.Quote(dir)+" is not applied")
			break
		}
	}
}

// together skips all changes of a git directory if one of them conflicts: references without
// their index or objects would break the repository.
func (sel *selection) together() {
	var broken []string
	for i, c := range sel.changes {
		if dir := gitDir(c.Path); dir != "" && sel.skipped[i].Reason == Conflicting {
			broken = append(broken, dir)
		}
	}
	for i, c := range sel.changes {
		if sel.isSelected(i) && slices.Contains(broken, gitDir(c.Path)) {
			sel.skip(i, Depends, "something else in "+patch.Quote(gitDir(c.Path))+" is in conflict")
		}
	}
}

// gitDir returns the outermost .git above path, or "".
func gitDir(path string) string {
	for end := range len(path) {
		if path[end] == '/' && (path[:end] == ".git" || strings.HasSuffix(path[:end], "/.git")) {
			return path[:end]
		}
	}
	return ""
}

// isSelected reports whether changes[i] will be applied.
func (sel *selection) isSelected(i int) bool { return sel.wanted[i] && sel.skipped[i].Reason == "" }
