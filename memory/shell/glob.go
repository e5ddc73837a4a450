package shell

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// glob appends the names that the pattern matches to the stack; when there are none it appends the
// text, or nothing under nullglob; failglob leaves the command.
func (e *expansion) glob(pat, text string) {
	if !pattern.IsMagic(pat, e.sh.shopt&shopt.ExtGlob != 0) {
		e.push(text)
		return
	}
	names := e.globNames(pat)
	switch {
	case len(names) > 0:
		e.pushAll(names)
	case e.sh.shopt&shopt.FailGlob != 0:
		e.sh.errorf("no match: %s", text)
		e.sh.abort()
	case e.sh.shopt&shopt.NullGlob != 0:
	default:
		e.push(text)
	}
}

// globNames returns the sorted names that the pattern matches.
func (e *expansion) globNames(pat string) []string {
	g := &globber{sh: e.sh, flags: e.sh.patternFlags() | pattern.Pathname}
	ignore := e.globIgnore()
	if e.sh.shopt&shopt.DotGlob != 0 || len(ignore) > 0 {
		g.flags |= pattern.Dot
	}
	if e.sh.shopt&shopt.NoCaseGlob != 0 {
		g.flags |= pattern.Fold
	}
	var dir strings.Builder
	for strings.HasPrefix(pat, "/") {
		dir.WriteString("/")
		pat = pat[1:]
	}
	g.walk(dir.String(), pattern.SplitComponents(pat))
	if len(ignore) > 0 {
		g.found = slices.DeleteFunc(g.found, func(name string) bool { return e.ignored(name, ignore) })
	}
	slices.Sort(g.found)
	return g.found
}

// globIgnore returns the patterns of GLOBIGNORE.
func (e *expansion) globIgnore() []*pattern.Pattern {
	s, ok := e.sh.value(slotGLOBIGNORE)
	if !ok || s == "" {
		return nil
	}
	var list []*pattern.Pattern
	for _, one := range pattern.SplitColons(s) {
		if one != "" {
			list = append(list, e.patternOf(one, e.sh.patternFlags()))
		}
	}
	return list
}

func (e *expansion) ignored(name string, list []*pattern.Pattern) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if base == "." || base == ".." {
		return true
	}
	for _, p := range list {
		if e.matches(p, name) && (strings.Count(p.Source(), "/") == strings.Count(name, "/")) {
			return true
		}
	}
	return false
}

// globber walks the tree.
type globber struct {
	sh    *interp
	flags pattern.Flags
	found []string
}

// walk matches the components below dir, which ends in a slash or is empty.
func (g *globber) walk(dir string, comps []string) {
	sh := g.sh
	if !sh.tick() || len(comps) == 0 {
		return
	}
	comp, last := comps[0], len(comps) == 1
	extra := ""
	for !last && strings.HasSuffix(comp, "/") { // "a//b" keeps both
		comp, extra = comp[:len(comp)-1], extra+"/"
	}
	switch {
	case comp == "" && last: // the pattern ends in a slash: dir is the result
		g.found = append(g.found, dir)
		return
	case !pattern.IsMagic(comp, g.flags&pattern.Ext != 0):
		name := dir + pattern.Unescape(comp)
		if last {
			if _, err := sh.m.fs.Lstat(sh.cred, sh.abs(name)); err == nil {
				g.found = append(g.found, name)
			}
			return
		}
		if info, err := sh.m.fs.Stat(sh.cred, sh.abs(name)); err == nil && info.Mode.IsDir() {
			g.walk(name+"/"+extra, comps[1:])
		}
		return
	case comp == "**" && sh.shopt&shopt.GlobStar != 0:
		g.globstar(dir, extra, comps)
		return
	}
	entries, err := sh.m.fs.ReadDir(sh.cred, sh.abs(orDot(dir)))
	if err != nil {
		return
	}
	pat := sh.patternOf(comp, g.flags)
	for _, e := range entries {
		if !sh.tick() {
			return
		}
		if !g.matches(pat, comp, e.Name) {
			continue
		}
		name := dir + e.Name
		if last {
			if !sh.hold(2*wordWeight + len(name)) {
				return
			}
			g.found = append(g.found, name) // bounded: charged above
		} else if g.isDir(name, e.Mode) {
			g.walk(name+"/"+extra, comps[1:])
		}
	}
	g.dots(pat, comp, dir, extra, comps)
}

