package configimport

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
)

// entry is one value of the result and where it comes from.
type entry struct {
	value string
	from  []source
}

// entries is a list without repetitions.
type entries []entry

func (l *entries) add(value string, from source) {
	for i := range *l {
		if e := &(*l)[i]; e.value == value {
			if !slices.Contains(e.from, from) && len(e.from) < 4 {
				e.from = append(e.from, from)
			}
			return
		}
	}
	*l = append(*l, entry{value, []source{from}})
}

func (l entries) has(value string) bool {
	return slices.ContainsFunc(l, func(e entry) bool { return e.value == value })
}

// rules are the lists of package sandbox's Filesystem while they grow.
type rules struct {
	d                        *draft
	presets, ro, rw, exclude entries
	workspace                string
}

// settle converts the four lists of paths to the meaning of a policy. In the tool a denial wins
// over a more specific rule: for writing always, for reading if weak is set. In a policy the
// deeper path wins, then a path over a glob, then exclude over ro over rw. So settle omits a
// grant below a denial, and a glob that may match there.
func (d *draft) settle() *rules {
	r := &rules{d: d, workspace: d.resolve(".")}
	for _, a := range d.denyRead {
		r.hide(a)
	}
	for _, a := range d.denyWrite {
		r.protect(a)
	}
	writable := r.grants(d.allowWrite, true)
	for _, a := range writable {
		r.open(a)
	}
	for _, a := range r.grants(d.allowRead, false) {
		r.show(a, writable)
	}
	r.presetRules()
	r.ownDirectory(writable)
	return r
}

// hide turns denyRead into exclude.
func (r *rules) hide(a access) {
	switch {
	case a.base == "/" && !a.isGlob():
		r.d.say(a.lack(Restriction, "commands could not run if everything were hidden; the home directory is hidden", "filesystem.exclude"))
	case r.own(a):
		return
	default:
		r.exclude.add(a.text, a.from)
	}
	// A preset names the home directory itself, a deeper path or a path instead of a glob, and
	// would win.
	if home := r.d.resolve("~"); a.isAbove(home) && home != "/" {
		r.exclude.add("~", a.from)
	}
}

// own reports whether a lies in a directory that a sandbox creates itself, and then adds a
// lack.
func (r *rules) own(a access) bool {
	for _, dir := range []string{"/proc", "/sys"} {
		if isWithin(a.base, dir) {
			r.d.say(a.lack(Restriction, dir+" is needed inside, and shows the sandbox's own processes only", ""))
			return true
		}
	}
	for _, dir := range []string{"/dev", "/run"} {
		if isWithin(a.base, dir) {
			r.d.say(a.lack(Moot, "a sandbox has a "+dir+" of its own", "filesystem.sockets"))
			return true
		}
	}
	return false
}

// protect turns denyWrite into ro.
func (r *rules) protect(a access) {
	if isWithin(a.base, "/proc") || isWithin(a.base, "/sys") || isWithin(a.base, "/dev") || isWithin(a.base, "/run") {
		r.d.say(a.lack(Moot, "no file of the host can be written there", ""))
		return
	}
	if !a.isGlob() && r.isHidden(a.base) {
		return // read-only would show it
	}
	for _, n := range r.d.denyRead {
		switch {
		case !a.isGlob() || !isWithin(n.base, a.base) && !isWithin(a.base, n.base):
			continue
		case !n.isGlob() && isWithin(a.base, n.base) && r.isHidden(a.base):
			return
		case !n.isGlob() && isWithin(a.base, n.base) && n.base != a.base:
			continue // another rule allows it again
		}
		// Making a match below a hidden path read-only would show it, so it is excluded.
		last := a.rest[strings.LastIndexByte(a.rest, '/')+1:]
		if strings.ContainsAny(last, "{}") {
			last = "*"
		}
		r.exclude.add(strings.TrimSuffix(n.text, "/")+"/**/"+last, a.from)
	}
	r.ro.add(a.text, a.from)
}

// isHidden reports whether at is hidden and no deeper rule allows it again.
func (r *rules) isHidden(at string) bool {
	closed, open := -1, -1
	for _, n := range r.d.denyRead {
		if closed = max(closed, n.level(at)); n.deep && n.isAbove(at) {
			closed = len(at) + 1 // the rule denies each entry below
		}
	}
	for _, a := range slices.Concat(r.d.allowRead, r.d.allowWrite) {
		open = max(open, a.level(at))
	}
	return closed > open
}

// level returns the length of the deepest match of a that is at or above at, or -1.
func (a access) level(at string) int {
	if !a.isAbove(at) {
		return -1
	}
	for !a.matches(at) {
		at = filepath.Dir(at)
	}
	return len(at)
}

// grants returns the entries of a list over which no denial wins.
func (r *rules) grants(list []access, write bool) []access {
	var out []access
	for _, a := range list {
		if by, partly := r.takenBack(a, write); by != nil {
			kind, why := Moot, "it is denied by "+by.from.String()
			if partly {
				kind, why = Grant, "it may reach what is denied by "+by.from.String()
			}
			r.d.say(a.lack(kind, why, ""))
			continue
		}
		out = append(out, a)
	}
	return out
}

