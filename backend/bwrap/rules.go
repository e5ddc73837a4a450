//go:build linux

package bwrap

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
)

// guardRules answers, from a plan, whether an entry may come into being. It is
// immutable after newGuardRules and touches no file system.
type guardRules struct {
	names   map[string]map[string]*policy.Guard // directory → lower-case name → guard
	all     map[string]*policy.Guard            // directory → guard of every name
	under   []*policy.Guard                     // every guard, to find those below a directory
	fixed   map[string]bool                     // directories that protected paths lie in, at any depth
	mounted map[string]bool                     // paths that the sandbox mounts on
	noRepos []string

	delicates map[string]bool // lower-case names that are guarded anywhere
}

// repository is the set of names that make a directory a git repository
// (is_git_directory in gitrepository-layout(5)).
var repository = []string{"HEAD", "objects", "refs"}

// gitObeys are the files that git obeys in directories whose every entry is guarded.
var gitObeys = []string{"attributes", "exclude", "grafts", "sparse-checkout", "alternates"}

func newGuardRules(plan *policy.Plan) *guardRules {
	r := &guardRules{
		names: map[string]map[string]*policy.Guard{}, all: map[string]*policy.Guard{},
		fixed: map[string]bool{}, noRepos: plan.NoRepos, delicates: map[string]bool{},
		mounted: map[string]bool{},
	}
	if len(plan.NoRepos) > 0 {
		for _, name := range append([]string{".git", "commondir"}, repository...) {
			r.delicates[strings.ToLower(name)] = true
		}
	}
	for i := range plan.Guards {
		g := &plan.Guards[i]
		r.under = append(r.under, g)
		if g.Name == "*" {
			r.all[g.Dir] = g
			for _, name := range gitObeys {
				r.delicates[name] = true
			}
			continue
		}
		r.delicates[strings.ToLower(g.Name)] = true
		if r.names[g.Dir] == nil {
			r.names[g.Dir] = map[string]*policy.Guard{}
		}
		r.names[g.Dir][strings.ToLower(g.Name)] = g
	}
	for _, m := range plan.Mounts {
		r.mounted[m.Path] = true
		if m.Access == policy.ReadOnly || m.Access == policy.Exclude || m.Pin {
			for dir := filepath.Dir(m.Path); dir != "/" && !r.fixed[dir]; dir = filepath.Dir(dir) {
				r.fixed[dir] = true
			}
		}
	}
	return r
}

// guarded returns the guard that forbids name in dir, or nil.
func (r *guardRules) guarded(dir, name string) *policy.Guard {
	if g := r.names[dir][strings.ToLower(name)]; g != nil {
		return g
	}
	g := r.all[dir]
	if g == nil {
		return nil
	}
	for _, pattern := range g.Except {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return nil
		}
	}
	return g
}

// below returns what is guarded at or under the directory p, relative to p: the
// guarded entries, and directories whose every entry is; "" is p itself.
func (r *guardRules) below(p string) []string {
	var rest []string
	for _, g := range r.under {
		full := g.Dir + "/" + g.Name
		if g.Name == "*" {
			full = g.Dir
		}
		if full == p && g.Name == "*" {
			rest = append(rest, "")
		} else if strings.HasPrefix(full, p+"/") {
			rest = append(rest, full[len(p)+1:])
		}
	}
	return rest
}

// anchored reports whether p holds protected paths, so that moving it would
// leave their places free.
func (r *guardRules) anchored(p string) bool { return r.fixed[p] }

// reposRefused reports whether no new repository may appear at p.
func (r *guardRules) reposRefused(p string) bool {
	for _, root := range r.noRepos {
		if p == root || strings.HasPrefix(p, root+"/") || root == "/" {
			return true
		}
	}
	return false
}

// insideRepo reports whether dir lies in a git directory that exists already,
// whose own guards decide.
func insideRepo(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}
