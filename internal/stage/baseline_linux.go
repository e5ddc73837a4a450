package stage

import (
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
)

// baseline describes the state of the workspace at the creation of the stage.
type baseline struct {
	created int64                           // of an overlay
	known   pathMap[tree.Fingerprint]       // entries that Apply itself has written
	touched map[string]bool                 // entries that an interrupted Apply may have changed
	copy    manifest                        // of a copy; nil for an overlay
	below   map[string][]string             // the names in each directory of the copy
	seen    func(string) (tree.Info, error) // Lstat of the workspace
}

func (s *Stage) baseline(low *tree.Tree, j *journal) (*baseline, error) {
	b := &baseline{created: s.data.Created, known: s.data.Known, touched: map[string]bool{}, seen: low.Lstat}
	if j != nil {
		for _, op := range j.Operations {
			b.touched[string(op.Path)] = true
		}
		for _, dir := range j.Touched {
			b.touched[string(dir)] = true
		}
	}
	if s.Kind == Overlay {
		return b, nil
	}
	if err := readJSON(filepath.Join(s.dir, manifestFile), &b.copy); err != nil {
		return nil, err
	}
	b.below = map[string][]string{}
	for path := range b.copy {
		dir := tree.Parent(path)
		b.below[dir] = append(b.below[dir], path[len(dir):])
	}
	for dir, names := range b.below {
		for i := range names {
			if dir != "" {
				names[i] = names[i][1:] // length of the slash
			}
		}
	}
	return b, nil
}

// hasChanged reports whether low, the entry at path in the workspace, was replaced or changed
// since.
func (b *baseline) hasChanged(path string, low tree.Info) bool {
	if b.touched[path] {
		return false
	}
	if b.copy != nil {
		was, ok := b.copy[path]
		if ok && low.IsDir() {
			return was.Low.Mode != low.Mode
		}
		return !ok || !was.Low.IsSame(low.Fingerprint())
	}
	if was, ok := b.known[path]; ok && was.IsSame(low.Fingerprint()) {
		return false
	}
	return low.Ctim.Nano() >= b.created
}

// vanished reports whether path, which the workspace does not have now, was in it. origin:
// the entry has the overlay's mark of entries that were copied up from the workspace. A
// renamed file keeps the mark, so for files vanished checks the parent directory; a directory
// with the mark cannot be renamed.
func (b *baseline) vanished(path string, up tree.Info, origin bool) (bool, error) {
	if b.touched[path] {
		return false, nil
	}
	if b.copy != nil {
		_, ok := b.copy[path]
		return ok, nil
	}
	if !origin || up.IsDir() {
		return origin, nil
	}
	parent := tree.Parent(path)
	dir, err := b.seen(parent)
	return !dir.IsDir() || b.hasChanged(parent, dir), err
}
