package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/stage"
)

// protections say which changes of a stage the policy would not have let a command
// make in the workspace itself. The walls hold in a stage too, but an earlier command
// may have had others, and whoever wins a race against them wins no more than the
// stage: what the host obeys goes into the workspace only when the user names it.
type protections struct {
	plan  *policy.Plan
	named []string        // absolute paths that the user named
	made  map[string]bool // absolute paths that the stage has
	held  bool            // something was refused
}

// repository is the set of names by which git knows a directory of its own.
var repository = []string{"HEAD", "objects", "refs"}

func newProtections(spec sandbox.Spec, changes []stage.Change, named []string) (*protections, error) {
	plan, err := policy.Resolve(spec)
	if err != nil {
		return nil, err
	}
	p := &protections{plan: plan, named: named, made: map[string]bool{}}
	for _, c := range changes {
		if c.New != nil {
			p.made[strings.ToLower(filepath.Join(plan.Workspace, c.Path))] = true
		}
	}
	return p, nil
}

// refuse is stage.ApplyOptions.Refuse.
func (p *protections) refuse(path string, c stage.Change) string {
	why := p.judge(path, c)
	p.held = p.held || why != ""
	return why
}

func (p *protections) judge(path string, c stage.Change) string {
	if slices.ContainsFunc(p.named, func(n string) bool { return within(path, n) }) {
		return ""
	}
	if g := p.plan.Guarded(path); g != nil {
		return "the policy protects it (" + p.source(&p.plan.Rules[g.Rule]) + ")"
	}
	if access, rule := p.plan.Access(path); access != policy.ReadWrite {
		return "the policy makes it " + access.String() + " (" + p.source(rule) + ")"
	}
	switch {
	case c.New != nil && c.New.Type == stage.Symlink && p.leads(path):
		return "a link there would lead to where the policy protects something"
	case c.Kind != stage.Modified && c.Kind != stage.Created && p.pinned(path):
		return "the policy keeps it in its place"
	case c.New != nil && p.makesRepository(path):
		return "it would make a new git repository"
	}
	return ""
}

func (p *protections) source(r *policy.Rule) string {
	switch {
	case r == nil:
		return "built in"
	case r.Source == "built in":
		return r.Source
	}
	return r.Pattern + " in " + r.Source
}

// leads reports whether something is protected below path.
func (p *protections) leads(path string) bool {
	return slices.ContainsFunc(p.plan.Guards, func(g policy.Guard) bool {
		return within(g.Dir, path)
	})
}

func (p *protections) pinned(path string) bool {
	return slices.ContainsFunc(p.plan.Mounts, func(m policy.Mount) bool {
		return m.Path != p.plan.Workspace && within(m.Path, path)
	})
}

// makesRepository reports whether path belongs to a git directory that the workspace
// does not have yet: a .git, or a directory that looks like a bare repository.
func (p *protections) makesRepository(path string) bool {
	if !slices.ContainsFunc(p.plan.NoRepos, func(root string) bool { return within(path, root) }) {
		return false
	}
	inside := false
	for at := path; within(at, p.plan.Workspace); at = filepath.Dir(at) {
		if strings.EqualFold(filepath.Base(at), ".git") {
			if inside = exists(at); !inside {
				return true
			}
		}
	}
	if inside {
		return false // of one that is there, whose own rules decide
	}
	for at := path; at != p.plan.Workspace && within(at, p.plan.Workspace); at = filepath.Dir(at) {
		if dir := filepath.Dir(at); p.partOfRepository(filepath.Base(at)) && p.looksBare(dir) {
			return true
		}
	}
	return false
}

func (p *protections) partOfRepository(name string) bool {
	return strings.EqualFold(name, "commondir") ||
		slices.ContainsFunc(repository, func(part string) bool { return strings.EqualFold(part, name) })
}

// looksBare reports whether dir will have what makes git take it for a repository
// (gitrepository-layout(5)), and has not all of it now.
func (p *protections) looksBare(dir string) bool {
	has := func(name string) bool {
		return exists(filepath.Join(dir, name)) || p.made[strings.ToLower(filepath.Join(dir, name))]
	}
	all := !slices.ContainsFunc(repository, func(name string) bool { return !has(name) })
	was := !slices.ContainsFunc(repository, func(name string) bool { return !exists(filepath.Join(dir, name)) })
	return (all || has("commondir") && has("HEAD")) && !was
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