// takenBack returns the denial that wins over a, and whether it denies only a part of a.
func (r *rules) takenBack(a access, write bool) (by *access, partly bool) {
	if write {
		for i := range r.d.denyWrite {
			n := &r.d.denyWrite[i]
			if n.isAbove(a.base) || n.isGlob() && n.text == a.text {
				return n, false
			}
			if a.canReach(n.pattern) {
				return n, true
			}
		}
	}
	for i := range r.d.denyRead {
		n := &r.d.denyRead[i]
		wins := a.weak && !n.soft || n.deep && a.base != n.base || n.isGlob() && n.matches(a.base)
		switch {
		case wins && n.isAbove(a.base):
			return n, false
		case (a.weak && !n.soft || n.deep && a.isGlob()) && a.canReach(n.pattern):
			return n, true
		}
	}
	return nil, false
}

// open turns allowWrite into rw.
func (r *rules) open(a access) {
	switch {
	case a.base == "/" && !a.isGlob():
		r.d.say(a.lack(Grant, "the root directory is never writable", "filesystem.rw with the directories that are meant"))
	case !a.isGlob() && (a.base == "/tmp" || a.base == "/var/tmp"):
		r.d.say(a.lack(Stricter, "a sandbox has a "+a.base+" of its own, writable and gone afterwards", ""))
	case isWithin(a.base, "/dev"):
		r.d.say(a.lack(Moot, "a sandbox has a /dev of its own", ""))
	case isWithin(a.base, "/proc") || isWithin(a.base, "/sys") || isWithin(a.base, "/run"):
		r.d.say(a.lack(Grant, "it belongs to the sandbox", ""))
	default:
		r.rw.add(a.text, a.from)
	}
}

// show turns allowRead into ro, except where that would only remove the right to write.
func (r *rules) show(a access, writable []access) {
	hidden := 0
	for _, n := range r.d.denyRead {
		if n.isAbove(a.base) {
			hidden = max(hidden, len(n.base))
		}
	}
	for _, w := range writable {
		if w.isAbove(a.base) && (len(w.base) > hidden || w.base == a.base) {
			return
		}
	}
	switch {
	case hidden == 0 && isWithin(a.base, r.workspace), a.base == "/" && !a.isGlob():
		return // no rule hides it
	case isWithin(a.base, "/dev") || isWithin(a.base, "/proc") || isWithin(a.base, "/sys"):
		return // the sandbox's own
	case isWithin(a.base, "/run"):
		r.d.say(a.lack(Grant, "a sandbox has a /run of its own", "filesystem.sockets"))
		return
	}
	r.ro.add(a.text, a.from)
}

// presetRules removes presets that would grant more than the settings do.
func (r *rules) presetRules() {
	for _, preset := range []string{"@caches", "@agents"} {
		if r.d.closed != nil {
			r.presets.add("!"+preset, *r.d.closed)
			continue
		}
		if n := r.against(preset, r.d.denyWrite); n != nil {
			r.presets.add("!"+preset, n.from)
		}
		if n := r.against(preset, r.d.denyRead); n != nil {
			r.presets.add("!"+preset, n.from)
		}
	}
	// ownDirectory handles the rules that hide the working directory itself.
	below := slices.DeleteFunc(slices.Clone(r.d.denyRead), func(n access) bool { return n.isAbove(r.workspace) })
	for _, preset := range []string{"@lint/ts", "@lint/go", "@lint/python"} {
		if n := r.against(preset, below); n != nil {
			r.presets.add("!"+preset, n.from)
		}
	}
}

// against returns a denial over which a path of the preset would win: a less deep one, or a
// glob.
func (r *rules) against(preset string, denials []access) *access {
	for _, p := range policy.PresetPaths(preset) {
		at := r.d.resolve(p)
		for i := range denials {
			if n := &denials[i]; n.isAbove(at) && (n.isGlob() || n.base != at) {
				return n
			}
		}
	}
	return nil
}

// ownDirectory sets the access to the working directory, which a preset makes writable.
func (r *rules) ownDirectory(writable []access) {
	ws, d := r.workspace, r.d
	hidden, shown := -1, -1
	var by source
	for _, n := range d.denyRead {
		if n.isAbove(ws) && len(n.base) > hidden {
			hidden, by = len(n.base), n.from
		}
	}
	for _, a := range slices.Concat(writable, d.allowRead) {
		if !a.isGlob() && a.isAbove(ws) {
			shown = max(shown, len(a.base))
		}
	}
	if hidden >= 0 && shown <= hidden {
		r.exclude.add(".", by)
		for _, preset := range []string{"!@git", "!@lint/ts", "!@lint/go", "!@lint/python"} {
			r.presets.add(preset, by)
		}
		it := item{from: by}
		d.say(it.lack(Stricter, "the working directory is hidden, so no command can start in it", `filesystem.ro or filesystem.rw with "."`))
		return
	}
	if i := slices.IndexFunc(d.denyWrite, func(n access) bool { return n.isAbove(ws) }); i >= 0 {
		r.ro.add(".", d.denyWrite[i].from)
		return
	}
	if d.closed == nil || r.rw.has(".") || d.tool == Claude {
		return
	}
	r.ro.add(".", *d.closed)
	for _, w := range writable {
		if w.isAbove(ws) {
			d.say(w.lack(Stricter, "a sandbox may start in any directory, so its working directory is writable only if the policy names it", `filesystem.rw with "."`))
		}
	}
}
