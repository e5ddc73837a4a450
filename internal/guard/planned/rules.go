// Package planned converts a policy's plan to the rules of a guard, and refusals of the guard to denials with the
// rule of the policy. The guard itself does not import policies, because the guest contains it.
package planned

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/nested"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Rules returns the rules of a plan for a sandbox that has the host's files at the host's paths, read-only unless a
// mount changes that.
func Rules(plan *policy.Plan) guard.Rules {
	r := guard.Rules{
		NoRepos: guardPaths(plan.NoRepos), Sockets: guardPaths(plan.Sockets), Rest: guard.ReadOnly,
		Nested:  nestedNames(plan.Nested, guardPaths(plan.Nested.Roots), guardPaths(plan.Nested.Open)),
		Private: []guard.Path{"/run", "/dev/shm"}, Abstract: plan.Network.Mode == sandbox.NetworkHost,
		Names: make([]guard.Name, 0, len(plan.Guards)), Mounts: make([]guard.Mount, 0, len(plan.Mounts)),
	}
	for _, g := range plan.Guards {
		r.Names = append(r.Names, guard.Name{Dir: guard.Path(g.Dir), Name: guard.Path(g.Name), Except: guardPaths(g.Except)})
	}
	for _, m := range plan.Mounts {
		access := accessOf(m.Access)
		if plan.KeepTmp && m.Path == "/tmp" {
			// It is a directory of the host: a socket there can be that of a program which a link has led into it.
			access = guard.ReadWrite
		}
		r.Mounts = append(r.Mounts, guard.Mount{Path: guard.Path(m.Path), Access: access, Pin: m.Pin})
	}
	return r
}

func accessOf(a policy.Access) guard.Access {
	switch a {
	case policy.ReadOnly:
		return guard.ReadOnly
	case policy.ReadWrite:
		return guard.ReadWrite
	case policy.Private:
		return guard.Private
	case policy.Exclude:
	}
	return guard.Exclude
}

func guardPaths(list []string) []guard.Path {
	var out []guard.Path
	for _, p := range list {
		out = append(out, guard.Path(p))
	}
	return out
}

func nestedNames(n policy.NestedNames, roots, open []guard.Path) guard.Nested {
	if len(roots) == 0 {
		return guard.Nested{}
	}
	return guard.Nested{Roots: roots, Names: guardPaths(n.Names), Dependencies: guardPaths(n.Dependencies), Open: open}
}

// Contained returns the rules of a plan for a container that has its own file system and mounts directories of the
// host. inside translates a path of the host to the path in the container; false: the container does not have it,
// and rules for that path have no effect.
func Contained(plan *policy.Plan, inside func(host string) (string, bool)) guard.Rules {
	r := guard.Rules{Rest: guard.Private, Inside: true, Abstract: plan.Network.Mode == sandbox.NetworkHost}
	at := func(host string, add func(guard.Path)) {
		if path, ok := inside(host); ok {
			add(guard.Path(path))
		}
	}
	for _, g := range plan.Guards {
		at(g.Dir, func(dir guard.Path) {
			r.Names = append(r.Names, guard.Name{Dir: dir, Name: guard.Path(g.Name), Except: guardPaths(g.Except)})
		})
	}
	for _, m := range plan.Mounts {
		at(m.Path, func(path guard.Path) {
			r.Mounts = append(r.Mounts, guard.Mount{Path: path, Access: accessOf(m.Access), Pin: m.Pin})
		})
	}
	all := func(list []string) (out []guard.Path) {
		for _, path := range list {
			at(path, func(path guard.Path) { out = append(out, path) })
			if plan.Workspace != "" && path != plan.Workspace && nested.IsWithin(plan.Workspace, path) { // its path inside can differ
				at(plan.Workspace, func(path guard.Path) { out = append(out, path) })
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	r.NoRepos = all(plan.NoRepos)
	r.Nested = nestedNames(plan.Nested, all(plan.Nested.Roots), all(plan.Nested.Open))
	for _, socket := range plan.Sockets {
		if socket != "" && socket[0] == '@' {
			r.Sockets = append(r.Sockets, guard.Path(socket))
			continue
		}
		at(socket, func(path guard.Path) { r.Sockets = append(r.Sockets, path) })
	}
	return r
}
