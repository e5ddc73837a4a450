package docker

import (
	"errors"

	"github.com/moby/moby/api/types/mount"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// errLink says that a name leads elsewhere.
var errLink = errors.New("a symbolic link stands on the way")

// expected is what has to stand inside where something of the host is mounted. The engine follows links, as root, and
// another sandbox may put one where the plan saw a directory; so the guest compares before the first command. A file of
// the gateway's has to stand where it covers one of the host: that one is a secret.
func (p *prepared) expected(all []view, files []mount.Mount) ([]session.Identity, error) {
	var out []session.Identity
	add := func(source, path string) error {
		e := session.Identity{Path: guard.Path(path)}
		if p.sameKernel && source != "" { // an engine in a machine of its own shows other numbers
			var err error
			if e.Dev, e.Ino, err = identity(source); err != nil {
				return sandbox.Errorf(sandbox.Denied, "%q changed while the sandbox started: %w", source, err).
					WithHint("something else changes the workspace, another sandbox perhaps: end it, or try again")
			}
		}
		out = append(out, e)
		return nil
	}
	over := map[string]bool{}
	for _, f := range files {
		over[f.Target] = true
		if err := add(f.Source, f.Target); err != nil {
			return nil, err
		}
	}
	for _, v := range all {
		if over[p.at(v.path)] {
			continue
		}
		source := v.path
		switch v.access {
		case policy.Private:
			source = "" // a tmpfs, made there
		case policy.Exclude:
			var err error
			if source, err = p.driver.hidden(v.dir); err != nil {
				return nil, err
			}
		case policy.ReadOnly, policy.ReadWrite:
		}
		if err := add(source, p.at(v.path)); err != nil {
			return nil, err
		}
	}
	for _, s := range p.plan.Sockets {
		if err := add(s, p.at(s)); err != nil {
			return nil, err
		}
	}
	return out, nil
}
