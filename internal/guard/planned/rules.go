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

// Rules are those of a plan whose paths stand for the same place inside, on a host whose files are all there
// read-only unless a mount says otherwise.
func Rules(plan *policy.Plan) guard.Rules {
	r := guard.Rules{
		NoRepos: paths(plan.NoRepos), Sockets: paths(plan.Sockets), Rest: guard.ReadOnly,
		Nested:  nestedNames(plan.Nested, paths(plan.Nested.Roots), paths(plan.Nested.Open)),
		Private: []guard.Path{"/run", "/dev/shm"}, Abstract: plan.Network.Mode == sandbox.NetworkHost,
		Names: make([]guard.Name, 0, len(plan.Guards)), Mounts: make([]guard.Mount, 0, len(plan.Mounts)),
	}
	for _, g := range plan.Guards {
		r.Names = append(r.Names, guard.Name{Dir: guard.Path(g.Dir), Name: guard.Path(g.Name), Except: paths(g.Except)})
	}
	for _, m := range plan.Mounts {
		r.Mounts = append(r.Mounts, guard.Mount{Path: guard.Path(m.Path), Access: access(m.Access), Pin: m.Pin})
	}
	return r
}

func access(a policy.Access) guard.Access {
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

func paths(list []string) []guard.Path {
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
	return guard.Nested{Roots: roots, Names: paths(n.Names), Dependencies: paths(n.Dependencies), Open: open}
}

// Contained are the rules of a plan for a container that has a file system of its own and mounts places of the
// host's. inside says where it has a path of the host's, as it is there; false: it has none, and what the plan says
// of that path concerns no command.
func Contained(plan *policy.Plan, inside func(host string) (string, bool)) guard.Rules {
	r := guard.Rules{Rest: guard.Private, Inside: true, Abstract: plan.Network.Mode == sandbox.NetworkHost}
	at := func(host string, add func(guard.Path)) {
		if path, ok := inside(host); ok {
			add(guard.Path(path))
		}
	}
	for _, g := range plan.Guards {
		at(g.Dir, func(dir guard.Path) {
			r.Names = append(r.Names, guard.Name{Dir: dir, Name: guard.Path(g.Name), Except: paths(g.Except)})
		})
	}
	for _, m := range plan.Mounts {
		at(m.Path, func(path guard.Path) {
			r.Mounts = append(r.Mounts, guard.Mount{Path: path, Access: access(m.Access), Pin: m.Pin})
		})
	}
	all := func(list []string) (out []guard.Path) {
		for _, path := range list {
			at(path, func(path guard.Path) { out = append(out, path) })
			if plan.Workspace != "" && path != plan.Workspace && nested.IsWithin(plan.Workspace, path) { // it can stand elsewhere inside
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
