// Package filesystem decides what a sandbox may do with each path of its host. It merges the path rules of the layers with the
// presets, hides secrets, protects what programs of the host obey (git repositories and the names of package preset), and
// refuses an untrusted layer that gives more. The result is a list of rules, and the mounts and guards that enforce them.
package filesystem

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/internal/nested"
	"github.com/seed434b0696/agent-sandbox/policy/internal/glob"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Resolution has the rules about the paths of one host, and which of them decide.
type Resolution struct {
	Host

	layers  []sandbox.Layer
	presets map[string]bool
	rules   []*rule
	index   map[string][]*rule // by path, once all are there
	wide    tree               // before protection: what the layers alone would give
	final   tree               // with it
	guards  []pending
	pins    map[string]bool
	seen    map[string]bool // git directories that were handled
	norepos []string
	nested  nested.Rules
	sockets []string

	redacted []Redacted
}

// pending is a guard that holds where its directory turns out to be writable.
type pending struct {
	dir, name string
	except    []string
	rule      *rule
}

// Resolve decides about every path that the layers name.
func Resolve(h Host, layers []sandbox.Layer) (*Resolution, error) {
	f := &Resolution{Host: h, layers: layers, pins: map[string]bool{}, seen: map[string]bool{}}
	var err error
	if f.presets, err = activePresets(layers, h.Workspace); err != nil {
		return nil, err
	}
	f.builtin()
	for i := range layers {
		if err := f.layer(i); err != nil {
			return nil, err
		}
	}
	f.hideAccounts()
	f.hideCredentials()
	if err := f.hideSecrets(); err != nil {
		return nil, err
	}
	f.grantGit()
	f.wide = decide(f.rules, func(r *rule) bool { return !r.Missing })
	if err := f.protect(); err != nil {
		return nil, err
	}
	f.index = map[string][]*rule{}
	for _, r := range f.rules {
		f.index[r.Path] = append(f.index[r.Path], r)
	}
	f.final = decide(f.rules, func(r *rule) bool { return !r.Missing && !f.isFreed(r) })
	return f, nil
}

// builtin adds the private file systems and the active presets.
func (f *Resolution) builtin() {
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		f.preset("", presetRule{path: dir, access: Private})
	}
	if f.Home != "" && !f.presets["@base"] && f.Workspace == "" {
		f.preset("", presetRule{path: "~", access: Exclude})
	}
	if !f.presets["@base"] {
		f.preset("", presetRule{path: ".", access: ReadOnly}) // visible even under /tmp
	}
	if home := f.Env["GNUPGHOME"]; f.presets["@base"] && filepath.IsAbs(home) {
		f.preset("@base", presetRule{path: home, access: Exclude, guard: true}) // it has the keys that are in ~/.gnupg otherwise
	}
	opened := f.opened()
	for _, name := range preset.Leaves() {
		if !f.presets[name] {
			continue
		}
		for _, p := range preset.Rules(name) {
			if p.Use != preset.ReadWrite && opened[p.Path] {
				continue
			}
			f.preset(name, presetRule{p.Path, presetAccess[p.Use], p.Guard})
		}
	}
}

// opened returns the paths that the active presets make writable by name: the preset of an agent opens the files that
// others hide or protect.
func (f *Resolution) opened() map[string]bool {
	out := map[string]bool{}
	for _, name := range preset.Leaves() {
		if !f.presets[name] || name == "@base" {
			continue
		}
		for _, r := range preset.Rules(name) {
			if r.Use == preset.ReadWrite {
				out[r.Path] = true
			}
		}
	}
	return out
}

// presetRule is a rule of a preset or one that is always there.
type presetRule struct {
	path   string // ~ is the home directory; a relative path starts at the workspace
	access Access
	guard  bool // a missing path must not be created
}

var presetAccess = [...]Access{preset.Hidden: Exclude, preset.ReadOnly: ReadOnly, preset.ReadWrite: ReadWrite}

// preset adds one rule of a preset. It is optional: what this host does not have
// is left out.
func (f *Resolution) preset(name string, p presetRule) {
	path, err := hostpath.Anchor(p.path, f.Home, f.Workspace)
	if err != nil {
		return
	}
	at, err := f.look.Locate(path)
	if err != nil || hostpath.ReservedRoot(at.Path) != "" {
		return
	}
	// A preset's rule for a home directory of / or /tmp would change those directories.
	if p.path == "~" && (at.Path == "/" || f.isPrivate(at.Path)) || at.Path == "/" {
		return
	}
	f.add(&rule{
		Rule:    Rule{Pattern: p.path, Path: at.Path, Access: p.access, Exact: true, Layer: "defaults", Preset: name, Source: "built in", Missing: !at.Exists},
		rank:    rankPreset,
		layer:   -1,
		trusted: true,
		dir:     at.Dir,
		guard:   p.guard,
		links:   at.Links,
	})
}

