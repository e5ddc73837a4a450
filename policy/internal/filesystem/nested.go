package filesystem

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
)

// nestedRules forbids the names that programs of the host obey in any directory, below roots. Open are the caches
// and agents'
// directories among them, as trees of dependencies are, and what a trusted layer makes writable by such a name.
func (f *Resolution) nestedRules(roots []string) nested.Rules {
	out := nested.Rules{Roots: roots, Names: preset.NestedNames, Dependencies: preset.DependencyDirs}
	names := nested.New(out)
	for path, r := range f.wide {
		if r.Access == ReadWrite && isCache(r) && names.Covers(path) {
			out.Open = append(out.Open, path)
		}
	}
	for _, r := range f.rules {
		if r.isExplicit() && names.Forbids(r.Path) != "" {
			out.Open = append(out.Open, append(slices.Clone(r.links), r.Path)...)
		}
	}
	slices.Sort(out.Open)
	out.Open = slices.Compact(out.Open)
	return out
}

// protectNested shields what exists of those names outside of projects, the directories where all names are shielded
// already. In
// the directory of a repository of Mercurial only its configuration names programs.
func (f *Resolution) protectNested(found, projects []string) {
	names := nested.New(f.nested)
	last := ""
	for _, path := range found {
		if names.Forbids(path) == "" || last != "" && hostpath.IsWithin(path, last) {
			continue
		}
		last = path
		dir, name := filepath.Dir(path), filepath.Base(path)
		if strings.EqualFold(name, preset.MercurialDir) {
			f.nested.Open = append(f.nested.Open, path)
			name = filepath.Join(name, filepath.Base(preset.MercurialConfig))
		}
		if !slices.Contains(projects, dir) {
			f.protectBelow(dir, name, "")
		}
	}
	slices.Sort(f.nested.Open)
}
