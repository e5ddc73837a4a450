package stage

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sort"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	// maxPath is the longest path whose temporary name is shorter than PATH_MAX.
	maxPath = 3800
	// maxChanges bounds the memory that a hostile stage can use.
	maxChanges = 1 << 20
)

const (
	changedBelow = "changed in the workspace after the stage was made"
	goneBelow    = "deleted from the workspace after the stage was made"
)

// Diff returns the changes of the stage, ordered by path, a directory before its entries.
// While a command runs on the stage, the result may be inconsistent. Exhausted: there are more
// than 1,048,576 changes.
func (s *Stage) Diff() ([]Change, error) {
	if err := s.reload(); err != nil {
		return nil, err
	}
	d, err := s.openDiff()
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.run()
}

// differ compares a stage with its workspace.
type differ struct {
	stage   *Stage
	up, low *tree.Tree
	base    *baseline
	changes []Change
}

func (s *Stage) openDiff() (*differ, error) {
	if err := s.sameWorkspace(); err != nil {
		return nil, err
	}
	j, err := s.readJournal()
	if err != nil {
		return nil, err
	}
	d := &differ{stage: s}
	if d.low, err = tree.Open(s.Workspace, false); err != nil {
		return nil, err
	}
	if d.up, err = tree.Open(s.viewDir(), true); err != nil {
		d.low.Close()
		return nil, err
	}
	if d.base, err = s.baseline(d.low, j); err != nil {
		d.close()
		return nil, err
	}
	return d, nil
}

func (d *differ) close() {
	d.low.Close()
	d.up.Close()
}

// WritePatch is [patch.Sides.WritePatch] for the workspace and the stage.
func (s *Stage) WritePatch(w io.Writer, changes []Change) error {
	d, err := s.openDiff()
	if err != nil {
		return err
	}
	defer d.close()
	return d.sides().WritePatch(w, changes)
}

// CountLines is [patch.Sides.CountLines] for the workspace and the stage.
func (s *Stage) CountLines(changes []Change) ([]Lines, error) {
	d, err := s.openDiff()
	if err != nil {
		return nil, err
	}
	defer d.close()
	return d.sides().CountLines(changes)
}

func (d *differ) sides() patch.Sides { return patch.Sides{Old: d.low.Opened, New: d.up.Opened} }

func (d *differ) run() ([]Change, error) {
	d.changes = nil
	var err error
	if d.base.copy != nil {
		err = d.copied("")
	} else {
		err = d.overlaid("", true, false)
	}
	if err != nil {
		return nil, err
	}
	sort.Slice(d.changes, func(i, j int) bool { return tree.ComparePaths(d.changes[i].Path, d.changes[j].Path) < 0 })
	return d.changes, nil
}

func (d *differ) add(c Change) error {
	if len(d.changes) >= maxChanges {
		return sandbox.Errorf(sandbox.Exhausted, "more than %d changes in stage %s", maxChanges, d.stage.Name).
			WithHint("discard the stage")
	}
	d.changes = append(d.changes, c)
	return nil
}

