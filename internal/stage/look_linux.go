package stage

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
)

// Seen is an entry of a view, see [Stage.Look].
type Seen struct {
	Type patch.Type
	Host string // its path on the host, in the workspace or in the stage's directory
}

// Look returns the entry of the view at path, which is clean and relative to the workspace; nil if none
// exists. It does not follow links, so a path through a link does not exist. The result is exact while
// the caller uses the stage and no command runs on it.
func (s *Stage) Look(path string) (*Seen, error) {
	up, err := tree.Open(s.viewDir(), true)
	if err != nil {
		return nil, err
	}
	defer up.Close()
	if s.Kind != Overlay {
		return s.seen(up, s.viewDir(), path)
	}
	low, err := tree.Open(s.Workspace, false)
	if err != nil {
		return nil, err
	}
	defer low.Close()
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '/' {
			continue
		}
		st, err := up.Lstat(path[:end])
		switch {
		case err != nil:
			return nil, err
		case st.IsWhiteout():
			return nil, nil
		case !st.Exists:
			return s.seen(low, s.Workspace, path)
		case end == len(path) || !st.IsDir():
			return s.seen(up, s.viewDir(), path)
		}
		covered, err := hides(up, low, path[:end])
		if err != nil {
			return nil, err
		}
		if covered {
			return s.seen(up, s.viewDir(), path)
		}
	}
	return nil, nil
}

// hides reports whether the upper directory dir hides all entries of the workspace's.
func hides(up, low *tree.Tree, dir string) (bool, error) {
	st, err := low.Lstat(dir)
	if err != nil || !st.IsDir() {
		return true, ignoreMissing(err)
	}
	value, _, err := up.Attribute(dir, true, "user.overlay.opaque")
	return value == "y", err
}

// seen returns the entry at path in one tree.
func (s *Stage) seen(t *tree.Tree, root, path string) (*Seen, error) {
	st, err := t.Lstat(path)
	if err != nil || !st.Exists || st.IsWhiteout() {
		return nil, ignoreMissing(err)
	}
	return &Seen{Type: st.Kind(), Host: filepath.Join(root, path)}, nil
}

// ignoreMissing returns nil for an error that means a missing path or a link on the path.
func ignoreMissing(err error) error {
	if errors.Is(err, unix.ELOOP) {
		return nil
	}
	return err
}

// IsPristine reports whether the view has no changes: no command wrote to it, or all changes were
// applied. It returns false on an error.
func (s *Stage) IsPristine() bool {
	if s.Kind != Overlay {
		changes, err := s.Diff()
		return err == nil && len(changes) == 0
	}
	up, err := tree.Open(s.viewDir(), true)
	if err != nil {
		return false
	}
	defer up.Close()
	names, err := up.Names("")
	return err == nil && len(names) == 0
}

// Own returns the path on the host of the file that commands wrote at path. The file does not exist if
// the view has not changed path.
func (s *Stage) Own(path string) string { return filepath.Join(s.viewDir(), path) }