// planted returns a symbolic link on the way to at that is in a writable directory and points out of it, or "". A command of an
// earlier run may have put it at the path that the rule names.
func (f *Resolution) planted(at hostpath.Place) string {
	for _, link := range at.Links {
		for _, r := range f.rules {
			if r.Access == ReadWrite && link != r.Path && hostpath.IsWithin(link, r.Path) && !hostpath.IsWithin(at.Path, r.Path) {
				return link
			}
		}
	}
	return ""
}

// isPrivate reports whether a private file system is mounted at path.
func (f *Resolution) isPrivate(path string) bool {
	return slices.ContainsFunc(f.rules, func(r *rule) bool { return r.Access == Private && r.Path == path })
}

func (f *Resolution) add(r *rule) {
	r.seq = len(f.rules)
	f.rules = append(f.rules, r)
}

// layer adds the rules and sockets of layers[i].
func (f *Resolution) layer(i int) error {
	fsys := &f.layers[i].Policy.Filesystem
	for _, list := range []struct {
		key    string
		access Access
		paths  []string
	}{
		{"filesystem.exclude", Exclude, fsys.Exclude},
		{"filesystem.ro", ReadOnly, fsys.RO},
		{"filesystem.rw", ReadWrite, fsys.RW},
	} {
		for n, written := range list.paths {
			if err := f.written(i, list.key, n, written, list.access); err != nil {
				return err
			}
		}
	}
	return f.socketRules(i)
}

// written adds the rules that one entry of a layer stands for.
func (f *Resolution) written(i int, key string, n int, written string, access Access) error {
	l := &f.layers[i]
	matches, err := f.expand(written)
	if err != nil {
		return layer.EntryErrorf(l, key, n, sandbox.Invalid, "%q: %w", written, err)
	}
	for _, m := range matches {
		at, err := f.look.Locate(m.path)
		if err != nil {
			return layer.EntryErrorf(l, key, n, sandbox.Invalid, "%q: %w", written, err)
		}
		for _, p := range []string{filepath.Clean(m.path), at.Path} {
			if root := hostpath.ReservedRoot(p); root != "" {
				return layer.EntryErrorf(l, key, n, sandbox.Invalid, "%q: %s belongs to the sandbox", written, root)
			}
		}
		if link := f.planted(at); link != "" && access != Exclude {
			if !m.exact {
				continue
			}
			return layer.EntryErrorf(l, key, n, sandbox.Denied, "%q: %s is a link that a sandbox could have made, and leads to %s", written, link, at.Path).
				WithHint("name %s itself if that is meant", at.Path)
		}
		if at.Blocked != "" && access != ReadWrite {
			// Inside, chmod(1) could open a directory that this process cannot read now.
			at.Path, at.Exists, at.Dir = at.Blocked, true, true
		}
		if at.Path == "/" && access != ReadOnly {
			return layer.EntryErrorf(l, key, n, sandbox.Invalid, "%q: the root directory can only be read-only", written).
				WithHint("name the directories that are meant")
		}
		f.add(&rule{
			Rule:    Rule{Pattern: written, Path: at.Path, Access: access, Exact: m.exact, Layer: l.Name, Source: layer.Source(*l, jsonc.IndexKey(key, n)), Missing: !at.Exists || m.none},
			rank:    rankFirst + i,
			layer:   i,
			key:     key,
			entry:   n,
			trusted: l.Trusted,
			dir:     at.Dir,
			guard:   access != ReadWrite && !m.none,
			links:   at.Links,
		})
	}
	return nil
}

// match is a path that a written path stands for.
type match struct {
	path  string
	exact bool
	none  bool // a glob without matches: the path is the pattern, for messages
}

// expand returns what a written path stands for. A path with metacharacters that
// exists as it is written is meant literally as well.
func (f *Resolution) expand(written string) ([]match, error) {
	path, err := hostpath.Anchor(written, f.Home, f.Dir)
	if err != nil {
		return nil, err
	}
	if !glob.IsPattern(written) {
		return []match{{path: path, exact: true}}, nil
	}
	var out []match
	if at, err := f.look.Locate(path); err == nil && at.Exists {
		out = append(out, match{path: path, exact: true})
	}
	g, err := glob.Parse(path, len(path)-len(strings.TrimPrefix(written, "~")))
	if err != nil && len(out) == 0 {
		return nil, err
	}
	if err == nil {
		found, err := g.Expand()
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			out = append(out, match{path: p})
		}
	}
	if len(out) == 0 {
		out = append(out, match{path: filepath.Clean(path), none: true})
	}
	return out, nil
}

// isFreed reports whether a rule loses everything to a protection above it: a glob
// such as rw **/* does not express a decision about .git/hooks/pre-commit.
func (f *Resolution) isFreed(r *rule) bool {
	if r.Access != ReadWrite || r.Exact || r.rank == rankProtected {
		return false
	}
	for path := r.Path; path != "/"; path = filepath.Dir(path) {
		if slices.ContainsFunc(f.index[path], (*rule).isExplicit) {
			return false
		}
		for _, o := range f.index[path] {
			if o.rank == rankProtected && o.Access == ReadOnly {
				return true
			}
		}
	}
	return false
}
