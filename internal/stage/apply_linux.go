package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
)

// Apply makes changes of the stage in the workspace and removes them from the stage. It replaces each file in one step:
// every reader, also after a kill, sees the old or the new one, and the next Apply finishes a killed one. Result lists
// the skipped changes. After an error the workspace is unchanged (Denied: the stage is in use; NotFound and Invalid for
// Paths), or the stage could not be updated afterwards.
func (s *Stage) Apply(options ApplyOptions) (Result, error) {
	if !options.DryRun { // a dry run only reads the stage, like Diff
		held, err := lock(s.dir, newHolder([]string{"apply"}))
		if err != nil {
			return Result{}, err
		}
		defer release(held)
	}
	if err := s.reload(); err != nil {
		return Result{}, err
	}
	var r Result
	if !options.DryRun {
		var err error
		if r.Finished, err = s.resume(); err != nil {
			return r, err
		}
	}
	d, err := s.openDiff()
	if err != nil {
		return r, err
	}
	defer d.close()
	changes, err := d.run()
	if err != nil {
		return r, err
	}
	sel, err := s.choose(changes, options)
	if err != nil {
		return r, err
	}
	j, err := sel.plan(d)
	if err != nil {
		return r, err
	}
	a := d.applier(false)
	// It also removes entries that equal those of the workspace: such entries exist if a restored snapshot was applied
	// before, and they would conflict later.
	if !options.DryRun && (len(j.Operations) > 0 || len(changes) == 0 && s.Kind == Overlay && !s.IsPristine()) {
		if err := s.writeJournal(j); err != nil {
			return r, err
		}
		a.run(j.Operations)
		err = s.finish(d, j)
	}
	sel.report(a, &r)
	return r, err
}

func (d *differ) applier(resumed bool) *applier {
	return &applier{differ: d, resumed: resumed, failed: map[string]error{}, placed: map[uint64]string{}}
}

// report adds the result of each selected change to r.
func (sel *selection) report(a *applier, r *Result) {
	for i, c := range sel.changes {
		if !sel.wanted[i] {
			continue
		}
		if err := a.failed[c.Path]; err != nil {
			reason := Failed
			if errors.Is(err, errChanged) {
				reason = Conflicting
			}
			sel.skip(i, reason, strings.TrimPrefix(err.Error(), "change "))
		}
		if sel.skipped[i].Reason != "" {
			r.Skipped = append(r.Skipped, sel.skipped[i])
			continue
		}
		r.Applied = append(r.Applied, c)
	}
}

// resume finishes a killed Apply, and removes its temporary files.
func (s *Stage) resume() ([]string, error) {
	j, err := s.readJournal()
	if err != nil || j == nil {
		return nil, err
	}
	d, err := s.openDiff()
	if err != nil {
		return nil, err
	}
	defer d.close()
	var finished []string
	dirs := map[string]bool{}
	for _, op := range j.Operations {
		if path := string(op.Path); op.Step != stepMode || !slices.Contains(finished, path) {
			finished = append(finished, path)
		}
		dirs[tree.Parent(string(op.Path))] = true
	}
	for dir := range dirs {
		if err := d.sweep(dir); err != nil {
			return nil, err
		}
	}
	a := d.applier(true)
	a.run(j.Operations)
	finished = slices.DeleteFunc(finished, func(path string) bool { return a.failed[path] != nil })
	slices.SortFunc(finished, tree.ComparePaths)
	return slices.Compact(finished), s.finish(d, j)
}

// sweep removes Apply's temporary files from a directory of the workspace.
func (d *differ) sweep(dir string) error {
	names, err := d.low.Names(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		if isReserved(n) {
			d.applier(true).discard(tree.Join(dir, n))
		}
	}
	return nil
}

// finish syncs the workspace, removes the applied changes from the stage, and removes the
// journal.
func (s *Stage) finish(d *differ, j *journal) error {
	if err := unix.Syncfs(d.low.FD()); err != nil {
		return err
	}
	for _, op := range j.Operations {
		d.base.touched[string(op.Path)] = true
	}
	left, err := d.run()
	if err != nil {
		return err
	}
	if s.Kind == Overlay {
		err = s.prune(d, left)
	} else {
		err = s.record(d, j, left)
	}
	if err != nil {
		return err
	}
	if err := s.remember(d, j, left); err != nil {
		return err
	}
	return s.removeJournal()
}

// remember records the entries that Apply has changed in the workspace, so that they do not cause a conflict later.
func (s *Stage) remember(d *differ, j *journal, left []Change) error {
	if s.Kind != Overlay {
		return nil
	}
	if s.data.Known == nil {
		s.data.Known = pathMap[tree.Fingerprint]{}
	}
	differs := map[string]bool{}
	for _, c := range left {
		differs[c.Path] = true
	}
	paths := slices.Clone(j.Touched)
	for _, op := range j.Operations {
		if !differs[string(op.Path)] {
			paths = append(paths, op.Path)
		}
	}
	for _, p := range paths {
		low, err := d.low.Lstat(string(p))
		if err != nil {
			return err
		}
		if delete(s.data.Known, string(p)); low.Exists {
			s.data.Known[string(p)] = low.Fingerprint()
		}
	}
	return s.save()
}

// record does the same as remember, for a copy.
func (s *Stage) record(d *differ, j *journal, left []Change) error {
	differs := map[string]bool{}
	for _, c := range left {
		differs[c.Path] = true
	}
	for _, op := range j.Operations {
		path := string(op.Path)
		if differs[path] {
			continue
		}
		low, err := d.low.Lstat(path)
		if err != nil {
			return err
		}
		up, err := d.up.Lstat(path)
		if err != nil {
			return err
		}
		if delete(d.base.copy, path); low.Exists && up.Exists {
			d.base.copy[path] = copied{Low: low.Fingerprint(), Copy: up.Fingerprint()}
		}
	}
	return writeJSON(filepath.Join(s.dir, manifestFile), d.base.copy)
}

// prune removes from the upper tree the entries that no longer differ. An opaque directory stays complete while an
// entry in it differs, because entries that it lacks count as deleted.
func (s *Stage) prune(d *differ, left []Change) error {
	trash := filepath.Join(s.dir, trashDir)
	if err := tree.Remove(trash); err != nil {
		return err
	}
	if err := os.Mkdir(trash, 0o700); err != nil {
		return err
	}
	p := pruner{differ: d, needed: map[string]bool{"": true}}
	for _, c := range left {
		for path := c.Path; path != "" && !p.needed[path]; path = tree.Parent(path) {
			p.needed[path] = true
		}
	}
	var err error
	if p.trash, err = tree.Open(trash, true); err != nil {
		return err
	}
	err = p.directory("")
	p.trash.Close()
	if err != nil {
		return err
	}
	return tree.Remove(trash)
}