// overlaid compares a directory of the upper tree. merged: the workspace also has this
// directory; opaque: entries of the workspace's directory are deleted unless they are in the
// upper tree.
func (d *differ) overlaid(dir string, merged, opaque bool) error {
	names, err := d.up.Names(dir)
	if errors.Is(err, fs.ErrPermission) {
		return d.unreadable(dir)
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := d.overEntry(tree.Join(dir, n), merged); err != nil {
			return err
		}
	}
	if !opaque {
		return nil
	}
	hidden, err := d.low.Names(dir)
	if err != nil {
		return err
	}
	for _, n := range hidden {
		if _, ok := slices.BinarySearch(names, n); !ok {
			if err := d.deleted(tree.Join(dir, n)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *differ) overEntry(path string, merged bool) error {
	up, err := d.lookUp(path)
	if err != nil || !up.Exists {
		return err
	}
	var low tree.Info
	if merged {
		if low, err = d.low.Lstat(path); err != nil {
			return err
		}
	}
	if up.IsWhiteout() {
		if !low.Exists {
			return nil
		}
		return d.deleted(path)
	}
	opaque, origin, err := d.marks(path, up, low)
	if err != nil {
		return err
	}
	if err := d.compare(path, up, low, origin); err != nil {
		return err
	}
	if len(path) > maxPath {
		return nil
	}
	if up.IsDir() {
		return d.overlaid(path, low.IsDir(), low.IsDir() && opaque)
	}
	if low.IsDir() {
		return d.deletedBelow(path)
	}
	return nil
}

// lookUp returns the status of an entry of the stage. If the mode of its directory forbids
// that, it reports the directory as unreadable.
func (d *differ) lookUp(path string) (tree.Info, error) {
	up, err := d.up.Lstat(path)
	if errors.Is(err, fs.ErrPermission) {
		return tree.Info{}, d.unreadable(tree.Parent(path))
	}
	return up, err
}

// marks reads the kernel's attributes of an upper entry.
func (d *differ) marks(path string, up, low tree.Info) (opaque, origin bool, err error) {
	switch {
	case up.IsDir():
		value, _, err := d.up.Attribute(path, true, "user.overlay.opaque")
		if errors.Is(err, fs.ErrPermission) {
			return false, false, nil // reported when its entries are read
		}
		if err != nil || low.Exists {
			return value == "y", false, err
		}
		_, origin, err = d.up.Attribute(path, true, "user.overlay.origin")
		return value == "y", origin && value != "y", err
	case up.IsFile() && !low.Exists:
		_, origin, err = d.up.Attribute(path, false, "user.overlay.origin")
		if errors.Is(err, fs.ErrPermission) {
			err = nil // reported when it is compared
		}
	}
	return false, origin, err
}

// unreadable reports a directory of the stage that cannot be read.
func (d *differ) unreadable(dir string) error {
	const why = "its mode in the stage forbids reading it"
	for i := range d.changes {
		if d.changes[i].Path == dir {
			d.changes[i].Never = why
			return nil
		}
	}
	up, err := d.up.Lstat(dir)
	if err != nil {
		return err
	}
	return d.add(Change{Path: dir, Kind: patch.Modified, Old: &Entry{Type: patch.Directory}, New: &Entry{Type: patch.Directory, Mode: up.Mode & 0o7777}, Never: why})
}

// copied compares a directory of the copy with its record.
func (d *differ) copied(dir string) error {
	names, err := d.up.Names(dir)
	if errors.Is(err, fs.ErrPermission) {
		return d.unreadable(dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
		return err
	}
	names = append(names, d.base.below[dir]...)
	slices.Sort(names)
	for _, n := range slices.Compact(names) {
		if err := d.copiedEntry(tree.Join(dir, n)); err != nil {
			return err
		}
	}
	return nil
}

func (d *differ) copiedEntry(path string) error {
	up, err := d.lookUp(path)
	if err != nil {
		return err
	}
	was, recorded := d.base.copy[path]
	low, err := d.low.Lstat(path)
	if err != nil {
		return err
	}
	switch {
	case !up.Exists && !recorded, !up.Exists && !low.Exists:
		return nil
	case !up.Exists:
		return d.deleted(path)
	}
	now := up.Fingerprint()
	same := recorded && was.Copy.IsSame(now)
	if up.IsDir() {
		same = recorded && was.Copy.Mode == now.Mode
	}
	if !same {
		if err := d.compare(path, up, low, false); err != nil {
			return err
		}
	}
	if up.IsDir() && len(path) <= maxPath {
		return d.copied(path)
	}
	if !same && low.IsDir() {
		return d.deletedBelow(path)
	}
	return nil
}

// deleted reports path and everything below it as deleted.
func (d *differ) deleted(path string) error {
	low, err := d.low.Lstat(path)
	if err != nil || !low.Exists {
		return err
	}
	old, err := entryOf(d.low, path, low)
	if err != nil {
		return err
	}
	c := Change{Path: path, Kind: patch.Deleted, Old: old, Never: neverReason(path)}
	if d.base.hasChanged(path, low) {
		c.Conflict = changedBelow
	}
	c.Binary = old.IsBinary(d.low.Opened, path)
	if err := d.add(c); err != nil || !low.IsDir() {
		return err
	}
	return d.deletedBelow(path)
}

func (d *differ) deletedBelow(dir string) error {
	names, err := d.low.Names(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // removing the directory itself will fail
	}
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := d.deleted(tree.Join(dir, n)); err != nil {
			return err
		}
	}
	return nil
}

func neverReason(path string) string {
	switch {
	case isReserved(path):
		return "names that begin with " + reserved + " are reserved"
	case len(path) > maxPath:
		return "the path is too long"
	case len(filepath.Base(path)) > 255:
		return "the name is too long"
	}
	return ""
}
