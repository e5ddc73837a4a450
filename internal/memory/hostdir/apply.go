package hostdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// ApplyOptions selects the changes to apply.
type ApplyOptions struct {
	// Paths are relative to the mount. A directory stands for everything below it. None means everything.
	Paths []string
	// Force also applies changes of paths that another process changed meanwhile, and loses that process's change.
	Force bool
	// Refuse is asked about every wanted change before it is made; a reason other than ""
	// keeps the path as it is. Nil refuses nothing.
	Refuse func(c vfs.Change) string
	// DryRun only decides.
	DryRun bool
}

// Reason says why Apply skipped a path.
type Reason string

// The reasons.
const (
	Conflicting Reason = "conflict" // it changed outside; Force overrides
	Refused     Reason = "refused"  // Refuse said so, or it is never applied
	Depends     Reason = "depends"  // it needs another path that was not applied
	Failed      Reason = "failed"   // the file system did
)

// Skipped is a change that stays in memory.
type Skipped struct {
	Path   string
	Reason Reason
	Detail string
}

// Result lists the changes that Apply made and those that it skipped. Both lists are ordered by path.
type Result struct {
	Applied []vfs.Change
	Skipped []Skipped
	// Finished are the paths of an earlier Apply in the directory that was killed, which this one has finished
	// first; see Options.Journal.
	Finished []string
}

// Apply makes changes of the mount in the host directory. Each file is exchanged in one
// step: other processes see the old one or the new one. What the
// host has already counts as applied: an Apply that was killed after its last step has made it, and the tree does not know
// of it. Of modes only the permissions are applied,
// without set-user-ID, set-group-ID and sticky bits; owners are not. Named pipes and devices are never
// applied. What cannot be applied is in the Result, and stays a change; an error
// means that nothing was decided, or that ctx ended.
func (m *Mount) Apply(ctx context.Context, o ApplyOptions) (Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var finished []string
	if !o.DryRun {
		var err error
		finished, err = m.finish()
		if len(finished) > 0 {
			m.layer.Refresh()
		}
		if err != nil {
			return Result{Finished: finished}, err
		}
	}
	if err := m.prepare(o); err != nil {
		return Result{}, err
	}
	changes, now, err := m.diff()
	if err != nil {
		return Result{}, err
	}
	a := &applier{
		mount: m, options: o, now: now, tree: now.FS(vfs.Options{NoAtime: true}),
		skipped: map[string]Skipped{}, done: map[string]bool{}, same: map[string]bool{}, staged: map[string]staged{}, placed: map[uint64]int{}, links: map[uint64]int{},
		changes: map[string]vfs.Change{},
	}
	wanted := slices.DeleteFunc(slices.Clone(changes), func(c vfs.Change) bool { return !o.wants(c.Path) })
	for _, c := range wanted {
		a.changes[c.Path] = c
	}
	for _, c := range wanted {
		a.decide(c)
	}
	a.hold(wanted)
	if o.DryRun {
		return a.result(wanted), nil
	}
	err = a.run(ctx, wanted)
	r := a.result(wanted)
	r.Finished = finished
	return r, errors.Join(err, a.settle(changes), a.journal.end())
}

// prepare reads into memory the content that the tree takes of files that are changed in place from
// the very file that Apply is going to exchange. Without room for it the tree could not
// read them until Apply ends, which is all that is lost.
func (m *Mount) prepare(o ApplyOptions) error {
	changes, _, err := m.diff()
	if err != nil || o.DryRun {
		return err
	}
	for _, c := range changes {
		if c.Kind == vfs.Modified && c.Content && o.wants(c.Path) {
			if err := m.layer.Load(m.fs, c.Old.Ino, c.Path); err != nil && !errors.Is(err, syscall.ENOSPC) {
				return err
			}
		}
	}
	return nil
}

