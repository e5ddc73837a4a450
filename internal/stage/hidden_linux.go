package stage

import (
	"github.com/seed434b0696/agent-sandbox/internal/gitindex"
	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
)

// Hidden returns the paths of files whose changes git does not show: a git index among
// changes marks them so, and the index in the workspace does not. The paths are relative
// to the index's repository.
func (s *Stage) Hidden(changes []Change) ([]string, error) {
	d, err := s.openDiff()
	if err != nil {
		return nil, err
	}
	defer d.close()
	var names []string
	for _, c := range changes {
		if c.New != nil && gitindex.IsIndex(c.Path) {
			names = append(names, gitindex.New(hiddenIn(d.low, c.Path), hiddenIn(d.up, c.Path))...)
		}
	}
	return names, nil
}

// hiddenIn returns nil for a file that is not an index, which git does not read either.
func hiddenIn(t *tree.Tree, path string) []string {
	f, err := t.Opened(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return gitindex.HiddenOf(f)
}
