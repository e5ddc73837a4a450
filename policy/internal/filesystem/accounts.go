package filesystem

import (
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/policy/internal/preset"
)

const (
	// maxAccounts bounds the homes whose secrets are hidden one by one, so that a host with thousands of accounts does
	// not slow a start. The homes of further accounts are hidden whole.
	maxAccounts = 32
	// maxStrangers bounds the further homes that are hidden one by one.
	maxStrangers = 128
	// manyHomes is the number of such homes in one directory from which that directory is hidden in their place.
	manyHomes = 4
)

// locateAccounts finds the home directories of the host's accounts besides that of the Spec, which a variable may
// choose: that of this process, which is own, first. An empty own is none.
func (h *Host) locateAccounts(own string, others []string) {
	if own != "" {
		others = slices.Insert(others, 0, own)
	}
	// The project's owner comes before accounts that do not own the project.
	isFirst := func(home string) bool { return home == own || hostpath.IsWithin(h.Workspace, home) }
	sort.SliceStable(others, func(i, j int) bool { return isFirst(others[i]) && !isFirst(others[j]) })
	for n, home := range others {
		if n >= maxAccounts {
			h.strangers = others[n:]
			return
		}
		at, err := h.look.Locate(home)
		if err != nil || !at.Exists || !at.Dir || at.Path == h.Home || at.Path == "/" || slices.Contains(h.accounts, at.Path) ||
			hostpath.ReservedRoot(at.Path) != "" || !isSearchable(at.Path) {
			continue
		}
		if home == own {
			h.account = at.Path
		}
		h.accounts = append(h.accounts, at.Path)
	}
}

// isSearchable reports whether this process, and so a command, can reach files in dir.
func isSearchable(dir string) bool {
	const search = 1 // X_OK
	return syscall.Access(dir, search) == nil
}

// hideAccounts hides the secrets in the homes of accounts, whatever HOME is, and protects a home that is the workspace as if
// HOME named it. A layer that turns @base off opens them.
func (f *Resolution) hideAccounts() {
	if f.Workspace != "" && !f.presets["@base"] {
		return
	}
	for _, home := range f.accounts {
		if home == f.account && f.Home == "" && f.Workspace == "" {
			f.preset("@base", presetRule{path: home, access: Exclude})
			continue
		}
		if home == f.Workspace {
			f.preset("@base", presetRule{path: home, access: ReadOnly})
		}
		writable := f.isWritableNear(home)
		for _, r := range preset.Rules("@base") {
			name, inHome := strings.CutPrefix(r.Path, "~/")
			if !inHome || r.Use != preset.Hidden {
				continue
			}
			path := filepath.Join(home, name)
			if at, err := f.look.Locate(path); err == nil && (at.Exists || writable) {
				f.preset("@base", presetRule{path, Exclude, r.Guard})
			}
		}
	}
	f.hideStrangers()
}

// hideStrangers hides the homes of the accounts beyond [maxAccounts]. If it hides a whole directory of homes, it shows the other
// homes in it again.
func (f *Resolution) hideStrangers() {
	parents := map[string]int{}
	for _, home := range f.strangers {
		parents[filepath.Dir(home)]++
	}
	left := maxStrangers
	for _, home := range f.strangers {
		if (parents[filepath.Dir(home)] < manyHomes || !isForHomes(filepath.Dir(home))) && left > 0 {
			left--
			f.preset("@base", presetRule{path: home, access: Exclude})
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(parents)) {
		if parents[dir] < manyHomes || !isForHomes(dir) {
			continue
		}
		f.preset("@base", presetRule{path: dir, access: Exclude})
		for _, home := range f.accounts {
			if hostpath.IsWithin(home, dir) {
				f.preset("@base", presetRule{path: home, access: ReadOnly})
			}
		}
	}
}

// isForHomes reports whether a directory can be one that has homes alone. Services have theirs in system directories such as
// /var/lib, among other things.
func isForHomes(dir string) bool {
	return dir != "/" && !slices.ContainsFunc([]string{"/etc", "/lib", "/opt", "/srv", "/usr", "/var"}, func(system string) bool {
		return hostpath.IsWithin(dir, system)
	})
}

// isWritableNear reports whether a rule makes dir, a part of it or a directory above it writable.
func (f *Resolution) isWritableNear(dir string) bool {
	return slices.ContainsFunc(f.rules, func(r *rule) bool {
		return r.Access == ReadWrite && (hostpath.IsWithin(r.Path, dir) || hostpath.IsWithin(dir, r.Path))
	})
}