// settle lets the mount show the host's present state, except for the changes that stay.
func (a *applier) settle(changes []vfs.Change) error {
	m := a.mount
	var keep []string
	expected := map[string]state{}
	for _, c := range changes {
		if !a.done[c.Path] {
			keep = append(keep, a.inside(c.Path))
			expected[c.Path] = m.was(c)
		}
	}
	base, err := m.layer.Reset(m.fs, a.now, keep)
	if err == nil {
		m.base, m.expected = base, expected
	}
	return err
}

// was returns the host's state at the path of a change at the time of the change.
func (m *Mount) was(c vfs.Change) state {
	if s, ok := m.expected[c.Path]; ok {
		return s
	}
	if c.Kind == vfs.Created {
		return state{}
	}
	return newState(c.Old.FileInfo())
}

func (o *ApplyOptions) wants(p string) bool {
	return len(o.Paths) == 0 || slices.ContainsFunc(o.Paths, func(want string) bool {
		want = path.Clean(want)
		return want == "." || p == want || strings.HasPrefix(p, want+"/")
	})
}

// applier applies the changes of one call.
type applier struct {
	mount   *Mount
	options ApplyOptions
	now     *vfs.Snapshot // what is applied
	tree    *vfs.FS       // the same, to read it
	changes map[string]vfs.Change
	skipped map[string]Skipped
	done    map[string]bool
	same    map[string]bool   // of those: the host had it already
	dir     string            // where files are made before they are put in place
	staged  map[string]staged // by path: what was made for it
	placed  map[uint64]int    // by inode: in how many places it was put
	links   map[uint64]int    // and how many names it has
	journal *journal
}

func (a *applier) skip(p string, r Reason, detail string) {
	if _, ok := a.skipped[p]; !ok {
		a.skipped[p] = Skipped{p, r, detail}
	}
}

// canOmit reports whether a change needs no work.
func (a *applier) canOmit(c vfs.Change) bool {
	_, ok := a.skipped[c.Path]
	return ok || a.same[c.Path]
}

// decide skips the changes that must not be applied.
func (a *applier) decide(c vfs.Change) {
	if c.Kind != vfs.Deleted {
		if t := c.New.Mode.Type(); t != 0 && t != fs.ModeDir && t != fs.ModeSymlink {
			a.skip(c.Path, Refused, "only files, directories and links are applied")
			return
		}
	}
	if a.options.Refuse != nil {
		if why := a.options.Refuse(c); why != "" {
			a.skip(c.Path, Refused, why)
			return
		}
	}
	why := a.mount.conflict(c, a.lstat)
	switch {
	case why == "":
	case a.isApplied(c):
		a.same[c.Path], a.done[c.Path] = true, true
	case !a.options.Force:
		a.skip(c.Path, Conflicting, why)
	}
}

// conflict returns what another process did to the path of a change after the change.
func (m *Mount) conflict(c vfs.Change, lstat func(string) (fs.FileInfo, error)) string {
	was, is := m.was(c), state{}
	info, err := lstat(c.Path)
	switch {
	case err == nil:
		is = newState(info)
	case !errors.Is(err, fs.ErrNotExist):
		return err.Error()
	}
	switch {
	case was == is, is == state{} && c.Kind == vfs.Deleted:
		return ""
	case is == state{}:
		return "it was removed outside"
	case was == state{} && c.Kind != vfs.Deleted && info.IsDir() && c.New.IsDir():
		return ""
	case was == state{}:
		return "it was created outside"
	}
	return "it was changed outside"
}

// hold skips changes that need a skipped path: paths below a directory that is not
// created, and directories from which not everything is removed.
func (a *applier) hold(changes []vfs.Change) {
	for _, c := range changes {
		for up := path.Dir(c.Path); up != "."; up = path.Dir(up) {
			if s, ok := a.skipped[up]; ok && c.Kind != vfs.Deleted && !a.isDir(up) {
				a.skip(c.Path, Depends, s.Path+" is not applied")
			}
		}
	}
	removed := map[string]bool{}
	for _, c := range changes {
		removed[c.Path] = c.Kind == vfs.Deleted || c.Kind == vfs.Retyped && c.Old.IsDir()
	}
	for _, c := range slices.Backward(changes) {
		if _, ok := a.skipped[c.Path]; !ok {
			continue
		}
		for up := path.Dir(c.Path); up != "."; up = path.Dir(up) {
			if removed[up] {
				a.skip(up, Depends, c.Path+" is not applied")
			}
		}
	}
}

