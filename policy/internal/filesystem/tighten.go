package filesystem

import (
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// CheckTightens refuses an untrusted layer whose path rules give more, anywhere,
// than the policy would give without it: a hostile repository must not open its
// own sandbox. It does not trust reasoning about single rules, because presets,
// globs and specificity act together: it resolves both policies and compares.
func (f *Resolution) CheckTightens() error {
	for i := range f.layers {
		fsys := &f.layers[i].Policy.Filesystem
		if f.layers[i].Trusted || len(fsys.Presets)+len(fsys.RO)+len(fsys.RW)+len(fsys.Exclude)+len(fsys.Sockets) == 0 {
			continue
		}
		if err := f.compare(i, f.layers[:i+1]); err != nil {
			return err
		}
		if i+1 < len(f.layers) {
			if err := f.compare(i, f.layers); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare resolves layers with and without layers[i].
func (f *Resolution) compare(i int, layers []sandbox.Layer) error {
	with, err := Resolve(f.Host, layers)
	if err != nil {
		return err
	}
	// An empty policy keeps the ranks of the others as they are.
	rest := slices.Clone(layers)
	rest[i].Policy = sandbox.Policy{}
	without, err := Resolve(f.Host, rest)
	if err != nil {
		return err
	}
	if with.widens(without) == nil {
		return nil
	}
	return with.blame(i, without)
}

// widening is one place where a policy gives more than another.
type widening struct {
	path string
	rule *rule // the rule that decides about the path; nil: no single rule does
}

// widens returns the first place where f gives more than o, or nil. Between the
// paths of their rules neither changes, so those paths are all there is to compare.
func (f *Resolution) widens(o *Resolution) *widening {
	paths := append(f.final.paths(), o.final.paths()...)
	slices.Sort(paths)
	for _, p := range slices.Compact(paths) {
		if isWider(f.final.access(p), o.final.access(p)) {
			return &widening{p, f.final.at(p)}
		}
	}
	// A pin, a guard or a root without repositories that is gone matters where
	// the sandbox still writes.
	mine := map[string]bool{}
	for _, g := range f.plain() {
		mine[g.key()] = true
	}
	for _, g := range o.plain() {
		if f.final.access(g.Dir) == ReadWrite && !mine[g.key()] {
			return &widening{g.Dir, nil}
		}
	}
	for p := range o.pins {
		if f.final.access(p) == ReadWrite && !f.pins[p] {
			return &widening{p, nil}
		}
	}
	for _, roots := range [][2][]string{{o.norepos, f.norepos}, {o.nested.Roots, f.nested.Roots}} {
		for _, root := range roots[0] {
			if f.final.access(root) == ReadWrite && !slices.ContainsFunc(roots[1], func(r string) bool { return hostpath.IsWithin(root, r) }) {
				return &widening{root, nil}
			}
		}
	}
	if f.UsesSSHAgent() && !o.UsesSSHAgent() {
		return &widening{preset.SSHAgent, nil}
	}
	if f.UsesGPGAgent() && !o.UsesGPGAgent() {
		return &widening{preset.GPGAgent, nil}
	}
	for _, s := range f.sockets {
		if !slices.Contains(o.sockets, s) {
			return &widening{s, nil}
		}
	}
	return nil
}

// isWider reports whether access a gives more than b. A private directory is empty:
// showing the host's in its place is wider, also read-only.
func isWider(a, b Access) bool {
	if b == Private {
		return a == ReadOnly || a == ReadWrite
	}
	return a > b
}

func (f *Resolution) plain() []Guard {
	return f.guardList(map[*rule]int{})
}

// blame names the entry of layer i that widens: the first without which there
// would be less.
func (f *Resolution) blame(i int, without *Resolution) error {
	l := &f.layers[i]
	w := f.widens(without)
	list, n := "filesystem.presets", 0
	if w.rule != nil && w.rule.layer == i {
		list, n = w.rule.key, w.rule.entry
	} else if len(l.Policy.Filesystem.Presets) == 0 {
		for _, r := range f.rules {
			if r.layer == i && (r.Access == ReadWrite || list == "filesystem.presets") {
				list, n = r.key, r.entry
			}
		}
	}
	err := layer.EntryErrorf(l, list, n, sandbox.Denied, "a project file may only tighten the policy")
	if l.File != "" {
		return err.WithHint("read it, then run: agent-sandbox trust %s", shellword.Quote(l.File))
	}
	return err
}
