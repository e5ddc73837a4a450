package filesystem

import (
	"cmp"
	"slices"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// Ranks of the built-in layers; the layers of the Spec follow from rankFirst.
const (
	rankPreset    = iota // presets and the private file systems
	rankProtected        // protections inside writable directories
	rankFirst            // the first layer
)

// rule is a Rule on its way into a plan.
type rule struct {
	Rule
	rank    int      // its layer; greater wins at the same path
	seq     int      // order of creation, the last resort of determinism
	layer   int      // index into the layers; -1: built in
	key     string   // the list it was written in: "filesystem.rw"
	entry   int      // its index there
	trusted bool     // of a layer that may widen
	dir     bool     // the path is a directory
	guard   bool     // when Missing, the path must not be created
	pin     bool     // the path must not be renamed
	links   []string // symbolic links on the way to Path
}

// isExplicit reports whether a trusted layer makes exactly this path writable:
// only that lifts a protection.
func (r *rule) isExplicit() bool {
	return r.Access == ReadWrite && r.Exact && r.Preset == "" && r.trusted && r.rank >= rankFirst
}

// compareRules orders by precedence: deeper paths first; at one path what exists,
// then an exact path before a glob, the later layer, and within a layer exclude
// before ro before rw.
func compareRules(a, b *rule) int {
	return cmp.Or(
		cmp.Compare(hostpath.Depth(b.Path), hostpath.Depth(a.Path)),
		cmp.Compare(a.Path, b.Path),
		compareBool(b.Exact, a.Exact),
		cmp.Compare(b.rank, a.rank),
		cmp.Compare(a.Access, b.Access),
		compareBool(a.pin, b.pin),
		cmp.Compare(a.seq, b.seq),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// tree maps paths to the rule that decides about each. A path without an entry has the rule of its nearest ancestor with one;
// without such an ancestor it is read-only, as the root is.
type tree map[string]*rule

// decide picks the winner at each path among the rules for which use is true.
func decide(rules []*rule, use func(*rule) bool) tree {
	t := make(tree, len(rules))
	for _, r := range rules {
		if !use(r) {
			continue
		}
		if old, ok := t[r.Path]; !ok || compareRules(r, old) < 0 {
			t[r.Path] = r
		}
	}
	return t
}

// at returns the rule that decides about path, or nil for the root.
func (t tree) at(path string) *rule {
	for {
		if r, ok := t[path]; ok {
			return r
		}
		if path == "/" {
			return nil
		}
		path = hostpath.Parent(path)
	}
}

// access returns what path may be used for.
func (t tree) access(path string) Access {
	if r := t.at(path); r != nil {
		return r.Access
	}
	return ReadOnly
}

// parent returns the access of what surrounds path.
func (t tree) parent(path string) Access {
	if path == "/" {
		return ReadOnly
	}
	return t.access(hostpath.Parent(path))
}

// paths returns the paths with a rule, sorted; so parents come before children.
func (t tree) paths() []string {
	out := make([]string, 0, len(t))
	for p := range t {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
