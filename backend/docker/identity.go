package docker

import (
	"errors"

	"github.com/moby/moby/api/types/mount"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// errLink means that a path contains a symbolic link.
var errLink = errors.New("a part of the path is a symbolic link")

// expected returns the files that must be at the mounts of the host's paths inside. The engine follows links, as root, and
// another sandbox may replace a directory by a link after the plan was made; so the guest compares the files before the first
// command. A file of the gateway must be where it covers one of the host, which holds a secret.
func (p *prepared) expected(all []view, files []mount.Mount) ([]session.Identity, error) {
	var out []session.Identity
	add := func(source, path string) error {
		e := session.Identity{Path: guard.Path(path)}
		if p.sameKernel && source != "" { // an engine in a virtual machine shows other numbers
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
		if over[v.at] {
			continue
		}
		source := v.path
		switch v.access {
		case policy.Private:
			source = "" // a tmpfs, created inside
		case policy.Exclude:
			var err error
			if source, err = p.driver.hidden(v.dir); err != nil {
				return nil, err
			}
		case policy.ReadOnly, policy.ReadWrite:
		}
		if err := add(source, v.at); err != nil {
			return nil, err
		}
	}
	for _, s := range p.plan.Sockets {
		if err := add(s, p.at(s)); err != nil {
			return nil, err
		}
	}
	return append(out, p.checkout.files...), nil
}
