package docker

import (
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/types/mount"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guard/planned"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/seccomp"
	"github.com/seed434b0696/agent-sandbox/policy"
)

// setup returns what the guest does before the first command. Mounts protect existing files; the guard inside protects names
// that must not be created, and sockets of the host in shown directories. The gateway's files are mounted over the rest.
func (p *prepared) setup(n *network, files []mount.Mount, reporter *planned.Reporter) (session.Setup, error) {
	all, err := p.views()
	if err != nil {
		return session.Setup{}, err
	}
	expected, err := p.expected(all, files)
	if err != nil {
		return session.Setup{}, err
	}
	rules := planned.Contained(p.plan, p.inside)
	known := map[guard.Path]bool{}
	for _, m := range rules.Mounts {
		known[m.Path] = true
	}
	for _, v := range all {
		if path := guard.Path(v.at); !known[path] {
			rules.Mounts = append(rules.Mounts, guard.Mount{Path: path, Access: accessOf(v.access)})
		}
	}
	rules.Names = append(rules.Names, p.checkout.names...)
	for _, m := range p.checkout.mounts {
		rules.Mounts = append(rules.Mounts, guard.Mount{Path: guard.Path(m.Target), Access: guard.ReadOnly})
	}
	for _, path := range append(p.wrappers(), layout.Root) {
		rules.Mounts = append(rules.Mounts, guard.Mount{Path: guard.Path(path), Access: guard.ReadOnly})
	}
	return session.Setup{
		Relays: n.relays(), Redirect: n.redirect(), Expect: expected, Guard: &rules,
		Deny: seccomp.DenyOptions{Userns: p.plan.Userns, Debuggers: p.plan.Debug, Dumpable: true},
		Refused: func(r guard.Refusal) {
			if r.Kind == guard.RefusedPath || r.Kind == guard.RefusedSocket {
				r.Target = p.outside(r.Target)
			}
			reporter.Refused(r)
		},
	}, nil
}

// guarded returns the host's paths of the names that must not be created, in the directories that the container shows.
func (p *prepared) guarded() []guard.Name {
	return slices.DeleteFunc(planned.Rules(p.plan).Names, func(n guard.Name) bool {
		_, shown := p.inside(string(n.Dir))
		return !shown
	})
}

// inspect reports guarded names that exist on the host now. It does not depend on the guard, which is a process inside. A user of
// the host may have created them, so the sandbox continues.
func (i *instance) inspect(h holding) {
	if h.watch == nil {
		return // it has not begun
	}
	for _, path := range h.watch.Look() {
		i.driver.options.Denied(i.plan.Appeared(path))
	}
}

// inspectAfter is the time between two inspections while a sandbox runs.
const inspectAfter = 10 * time.Second

// inspectUntil inspects the host at intervals.
func (i *instance) inspectUntil(h holding, done <-chan struct{}) {
	tick := time.NewTicker(inspectAfter)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			i.inspect(h)
		case <-done:
			return
		}
	}
}

// inside returns the path inside of a path of the host; false: the container does not show it.
func (p *prepared) inside(host string) (string, bool) {
	for _, root := range p.plan.Shown() {
		if isWithin(root, host) {
			return p.at(host), true
		}
	}
	return "", false
}

// outside is the reverse of inside, for messages.
func (p *prepared) outside(path string) string {
	if p.spec.Target == "" || p.plan.Workspace == "" || !isWithin(p.spec.Target, path) {
		return path
	}
	return p.plan.Workspace + strings.TrimPrefix(path, p.spec.Target)
}

func accessOf(a policy.Access) guard.Access {
	switch a {
	case policy.ReadWrite:
		return guard.ReadWrite
	case policy.Private:
		return guard.Private
	case policy.ReadOnly:
		return guard.ReadOnly
	case policy.Exclude:
	}
	return guard.Exclude
}
