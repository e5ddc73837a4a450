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

// Apply makes changes of the stage in the workspace, and takes them out of the
// stage. Each file is exchanged in one step: whoever looks, and whenever this is
// killed, sees the old one or the new one, and the next Apply finishes what a killed
// one began. What cannot be applied is in the Result; an error means that nothing
// was decided (Denied while the stage is in use, NotFound and Invalid for Paths), or that
// the stage could not be brought up to date afterwards.
func (s *Stage) Apply(options ApplyOptions) (Result, error) {
	if !options.DryRun { // which is a look, as Diff is
		held, err := lock(s.dir, holder([]string{"apply"}))
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
	// What makes no difference goes, too: a snapshot that was restored after it was applied would make conflicts of that later.
	if !options.DryRun && (len(j.Operations) > 0 || len(changes) == 0 && s.Kind == Overlay && !s.Pristine()) {
		if err := s.writeJournal(j); err != nil {
			return r, err
		}
		a.run(j.Operations)
		err = s.settle(d, j)
	}
	sel.report(a, &r)
	return r, err
}

func (d *differ) applier(resumed bool) *applier {
	return &applier{differ: d, resumed: resumed, failed: map[string]error{}, placed: map[uint64]string{}}
}

// report fills r with what came of each wanted change.
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

// resume finishes an Apply that was killed, and removes what it left half made.
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
	return slices.Compact(finished), s.settle(d, j)
}

// sweep removes our temporary names from a directory of the workspace.
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

// settle takes what now is in the workspace out of the stage, when it is safely
// there, and ends the journal.
func (s *Stage) settle(d *differ, j *journal) error {
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

// remember records how the workspace's entries are now that Apply changed, so that
// its own changes are no conflicts later.
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

// record is remember for a copy.
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

// prune removes from the upper tree what makes no difference any more. An opaque
// directory stays whole while anything in it differs: what is not in it counts as
// deleted.
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
