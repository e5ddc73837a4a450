package filesystem

import (
	"cmp"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
)

// mounts returns what differs from its surroundings, and the pins.
func (f *Resolution) mounts(index map[*rule]int) []Mount {
	var out []Mount
	for _, path := range f.final.paths() {
		r := f.final[path]
		r.Applied = true
		around := f.final.parent(path)
		pin := r.Access == ReadWrite && f.pins[path]
		if path == "/" || r.Access == around && !pin {
			continue
		}
		out = append(out, Mount{
			Path: path, Access: r.Access, Dir: r.dir, Pin: pin && r.Access == around, Rule: index[r],
		})
	}
	return out
}

// guardList returns the names that must not be created, in directories in which the sandbox could create them.
func (f *Resolution) guardList(index map[*rule]int) []Guard {
	missing := decide(f.rules, func(r *rule) bool { return r.Missing && (r.guard || r.Access == ReadWrite) && !f.isFreed(r) })
	var explicit []*rule
	for _, r := range f.rules {
		if r.isExplicit() {
			explicit = append(explicit, r)
		}
	}
	free := lifted(explicit)
	var out []Guard
	add := func(dir, name string, except []string, r *rule) {
		if f.final.access(dir) == ReadWrite && !free[filepath.Join(dir, name)] {
			r.Applied = true
			out = append(out, Guard{Dir: dir, Name: name, Except: except, Rule: index[r]})
		}
	}
	for _, path := range missing.paths() {
		r := missing[path]
		if r.Access == ReadWrite || !r.guard {
			continue
		}
		if inside := wanted(explicit, path); len(inside) > 0 {
			f.guardAround(path, inside, r, add)
			continue
		}
		add(filepath.Dir(path), filepath.Base(path), nil, r)
	}
	for _, r := range f.rules {
		if r.Access == ReadWrite || !r.guard && !f.decides(r) {
			continue
		}
		for _, l := range r.links {
			add(filepath.Dir(l), filepath.Base(l), nil, r)
		}
	}
	for _, g := range f.guards {
		add(g.dir, g.name, excepted(explicit, g), g.rule)
	}
	return sortGuards(out)
}

func (f *Resolution) decides(r *rule) bool { return f.final[r.Path] == r }

// lifted returns the links on the paths of explicit rw rules: --rw .git/hooks
// where that is a link includes the link.
func lifted(explicit []*rule) map[string]bool {
	out := map[string]bool{}
	for _, r := range explicit {
		for _, l := range r.links {
			out[l] = true
		}
	}
	return out
}

// excepted returns the names that a guard of all names lets through: its own, and
// those that an explicit rule makes writable.
func excepted(explicit []*rule, g pending) []string {
	out := slices.Clone(g.except)
	for _, r := range explicit {
		if r.Path != g.dir && hostpath.IsWithin(r.Path, g.dir) {
			name, _, _ := strings.Cut(r.Path[len(g.dir)+1:], "/")
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// wanted returns the missing paths below path that an explicit rule makes writable.
func wanted(explicit []*rule, path string) []string {
	var out []string
	for _, r := range explicit {
		if r.Missing && r.Path != path && hostpath.IsWithin(r.Path, path) {
			out = append(out, r.Path)
		}
	}
	return out
}

// guardAround forbids all of a missing directory but the way to what is wanted in it.
func (f *Resolution) guardAround(path string, wanted []string, r *rule, add func(string, string, []string, *rule)) {
	except := map[string][]string{}
	for _, w := range wanted {
		for w != path {
			dir, name := filepath.Dir(w), filepath.Base(w)
			except[dir] = append(except[dir], name)
			w = dir
		}
	}
	for dir, names := range except {
		if slices.Contains(wanted, dir) {
			continue
		}
		slices.Sort(names)
		add(dir, "*", slices.Compact(names), r)
	}
}

// sortGuards orders guards and keeps one of each directory and name.
func sortGuards(guards []Guard) []Guard {
	sort.Slice(guards, func(i, j int) bool {
		a, b := guards[i], guards[j]
		return cmp.Or(
			cmp.Compare(a.Dir, b.Dir),
			cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
			cmp.Compare(a.Name, b.Name),
			slices.Compare(a.Except, b.Except),
			cmp.Compare(a.Rule, b.Rule),
		) < 0
	})
	return slices.CompactFunc(guards, func(a, b Guard) bool {
		return a.Dir == b.Dir && strings.EqualFold(a.Name, b.Name) && slices.Equal(a.Except, b.Except)
	})
}
