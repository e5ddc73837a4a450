package policy

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy/internal/filesystem"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/program"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Secret is a secret of a plan, without its value: the driver fetches the value
// right before it starts the sandbox, makes a placeholder, and gives both to the proxy.
type Secret struct {
	Name string

	// Exactly one of these is set.
	FromEnv     string   // a variable of the host's environment
	FromFile    string   // absolute and resolved; equals File when the whole file is the value
	FromCommand []string // the program's path is absolute and not writable inside

	Env    string // the variable inside that gets the placeholder; empty: none
	File   string // absolute and resolved: to be covered, after all mounts, by its content with the placeholder in the value's place; several secrets may name one file; empty: none
	Hosts  []string
	Header string // empty: all

	Layer   string // the name of the layer
	Source  string // where it was written
	Missing string // why this host has no value, or no File to cover: such a secret is left out; empty: it has one
}

// The reasons for which a variable is dropped because of a secret.
const (
	whyPlaceholder = "a secret: only its placeholder goes inside"
	whySecretHeld  = "it holds the value of the secret "
)

// minSecretLength is the length from which another variable that contains the value is taken for the secret: many variables
// contain "1".
const minSecretLength = 8

// layeredSecret is a secret, and the last layer that defines it.
type layeredSecret struct {
	sandbox.Secret

	name  string
	layer *sandbox.Layer
}

func (s *layeredSecret) key() string { return "secrets." + s.name }

// layeredSecrets returns the secrets by name.
func layeredSecrets(layers []sandbox.Layer) []layeredSecret {
	last := map[string]layeredSecret{}
	for i := range layers {
		for name, s := range layers[i].Policy.Secrets {
			last[name] = layeredSecret{Secret: s, name: name, layer: &layers[i]}
		}
	}
	out := make([]layeredSecret, 0, len(last))
	for _, name := range slices.Sorted(maps.Keys(last)) {
		out = append(out, last[name])
	}
	return out
}

// secretResolver finds the sources of secrets on a host.
type secretResolver struct {
	*filesystem.Resolution

	layers []sandbox.Layer
}

// resolve writes the secrets into p, and takes their values out of its
// environment.
func (r secretResolver) resolve(p *Plan, n *network) error {
	if err := r.resolveCA(p, n); err != nil {
		return err
	}
	for _, from := range layeredSecrets(r.layers) {
		if p.Network.Mode == sandbox.NetworkHost {
			return layer.Errorf(*from.layer, from.key(), "found a secret beside the host's network, expected an allow-list").
				WithHint("only the proxy of an allow-list can put a value in: name the hosts with --allow, or leave the secret out")
		}
		s, err := r.resolveSecret(p, &from)
		if err != nil {
			return err
		}
		if err := checkClash(p.Secrets, s, &from); err != nil {
			return err
		}
		p.Secrets = append(p.Secrets, s)
		// The proxy can put a value into TLS only with a CA. Only the bound hosts are inspected.
		https := slices.ContainsFunc(s.Hosts, func(h string) bool { return !strings.HasPrefix(h, "http://") })
		if p.Network.Mode == sandbox.NetworkAllow && p.Network.CA == "" && https && s.Missing == "" {
			p.Network.CA = EphemeralCA
			p.NetworkRules = append(p.NetworkRules, NetworkRule{List: "ca", Rule: EphemeralCA, Layer: s.Layer, Source: s.Source})
		}
	}
	r.removeVariables(p)
	return nil
}

func (r secretResolver) resolveCA(p *Plan, n *network) error {
	if p.Network.CA == "" || p.Network.CA == EphemeralCA {
		return nil
	}
	at, err := r.SecretFile(n.caLayer, "network.ca", p.Network.CA)
	if err != nil {
		return err
	}
	if why := missingFile(at); why != "" {
		err := layer.Errorf(*n.caLayer, "network.ca", "%s", why)
		err.Code = sandbox.NotFound
		return err
	}
	p.Network.CA = at.Path
	for i := range p.NetworkRules {
		if rule := &p.NetworkRules[i]; rule.List == "ca" {
			rule.Rule = at.Path
		}
	}
	return nil
}

func missingFile(at hostpath.Place) string {
	switch {
	case at.Blocked != "":
		return "permission denied in " + jsonc.OneLine(at.Blocked)
	case !at.Exists:
		return jsonc.OneLine(at.Path) + " does not exist"
	}
	return ""
}

// resolveSecret finds the source of one secret. What a flag asks for must be there; a
// file may list more than this host has.
func (r secretResolver) resolveSecret(p *Plan, from *layeredSecret) (Secret, error) {
	s := Secret{
		Name: from.name, FromEnv: from.FromEnv, Env: from.Env, Hosts: slices.Clone(from.Hosts), Header: from.Header,
		Layer: from.layer.Name, Source: layer.Source(*from.layer, from.key()),
	}
	if s.Env == "" && from.File == "" {
		s.Env = s.Name
	}
	if err := r.secretPlaces(&s, from); err != nil {
		return s, err
	}
	var err error
	switch {
	case s.FromFile != "":
	case len(from.FromCommand) > 0:
		s.FromCommand, err = r.secretCommand(p, from)
		if err == nil && s.FromCommand == nil {
			s.FromCommand, s.Missing = from.FromCommand, "there is no program "+jsonc.OneLine(from.FromCommand[0])
		}
	default:
		if s.FromEnv == "" {
			s.FromEnv = s.Name
		}
		if strings.TrimSpace(r.Env[s.FromEnv]) == "" {
			s.Missing = "the host has no variable " + jsonc.OneLine(s.FromEnv)
		}
	}
	if err == nil && s.Missing != "" && s.Layer == LayerFlags {
		e := layer.Errorf(*from.layer, from.key(), "%s", s.Missing)
		e.Code = sandbox.NotFound
		return s, e
	}
	return s, err
}

