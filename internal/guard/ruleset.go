//go:build linux

package guard

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
)

// ruleset decides whether an entry may be created. It is
// immutable after newRuleset and touches no file system.
type ruleset struct {
	names   map[string]map[string]*forbidden // directory → folded name → rule
	all     map[string]*forbidden            // directory → rule for every name
	above   map[string]bool                  // directories with a guarded name at any depth
	fixed   map[string]bool                  // directories that contain a protected path, at any depth
	mounted map[string]bool                  // mount points of the sandbox
	noRepos []string
	nested  *nested.Names
	mounts  []mount
	rest    Access
	sockets map[string]bool
	private []string // with a slash at the end
}

// forbidden is a compiled [Name], and mount a compiled [Mount].
type forbidden struct {
	dir, name string
	except    []string
}

type mount struct {
	path   string
	access Access
}

func newRuleset(rules Rules) *ruleset {
	r := &ruleset{
		names: map[string]map[string]*forbidden{}, all: map[string]*forbidden{},
		fixed: map[string]bool{}, noRepos: pathStrings(rules.NoRepos), nested: rules.Nested.compile(),
		mounted: map[string]bool{}, above: map[string]bool{}, rest: rules.Rest, sockets: map[string]bool{},
	}
	for _, s := range rules.Sockets {
		r.sockets[string(s)] = true
	}
	for _, p := range rules.Private {
		r.private = append(r.private, string(p)+"/")
	}
	for _, n := range rules.Names {
		g := &forbidden{string(n.Dir), string(n.Name), pathStrings(n.Except)}
		for dir := g.dir; !r.above[dir]; dir = filepath.Dir(dir) {
			r.above[dir] = true
		}
		if g.name == "*" {
			r.all[g.dir] = g
			continue
		}
		if r.names[g.dir] == nil {
			r.names[g.dir] = map[string]*forbidden{}
		}
		r.names[g.dir][nested.Fold(g.name)] = g
	}
	for _, open := range rules.Nested.Open {
		for dir := filepath.Dir(string(open)); !r.above[dir]; dir = filepath.Dir(dir) {
			r.above[dir] = true
		}
		r.fix(string(open)) // if the directory moved, the rule for its old path would no longer cover it
	}
	for _, m := range rules.Mounts {
		path := string(m.Path)
		r.mounts = append(r.mounts, mount{path, m.Access})
		r.mounted[path] = true
		if m.Access == ReadOnly || m.Access == Exclude || m.Pin {
			r.fix(path)
		}
	}
	return r
}

// fix forbids to move the directories above path.
func (r *ruleset) fix(path string) {
	for dir := filepath.Dir(path); dir != "/" && !r.fixed[dir]; dir = filepath.Dir(dir) {
		r.fixed[dir] = true
	}
}

// nestedRefused reports whether programs of the host would obey a new entry at this path,
// so that the guard refuses it.
func (r *ruleset) nestedRefused(path string) bool {
	return r.nested.Forbids(path) != "" && r.access(filepath.Dir(path)) == ReadWrite
}

// access returns the permitted access to path.
func (r *ruleset) access(path string) Access {
	access, at := r.rest, -1
	for i := range r.mounts {
		if m := &r.mounts[i]; len(m.path) > at && isWithin(path, m.path) {
			access, at = m.access, len(m.path)
		}
	}
	return access
}

// readOnly reports whether a mount makes path read-only, or hides it.
func (r *ruleset) readOnly(path string) bool {
	access := r.access(path)
	return (access == ReadOnly || access == Exclude) && !isBelowAny(path, uninteresting)
}

// isWithin reports whether path is root or lies below it.
func isWithin(path, root string) bool {
	return path == root || root == "/" || strings.HasPrefix(path, root) && path[len(root)] == '/'
}

// ownSocket reports whether the socket at path belongs to the sandbox.
func (r *ruleset) ownSocket(path string) bool {
	for _, private := range r.private {
		if len(path) > len(private) && path[:len(private)] == private {
			return true
		}
	}
	return r.access(path) == Private
}

// guarded returns the rule that forbids name in dir, or nil.
func (r *ruleset) guarded(dir, name string) *forbidden {
	if g := r.names[dir][nested.Fold(name)]; g != nil {
		return g
	}
	g := r.all[dir]
	if g == nil {
		return nil
	}
	for _, pattern := range g.except {
		if ok, err := path.Match(pattern, name); err == nil && ok {
			return nil
		}
	}
	return g
}

// anchored reports whether p contains protected paths, which a move of p would leave
// without protection.
func (r *ruleset) anchored(p string) bool { return r.fixed[p] }

// reposRefused reports whether no new repository may appear at p.
func (r *ruleset) reposRefused(p string) bool {
	for _, root := range r.noRepos {
		if p == root || strings.HasPrefix(p, root+"/") || root == "/" {
			return true
		}
	}
	return false
}
