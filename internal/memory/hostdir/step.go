package hostdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// step is one thing that Apply does in the host directory. Done twice it does no more than once.
type step struct {
	Do   string `json:"do"`
	Path []byte `json:"path"`           // bytes, because names need not be text
	Mode uint32 `json:"mode,omitempty"` // of mkdir, chmod and mode
	File string `json:"file,omitempty"` // what put puts there: a name in the directory of files that were made
	Sum  string `json:"sum,omitempty"`  // what that holds
	Was  *state `json:"was,omitempty"`  // the state before it; nil: the path does not exist
}

// What a step does.
const (
	stepPut    = "put"    // a file or link
	stepMkdir  = "mkdir"  // a directory, or one that is there
	stepChmod  = "chmod"  // the mode of a file
	stepRemove = "remove" // a name
	stepMode   = "mode"   // the final mode of a directory
)

// plan orders the steps of the changes that are not skipped: new files are put in place, then files that were
// there are exchanged, and then deleted files are removed, so that no failure or kill in between loses
// content that the tree still takes from the host. Modes of directories come last, from below: one may
// forbid to write.
func (a *applier) plan(changes []vfs.Change) []step {
	var steps []step
	gone := map[string]bool{}
	for _, kinds := range [][]vfs.ChangeKind{{vfs.Created, vfs.Retyped}, {vfs.Modified}} {
		for _, c := range changes {
			if a.canOmit(c) || !slices.Contains(kinds, c.Kind) {
				continue
			}
			if c.Kind == vfs.Retyped {
				steps = append(steps, a.makeRoom(c, gone)...)
			}
			steps = append(steps, a.placing(c))
		}
	}
	for _, c := range slices.Backward(changes) {
		if !a.canOmit(c) && c.Kind == vfs.Deleted && !gone[c.Path] {
			steps = append(steps, a.removal(c))
		}
	}
	for _, c := range slices.Backward(changes) {
		if !a.canOmit(c) && c.Kind != vfs.Deleted && c.New.IsDir() {
			steps = append(steps, step{Do: stepMode, Path: []byte(c.Path), Mode: uint32(c.New.Mode.Perm())})
		}
	}
	return steps
}

// makeRoom removes a file of another type; from a directory it first removes the deleted entries.
func (a *applier) makeRoom(c vfs.Change, gone map[string]bool) []step {
	var below []vfs.Change
	if c.Old.IsDir() {
		for _, d := range a.changes {
			if !a.canOmit(d) && d.Kind == vfs.Deleted && strings.HasPrefix(d.Path, c.Path+"/") {
				below = append(below, d)
				gone[d.Path] = true
			}
		}
	}
	slices.SortFunc(below, func(x, y vfs.Change) int { return strings.Compare(y.Path, x.Path) })
	var steps []step
	for _, d := range append(below, c) {
		steps = append(steps, a.removal(d))
	}
	return steps
}

func (a *applier) removal(c vfs.Change) step {
	return step{Do: stepRemove, Path: []byte(c.Path), Was: a.found(c.Path)}
}

// placing creates the file at the path of a change as it is in memory.
func (a *applier) placing(c vfs.Change) step {
	s := step{Path: []byte(c.Path), Mode: uint32(c.New.Mode.Perm())}
	switch made, ok := a.staged[c.Path]; {
	case ok:
		s.Do, s.File, s.Sum = stepPut, made.name, made.sum
	case c.New.IsDir():
		s.Do = stepMkdir
	default:
		s.Do = stepChmod
	}
	if c.Kind != vfs.Retyped { // else it is removed before
		s.Was = a.found(c.Path)
	}
	return s
}

// found returns the host's present state at a path; nil: nothing.
func (a *applier) found(p string) *state {
	info, err := a.lstat(p)
	if err != nil {
		return nil
	}
	s := newState(info)
	return &s
}

// doStep does a step.
func doStep(root *os.Root, dir string, s step) error {
	p, perm := string(s.Path), fs.FileMode(s.Mode).Perm()
	switch s.Do {
	case stepPut:
		return root.Rename(path.Join(dir, s.File), p)
	case stepMkdir:
		if err := root.Mkdir(p, perm|0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := root.Lstat(p); err != nil || !info.IsDir() {
			return errors.New("something else came in its place just now")
		}
		return nil
	case stepChmod, stepMode:
		return root.Chmod(p, perm)
	case stepRemove:
		if err := root.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return fmt.Errorf("unknown step %q", s.Do)
}

// lstat describes the file at a path, on the way to which no link is followed.
func lstat(root *os.Root, p string) (fs.FileInfo, error) {
	for i, c := range p {
		if c != '/' {
			continue
		}
		if info, err := root.Lstat(p[:i]); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory any more", p[:i])
		}
	}
	return root.Lstat(p)
}

// redoStep does a step that an Apply was killed before, in or after.
func redoStep(root *os.Root, dir string, s step) error {
	p := string(s.Path)
	info, err := lstat(root, p)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var is *state
	if err == nil {
		now := newState(info)
		is = &now
	}
	done := false
	switch s.Do {
	case stepPut:
		if _, err := root.Lstat(path.Join(dir, s.File)); errors.Is(err, fs.ErrNotExist) {
			done = true
		} else if sum, err := sumOf(root, path.Join(dir, s.File)); err != nil || sum != s.Sum {
			return errors.Join(errors.New("the prepared file has changed"), err)
		}
	case stepMkdir, stepMode:
		done = s.Do == stepMkdir && is != nil && info.IsDir()
		if s.Do == stepMode && (is == nil || !info.IsDir()) {
			return errChanged
		}
		s.Was = is
	case stepRemove:
		done = is == nil
	}
	if done {
		return nil
	}
	if (is == nil) != (s.Was == nil) || is != nil && *is != *s.Was {
		return errChanged
	}
	return doStep(root, dir, s)
}

var errChanged = errors.New("it was changed outside")