// secretPlaces resolves the files of a secret.
func (r secretResolver) secretPlaces(s *Secret, from *layeredSecret) error {
	if from.File != "" {
		at, err := r.SecretFile(from.layer, from.key()+".file", from.File)
		if err != nil {
			return err
		}
		s.File = at.Path
		switch why := missingFile(at); {
		case !layer.HasSource(from.Secret):
			s.FromFile, s.Missing = at.Path, why
		case why != "" && s.Env != "":
			s.File = "" // the variable is enough
		default:
			s.Missing = why
		}
	}
	if from.FromFile != "" {
		at, err := r.SecretFile(from.layer, from.key()+".from_file", from.FromFile)
		if err != nil {
			return err
		}
		s.FromFile = at.Path
		if s.Missing == "" {
			s.Missing = missingFile(at)
		}
	}
	return nil
}

// secretCommand finds the program as a shell would, in the absolute directories of PATH; nil: there is none. The program runs on
// the host, so it must not be one that commands can write or replace by a link. Its name stays as it was found, because programs
// look at it.
func (r secretResolver) secretCommand(p *Plan, from *layeredSecret) ([]string, error) {
	key := from.key() + ".from_command"
	name := from.FromCommand[0]
	var candidates []string
	if strings.Contains(name, "/") {
		path, err := hostpath.Anchor(name, r.Home, r.Dir)
		if err != nil {
			return nil, layer.Errorf(*from.layer, key, "%s: %w", jsonc.Clip(name), err)
		}
		candidates = []string{filepath.Clean(path)}
	} else {
		for _, dir := range filepath.SplitList(r.Env["PATH"]) {
			if filepath.IsAbs(dir) {
				candidates = append(candidates, filepath.Join(dir, name))
			}
		}
	}
	for _, path := range candidates {
		if program.Resolve(path) == "" {
			continue
		}
		at, err := r.Locate(path)
		if err != nil {
			return nil, layer.Errorf(*from.layer, key, "%s: %w", jsonc.Clip(path), err)
		}
		for _, place := range append([]string{at.Path}, at.Links...) {
			if access, _ := p.Access(place); access == ReadWrite {
				err := layer.Errorf(*from.layer, key, "commands in the sandbox can write %s, which would run outside", jsonc.OneLine(place))
				err.Code = sandbox.Denied
				if place != at.Path {
					return nil, err.WithHint("name %s itself if that is meant", shellword.Quote(at.Path))
				}
				return nil, err.WithHint("protect it with --ro %s, or name another program", shellword.Quote(place))
			}
		}
		return append([]string{path}, from.FromCommand[1:]...), nil
	}
	return nil, nil
}

// checkClash refuses a secret that shares a variable or a file with another in a way that cannot work.
func checkClash(others []Secret, s Secret, from *layeredSecret) error {
	for i := range others {
		o := &others[i]
		switch {
		case s.Env != "" && o.Env == s.Env:
			return layer.Errorf(*from.layer, from.key(), "found the variable %s, which is also that of the secret %s, expected another", s.Env, jsonc.Clip(o.Name))
		case s.File != "" && o.File == s.File && (o.FromFile == o.File || s.FromFile == s.File):
			return layer.Errorf(*from.layer, from.key()+".file", "found a file that is also that of the secret %s, expected from_env, from_file or from_command in both", jsonc.Clip(o.Name))
		}
	}
	return nil
}

// removeVariables removes the variables of secrets from p's environment, and every other variable
// that contains such a value: a token is often set under two names.
func (r secretResolver) removeVariables(p *Plan) {
	// By name last, so that an explanation of a secret's variable gives this reason.
	for _, byName := range []bool{false, true} {
		for i := range r.layers {
			secrets := r.layers[i].Policy.Secrets
			for _, name := range slices.Sorted(maps.Keys(secrets)) {
				if s := secrets[name]; byName {
					r.drop(p, whyPlaceholder, func(n, _ string) bool { return n == name || n == s.FromEnv || n == s.Env })
				} else if value := r.heldValue(name, s); len(value) >= minSecretLength {
					r.drop(p, whySecretHeld+jsonc.OneLine(name), func(_, v string) bool { return strings.Contains(v, value) })
				}
			}
		}
	}
}

// heldValue is the value of a secret that comes from a variable, else "".
func (r secretResolver) heldValue(name string, s sandbox.Secret) string {
	if !layer.HasSource(s) && s.File == "" {
		return strings.TrimSpace(r.Env[name])
	}
	return strings.TrimSpace(r.Env[s.FromEnv])
}

// drop removes the variables for which isOut returns true, with a reason. A variable that was removed
// before gets the new reason, because the flag for the old reason would not help.
func (r secretResolver) drop(p *Plan, why string, isOut func(name, value string) bool) {
	p.Env = slices.DeleteFunc(p.Env, func(entry string) bool {
		name, value, _ := strings.Cut(entry, "=")
		if !isOut(name, value) {
			return false
		}
		p.Dropped = append(p.Dropped, Dropped{Name: name})
		return true
	})
	for i := range p.Dropped {
		if d := &p.Dropped[i]; d.Why == "" || isOut(d.Name, r.Env[d.Name]) {
			d.Why = why
		}
	}
	sortDropped(p.Dropped)
	p.Dropped = slices.Compact(p.Dropped)
}
