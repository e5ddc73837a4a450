package filesystem

import (
	"sort"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
)

// Access is the permitted use of a path. A smaller value grants less.
type Access int

// The kinds of access.
const (
	Exclude   Access = iota // hidden
	ReadOnly                // as on the host, read-only
	ReadWrite               // as on the host, writable
	Private                 // an empty writable file system of the sandbox's own
)

func (a Access) String() string {
	switch a {
	case Exclude:
		return "exclude"
	case ReadOnly:
		return "ro"
	case ReadWrite:
		return "rw"
	case Private:
		return "private"
	}
	return "unknown"
}

// Mount gives one path an access that differs from its parent's, or pins it.
type Mount struct {
	Path   string
	Access Access
	Dir    bool // directory or anything else
	Pin    bool // only here to make the path immovable
	Rule   int  // index into Plan.Rules
}

// Guard forbids to create an entry.
type Guard struct {
	Dir    string
	Name   string   // compared without regard to case; "*" is every name
	Except []string // with Name "*": names that are allowed; a trailing * matches any rest
	Rule   int      // index into Plan.Rules
}

func (g Guard) key() string {
	return strings.Join(append([]string{g.Dir, g.Name}, g.Except...), "\x00")
}

// Rule is one path rule of a layer, after presets, ~ and globs were expanded.
type Rule struct {
	Pattern string // as written
	Path    string // one path it stands for, resolved
	Access  Access
	Exact   bool   // written as a path, not a glob
	Layer   string // the name of the layer, or "protected"
	Preset  string // the preset that it came from; empty: none
	Source  string // where it was written
	Missing bool   // the path does not exist; the rule waits as a Guard or was skipped
	Applied bool   // whether it decides about Path
}

// Plan has the decisions about the host's file system.
type Plan struct {
	Rules   []Rule       // every rule that was considered, in order of precedence
	Mounts  []Mount      // parents before children, then by path; at most one a path
	Guards  []Guard      // by directory and name
	NoRepos []string     // roots below which no new git repository may appear
	Nested  nested.Rules // names that must not be created in any directory
	Sockets []string     // host Unix sockets that may be connected to

	Redacted []Redacted // files that are hidden for their credentials, whatever the rules say of them in the end
}

// Plan returns the decisions, sorted.
func (f *Resolution) Plan() Plan {
	sort.Slice(f.rules, func(i, j int) bool { return compareRules(f.rules[i], f.rules[j]) < 0 })
	index := make(map[*rule]int, len(f.rules))
	for i, r := range f.rules {
		index[r] = i
	}
	p := Plan{Mounts: f.mounts(index), Guards: f.guardList(index), NoRepos: f.norepos, Nested: f.nested, Sockets: f.sockets, Redacted: f.redacted, Rules: make([]Rule, len(f.rules))}
	for i, r := range f.rules { // the mounts and guards have marked those that are applied
		p.Rules[i] = r.Rule
	}
	return p
}