// dots lets "." and ".." match a pattern that begins with a dot, when globskipdots is off.
func (g *globber) dots(pat *pattern.Pattern, comp, dir, extra string, comps []string) {
	if g.sh.shopt&shopt.GlobSkipDots != 0 || comp[0] != '.' {
		return
	}
	for _, name := range []string{".", ".."} {
		if !pat.Match(work{g.sh}, name) {
			continue
		}
		if len(comps) == 1 {
			g.found = append(g.found, dir+name) // bounded: one for each of the two names in a directory that was read
		} else {
			g.walk(dir+name+"/"+extra, comps[1:])
		}
	}
}

// matches reports whether a name matches; one that begins with a dot only when the pattern does.
func (g *globber) matches(pat *pattern.Pattern, comp, name string) bool {
	if name[0] == '.' && g.flags&pattern.Dot == 0 && !pattern.HasDotFirst(comp, g.flags&pattern.Ext != 0) {
		return false
	}
	return pat.Match(work{g.sh}, name)
}

func (g *globber) isDir(name string, mode fs.FileMode) bool {
	if mode.IsDir() {
		return true
	}
	if mode&fs.ModeSymlink == 0 {
		return false
	}
	info, err := g.sh.m.fs.Stat(g.sh.cred, g.sh.abs(name))
	return err == nil && info.Mode.IsDir()
}

// globstar matches ** : dir itself and all directories below it, and files when it is last.
func (g *globber) globstar(dir, extra string, comps []string) {
	sh := g.sh
	for len(comps) > 1 && comps[1] == "**" {
		comps = comps[1:]
	}
	last := len(comps) == 1
	if last {
		if dir != "" {
			g.found = append(g.found, dir)
		}
	} else if dir != "" || comps[1] != "" {
		g.walk(dir, comps[1:])
	}
	var below func(dir string, depth int)
	below = func(dir string, depth int) {
		entries, err := sh.m.fs.ReadDir(sh.cred, sh.abs(orDot(dir)))
		if err != nil || depth > 1000 {
			return
		}
		for _, e := range entries {
			if !sh.tick() {
				return
			}
			if e.Name[0] == '.' && g.flags&pattern.Dot == 0 {
				continue
			}
			name := dir + e.Name
			if last {
				sh.hold(16 + len(name))
				g.found = append(g.found, name)
			}
			// A link to a directory matches but is not entered.
			if e.Mode.IsDir() {
				if !last {
					g.walk(name+"/"+extra, comps[1:])
				}
				below(name+"/", depth+1)
			}
		}
	}
	below(dir, 0)
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// matches reports whether the pattern matches the text; the work costs fuel.
func (e *expansion) matches(p *pattern.Pattern, text string) bool { return p.Match(work{e.sh}, text) }

// patternOf returns the compiled pattern of a text that was made at run time. If the memory does not suffice, the
// command ends and the returned pattern matches only empty text.
func (e *expansion) patternOf(text string, f pattern.Flags) *pattern.Pattern {
	if len(text) > lightText && (!e.sh.hold(patternWeight*len(text)) || !e.sh.spend(len(text)>>4)) {
		return pattern.Literal("")
	}
	return e.sh.m.lib.pattern(text, f)
}

// patternWeight is about how many bytes of memory a byte of a pattern takes.
const patternWeight = 64

// work lets a match take fuel and memory of the process.
type work struct{ sh *interp }

// Spend implements pattern.Meter.
func (w work) Spend(n int) bool { return w.sh.spend(n) }

// HasRoom implements pattern.Meter.
func (w work) HasRoom(n int) bool { return w.sh.room(n) }

// Hold implements fd.Meter and printf.Host.
func (w work) Hold(n int) bool { return w.sh.hold(n) }

// TooComplex implements pattern.Meter.
func (w work) TooComplex(source string) {
	w.sh.errorf("%s: pattern too complex", source[:min(len(source), 64)])
	w.sh.abort()
}
