package filesystem

import (
	"maps"
	"math"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// rankHidden is above every layer: nothing opens what it hides.
const rankHidden = math.MaxInt

// hideSecrets hides the files that hold secrets, of every layer: a secret that a later layer replaces is still secret.
func (f *Resolution) hideSecrets() error {
	for i := range f.layers {
		l := &f.layers[i]
		for _, name := range slices.Sorted(maps.Keys(l.Policy.Secrets)) {
			s := l.Policy.Secrets[name]
			key := "secrets." + name
			if _, err := f.hideFile(l, key+".from_file", s.FromFile, true); err != nil {
				return err
			}
			// Without another source the value comes from the file.
			root, err := f.hideFile(l, key+".file", s.File, !layer.HasSource(s))
			if err != nil {
				return err
			}
			if root != "" {
				return layer.Errorf(*l, key+".file", "%s: %s belongs to the sandbox", jsonc.Clip(s.File), root)
			}
		}
		if ca := l.Policy.Network.CA; ca != layer.EphemeralCA {
			if _, err := f.hideFile(l, "network.ca", ca, true); err != nil {
				return err
			}
		}
		// A command that can read the password of an upstream proxy could send it to any host that is allowed.
		if u, err := url.Parse(l.Policy.Network.Upstream); err == nil && u.User != nil && filepath.IsAbs(l.File) {
			if _, err := f.hideFile(l, "network.upstream", l.File, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// hideFile hides one file. Where it does not exist, a guard holds its name: a command
// must not choose the value for later runs. A file below a directory that the sandbox
// replaces is not seen inside anyway; that directory is returned.
func (f *Resolution) hideFile(l *sandbox.Layer, key, written string, guard bool) (root string, err error) {
	if written == "" {
		return "", nil
	}
	at, err := f.SecretFile(l, key, written)
	if err != nil {
		return "", err
	}
	if at.Blocked != "" {
		at.Path, at.Exists, at.Dir = at.Blocked, true, true
	}
	if root := hostpath.ReservedRoot(at.Path); root != "" {
		return root, nil
	}
	f.add(&rule{
		Rule: Rule{
			Pattern: written, Path: at.Path, Access: Exclude, Exact: true, Layer: "protected",
			Source: layer.Source(*l, key), Missing: !at.Exists,
		},
		rank: rankHidden, layer: -1, trusted: true, dir: at.Dir, guard: guard, links: at.Links,
	})
	return "", nil
}

// SecretFile resolves a file that holds a secret.
func (f *Resolution) SecretFile(l *sandbox.Layer, key, written string) (hostpath.Place, error) {
	path, err := hostpath.Anchor(written, f.Home, f.Dir)
	if err != nil {
		return hostpath.Place{}, layer.Errorf(*l, key, "%s: %w", jsonc.Clip(written), err)
	}
	at, err := f.look.Locate(path)
	switch {
	case err != nil:
		return hostpath.Place{}, layer.Errorf(*l, key, "%s: %w", jsonc.Clip(written), err)
	case at.Dir && at.Blocked == "":
		return hostpath.Place{}, layer.Errorf(*l, key, "%s is a directory, expected a file", jsonc.Clip(written))
	}
	// The host reads the file and acts on what is in it.
	if link := f.planted(at); link != "" {
		err := layer.Errorf(*l, key, "%s: %s is a link that a sandbox could have made, and leads to %s", jsonc.Clip(written), jsonc.OneLine(link), jsonc.OneLine(at.Path))
		err.Code = sandbox.Denied
		return hostpath.Place{}, err.WithHint("name %s itself if that is meant", shellword.Quote(at.Path))
	}
	return at, nil
}
