package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/nested"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// Review finds the changes on a copy of a workspace that the policy would have refused in the workspace itself. The isolation
// protects the copy as well, but an earlier command may have run with another policy or won a race against the guard. So files
// that the host obeys reach the workspace only when the user names them.
type Review struct {
	plan   *Plan
	nested *nested.Names
	named  []string        // absolute paths that the user named
	made   map[string]bool // absolute paths that the copy has, in lower case
	held   bool            // something was refused
}

// Changed is a path of a workspace that differs on a copy.
type Changed struct {
	Path     string // absolute
	Exists   bool   // on the copy
	Link     bool   // it is a symbolic link there
	Replaced bool   // the workspace's entry is deleted or replaced by one of another type
}

// repositoryParts are the names by which git recognizes a git directory.
var repositoryParts = []string{"HEAD", "objects", "refs", "commondir"}

// NewReview returns a review of changes, which are all of a copy. What is at or below a path of named is
// allowed.
func NewReview(plan *Plan, changes []Changed, named []string) *Review {
	r := &Review{plan: plan, nested: nested.New(nested.Rules(plan.Nested)), named: named, made: map[string]bool{}}
	for _, c := range changes {
		if c.Exists {
			r.made[strings.ToLower(c.Path)] = true
		}
	}
	return r
}

// IsHeld reports whether anything was refused so far.
func (r *Review) IsHeld() bool { return r.held }

// Refuse returns why a change must not be made in the workspace, "" when it may.
func (r *Review) Refuse(c Changed) string {
	why := r.judge(c)
	r.held = r.held || why != ""
	return why
}

func (r *Review) judge(c Changed) string {
	if slices.ContainsFunc(r.named, func(n string) bool { return hostpath.IsWithin(c.Path, n) }) {
		return ""
	}
	if g := r.plan.Guarded(c.Path); g != nil {
		return "the policy protects it (" + r.source(&r.plan.Rules[g.Rule]) + ")"
	}
	if access, rule := r.plan.Access(c.Path); access != ReadWrite {
		return "the policy makes it " + access.String() + " (" + r.source(rule) + ")"
	}
	switch {
	case c.Exists && c.Link && r.hasProtectedBelow(c.Path):
		return "a link there would point to something that the policy protects"
	case c.Replaced && r.isPinned(c.Path):
		return "the policy keeps it in its place"
	case c.Exists && r.isNewRepository(c.Path):
		return "it would make a new git repository"
	case c.Exists && r.nested.Forbids(c.Path) != "":
		return "the policy protects it (built in)"
	}
	return ""
}

func (r *Review) source(rule *Rule) string {
	switch {
	case rule == nil:
		return "built in"
	case rule.Source == "built in":
		return rule.Source
	}
	return rule.Pattern + " in " + rule.Source
}

// hasProtectedBelow reports whether something is protected below path.
func (r *Review) hasProtectedBelow(path string) bool {
	return slices.ContainsFunc(r.plan.Guards, func(g Guard) bool {
		return hostpath.IsWithin(g.Dir, path)
	})
}

func (r *Review) isPinned(path string) bool {
	return slices.ContainsFunc(r.plan.Mounts, func(m Mount) bool {
		return m.Path != r.plan.Workspace && hostpath.IsWithin(m.Path, path)
	})
}

// isNewRepository reports whether path belongs to a git directory that the workspace
// does not have yet: a .git, or a directory that looks like a bare repository.
func (r *Review) isNewRepository(path string) bool {
	if !slices.ContainsFunc(r.plan.NoRepos, func(root string) bool { return hostpath.IsWithin(path, root) }) {
		return false
	}
	for at := path; hostpath.IsWithin(at, r.plan.Workspace); at = filepath.Dir(at) {
		if strings.EqualFold(filepath.Base(at), ".git") && !pathExists(at) {
			return true
		}
	}
	for at := path; at != r.plan.Workspace && hostpath.IsWithin(at, r.plan.Workspace); at = filepath.Dir(at) {
		if dir := filepath.Dir(at); isPartOfRepository(filepath.Base(at)) && r.isNewBareRepository(dir) {
			return true
		}
	}
	return false
}

func isPartOfRepository(name string) bool {
	return slices.ContainsFunc(repositoryParts, func(part string) bool { return strings.EqualFold(part, name) })
}

// isNewBareRepository reports whether dir will have what makes git take it for a repository
// (gitrepository-layout(5)), and has not all of it now, or will be redirected.
func (r *Review) isNewBareRepository(dir string) bool {
	is := func(name string) bool { return pathExists(filepath.Join(dir, name)) }
	will := func(name string) bool { return is(name) || r.made[strings.ToLower(filepath.Join(dir, name))] }
	if !isRepository(will) {
		return false
	}
	return !isRepository(is) || will("commondir") && !is("commondir")
}

// isRepository reports whether git takes a directory with these names for a git directory.
func isRepository(has func(name string) bool) bool {
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