// lstat describes the host's file at a path, on the way to which no link is
// followed: a directory above that is to become one does not have it yet.
func (a *applier) lstat(p string) (fs.FileInfo, error) {
	for i, c := range p {
		if c != '/' {
			continue
		}
		info, err := a.mount.root.Lstat(p[:i])
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
		case a.changes[p[:i]].Kind == vfs.Retyped:
			return nil, fs.ErrNotExist
		default:
			return nil, fmt.Errorf("%s is not a directory any more", p[:i])
		}
	}
	return a.mount.root.Lstat(p)
}

func (a *applier) isDir(p string) bool {
	info, err := a.lstat(p)
	return err == nil && info.IsDir()
}

func (a *applier) result(changes []vfs.Change) Result {
	var r Result
	for _, c := range changes {
		if s, ok := a.skipped[c.Path]; ok {
			r.Skipped = append(r.Skipped, s)
		} else if a.options.DryRun || a.done[c.Path] {
			r.Applied = append(r.Applied, c)
		}
	}
	return r
}

// run makes the changes: all files are written first, beside their places, then the steps of the plan
// are done, which a journal knows before the first.
func (a *applier) run(ctx context.Context, changes []vfs.Change) error {
	defer a.unstage()
	for _, c := range changes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.begin(c); err != nil {
			return err
		}
		a.try(c, a.stage)
	}
	steps := a.plan(changes)
	if err := a.journal.write(steps); err != nil {
		return err
	}
	for _, s := range steps {
		if err := ctx.Err(); err != nil && s.Do != stepRemove && s.Do != stepMode {
			return err
		}
		a.try(a.changes[string(s.Path)], func(c vfs.Change) error { return a.perform(c, s) })
	}
	return nil
}

// try does a part of a change, unless it is skipped or a change that it needs failed.
func (a *applier) try(c vfs.Change, do func(vfs.Change) error) {
	if a.canOmit(c) {
		return
	}
	for up := path.Dir(c.Path); up != "." && c.Kind != vfs.Deleted; up = path.Dir(up) {
		if s, ok := a.skipped[up]; ok && s.Reason == Failed {
			a.skip(c.Path, Depends, up+" is not applied")
			return
		}
	}
	if err := do(c); err != nil {
		a.skip(c.Path, Failed, err.Error())
	}
}

// perform does a step of a change. It first reads the content that the tree still takes from a file that goes away.
func (a *applier) perform(c vfs.Change, s step) error {
	m := a.mount
	switch s.Do {
	case stepRemove:
		if a.placed[c.Old.Ino] == 0 || a.placed[c.Old.Ino] != a.links[c.Old.Ino] {
			if err := m.layer.Load(m.fs, c.Old.Ino, c.Path); err != nil {
				return err
			}
		}
		if _, err := a.lstat(c.Path); err != nil { // it is not there, or not to be reached
			a.done[c.Path] = a.done[c.Path] || c.Kind == vfs.Deleted
			return nil
		}
	case stepPut, stepMkdir, stepChmod:
		if _, err := a.lstat(path.Join(path.Dir(c.Path), "x")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // a link has come in the way
		}
		if c.Kind == vfs.Modified && hasContent(c) {
			if err := m.layer.Load(m.fs, c.Old.Ino, c.Path); err != nil {
				return err
			}
		}
	}
	if err := doStep(m.root, a.dir, s); err != nil {
		return err
	}
	if s.Do == stepRemove && c.Kind != vfs.Deleted {
		return nil // half of it
	}
	a.done[c.Path] = true
	if hasContent(c) && s.Do == stepPut {
		a.placed[c.New.Ino]++
		a.links[c.New.Ino] = c.New.Nlink
	}
	return nil
}
