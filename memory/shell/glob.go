package shell

import (
	"io/fs"
	"slices"
	"strings"
)

// glob appends the names that the pattern matches to the stack; when there are none it appends the
// text, or nothing under nullglob; failglob leaves the command.
func (sh *interp) glob(pat, text string) {
	if !magic(pat, sh.shopt&shExtGlob != 0) {
		sh.push(text)
		return
	}
	names := sh.globNames(pat)
	switch {
	case len(names) > 0:
		sh.pushAll(names)
	case sh.shopt&shFailGlob != 0:
		sh.errorf("no match: %s", text)
		sh.abort()
	case sh.shopt&shNullGlob != 0:
	default:
		sh.push(text)
	}
}

// magic tells whether a pattern can match anything but itself.
func magic(s string, ext bool) bool {
	var in *brackets
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '*', '?':
			return true
		case '[':
			if in == nil {
				in = newBrackets(s)
			}
			if in.classLen(i) > 0 {
				return true
			}
		case '(':
			if ext && i > 0 && strings.IndexByte("+@!", s[i-1]) >= 0 {
				return true
			}
		case '\\':
			i++
		}
	}
	return false
}

// globNames returns the sorted names that the pattern matches.
func (sh *interp) globNames(pat string) []string {
	g := &globber{sh: sh, flags: sh.patternFlags() | patPathname}
	ignore := sh.globIgnore()
	if sh.shopt&shDotGlob != 0 || len(ignore) > 0 {
		g.flags |= patDot
	}
	if sh.shopt&shNoCaseGlob != 0 {
		g.flags |= patFold
	}
	var dir strings.Builder
	for strings.HasPrefix(pat, "/") {
		dir.WriteString("/")
		pat = pat[1:]
	}
	g.walk(dir.String(), splitComponents(pat))
	if len(ignore) > 0 {
		g.found = slices.DeleteFunc(g.found, func(name string) bool { return sh.ignored(name, ignore) })
	}
	slices.Sort(g.found)
	return g.found
}

// globIgnore returns the patterns of GLOBIGNORE.
func (sh *interp) globIgnore() []*pattern {
	s, ok := sh.value(slotGLOBIGNORE)
	if !ok || s == "" {
		return nil
	}
	var list []*pattern
	for _, one := range splitColons(s) {
		if one != "" {
			list = append(list, sh.patternOf(one, sh.patternFlags()))
		}
	}
	return list
}

// splitColons cuts at colons that are not in brackets or behind a backslash.
func splitColons(s string) []string {
	var list []string
	start := 0
	in := newBrackets(s)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if n := in.classLen(i); n > 0 {
				i += n - 1
			}
		case ':':
			list = append(list, s[start:i])
			start = i + 1
		}
	}
	return append(list, s[min(start, len(s)):])
}

func (sh *interp) ignored(name string, list []*pattern) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if base == "." || base == ".." {
		return true
	}
	for _, p := range list {
		if p.match(sh, name) && (strings.Count(p.source, "/") == strings.Count(name, "/")) {
			return true
		}
	}
	return false
}

// splitComponents cuts a pattern at slashes, keeping several in a row.
func splitComponents(pat string) []string {
	var list []string
	start := 0
	in := newBrackets(pat)
	for i := 0; i < len(pat); i++ {
		switch pat[i] {
		case '\\':
			i++
		case '(':
			if i > 0 && strings.IndexByte("?*+@!", pat[i-1]) >= 0 {
				if end := in.close(i); end > 0 && strings.IndexByte(pat[i:end], '/') < 0 {
					i = end
				}
			}
		case '/':
			list = append(list, pat[start:i])
			start = i + 1
			for start < len(pat) && pat[start] == '/' {
				list[len(list)-1] += "/"
				start++
			}
			i = start - 1
		}
	}
	return append(list, pat[start:])
}

// globber walks the tree.
type globber struct {
	sh    *interp
	flags patFlags
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
	case !magic(comp, g.flags&patExt != 0):
		name := dir + unescape(comp)
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
	case comp == "**" && sh.shopt&shGlobStar != 0:
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
			sh.hold(16 + len(name))
			g.found = append(g.found, name)
		} else if g.isDir(name, e.Mode) {
			g.walk(name+"/"+extra, comps[1:])
		}
	}
	g.dots(pat, comp, dir, extra, comps)
}

// dots lets "." and ".." match a pattern that begins with a dot, when globskipdots is off.
func (g *globber) dots(pat *pattern, comp, dir, extra string, comps []string) {
	if g.sh.shopt&shGlobSkipDots != 0 || comp[0] != '.' {
		return
	}
	for _, name := range []string{".", ".."} {
		if !pat.match(g.sh, name) {
			continue
		}
		if len(comps) == 1 {
			g.found = append(g.found, dir+name)
		} else {
			g.walk(dir+name+"/"+extra, comps[1:])
		}
	}
}

// matches tells whether a name matches; one that begins with a dot only when the pattern does.
func (g *globber) matches(pat *pattern, comp, name string) bool {
	if name[0] == '.' && g.flags&patDot == 0 && !dotFirst(comp, g.flags&patExt != 0) {
		return false
	}
	return pat.match(g.sh, name)
}

// dotFirst tells whether a pattern begins with a dot of its own; in an extended one any
// alternative may.
func dotFirst(pat string, ext bool) bool {
	switch {
	case pat == "":
		return false
	case pat[0] == '.' || strings.HasPrefix(pat, `\.`):
		return true
	case ext && len(pat) > 1 && pat[1] == '(' && strings.IndexByte("?*+@", pat[0]) >= 0:
		if end := newBrackets(pat).close(1); end > 0 {
			for alt := range strings.SplitSeq(pat[2:end], "|") {
				if dotFirst(alt, ext) {
					return true
				}
			}
			if pat[0] == '?' || pat[0] == '*' {
				return dotFirst(pat[end+1:], ext)
			}
		}
	}
	return false
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
			if e.Name[0] == '.' && g.flags&patDot == 0 {
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

// unescape removes the backslashes that quote.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b = append(b, s[i])
	}
	return string(b)
}
