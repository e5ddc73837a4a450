package configimport

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// syntax describes the paths of a tool.
type syntax struct {
	braces bool   // {a,b} are alternatives
	ignore bool   // patterns of gitignore(5), as in permission rules of Claude Code
	double bool   // //x is /x
	root   string // the base of relative paths (with ignore: those with a slash in front); empty: the working directory
}

// pattern is a path or glob of a tool, in the syntax of a policy.
type pattern struct {
	text string // as a policy writes it
	deep bool   // the tool's pattern ended with /**: it means each entry below, not the directory

	// For comparison: the part before the first component with a metacharacter, absolute
	// and resolved as far as it exists, and the rest. Without rest it is a path.
	base, rest string
}

const (
	maxPattern = 4096
	maxStars   = 16 // matching takes time exponential in the number of **
)

// patterns translates a path of the settings. The text says why it cannot be translated.
func (d *draft) patterns(written string, s syntax) ([]pattern, string) {
	switch {
	case written == "":
		return nil, "the path is empty"
	case strings.ContainsRune(written, 0):
		return nil, "the path holds a NUL character"
	case len(written) > maxPattern:
		return nil, "the path is too long"
	}
	if s.ignore && strings.HasPrefix(written, "!") {
		return nil, "negated patterns are not supported"
	}
	absolute := s.double && strings.HasPrefix(written, "//")
	if absolute {
		written = written[1:]
	}
	text, deep := trimDeep(written)
	// A pattern with a slash in the middle is relative to a directory, as in
	// gitignore(5).
	floating := s.ignore && !deep && !strings.Contains(text, "/") && text != "." && text != ".." && text != "~"
	if !s.braces && strings.Contains(text, "{") {
		text = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(text)
	}
	if !absolute {
		text = d.anchor(text, s)
	}
	glob := strings.ContainsAny(text, "*?[{")
	p, why := d.pattern(text, glob, s)
	if why != "" {
		return nil, why
	}
	p.deep = deep
	if !floating {
		return []pattern{p}, ""
	}
	below, why := d.pattern("**/"+text, true, s)
	if why != "" || glob {
		return []pattern{below}, why
	}
	return []pattern{p, below}, "" // the path itself, so that the guard protects it while it is missing
}

// trimDeep removes an ending that means everything below a directory.
func trimDeep(written string) (text string, deep bool) {
	text = written
	for {
		cut := text
		for _, end := range []string{"/**", "/**/*", "/"} {
			cut = strings.TrimSuffix(cut, end)
		}
		if cut == text {
			break
		}
		deep = deep || strings.Contains(text[len(cut):], "*")
		text = cut
	}
	switch {
	case text == "" && strings.HasPrefix(written, "/"):
		return "/", deep
	case text == "" || text == "**":
		return ".", true
	}
	return text, deep
}

// anchor translates the beginnings of paths that have another meaning in a policy.
func (d *draft) anchor(text string, s syntax) string {
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		return text
	case s.ignore && strings.HasPrefix(text, "/"):
		return d.below(s.root, text[1:])
	case s.ignore || strings.HasPrefix(text, "/"):
		return text // relative paths start at the working directory
	}
	return d.below(s.root, text)
}

// below joins a relative path to root, and returns the shortest form of it.
func (d *draft) below(root, rel string) string {
	switch home := d.host.Home; {
	case root == "" || root == d.host.Dir:
		return rel
	case isWithin(root, home) && home != "/":
		return "~" + escape(root[len(home):]) + "/" + rel
	}
	return escape(root) + "/" + rel
}

// pattern makes the pattern of a text in the tool's syntax.
func (d *draft) pattern(text string, glob bool, s syntax) (pattern, string) {
	if !glob {
		if s.ignore {
			text = unescape(text)
		}
		text = cleanPath(text)
		return pattern{text: text, base: d.resolve(text)}, ""
	}
	parts := strings.Split(text, "/")
	var out []string
	for i, part := range parts {
		switch {
		case i > 0 && part == "" || part == ".":
			continue
		case part == "..":
			if strings.ContainsAny(strings.Join(out, ""), `*?[{\`) {
				return pattern{}, "a glob cannot have .. in it"
			}
		case part == "**" && len(out) > 0 && out[len(out)-1] == "**":
			continue
		case part != "**" && strings.Contains(part, "**"):
			if !strings.HasPrefix(part, "**") || strings.Contains(part[2:], "**") {
				return pattern{}, "a glob cannot have ** inside a name"
			}
			out = append(out, "**")
			part = part[1:]
		}
		out = append(out, part)
	}
	text = strings.Join(out, "/")
	if strings.Count(text, "**") > maxStars || strings.Count(text, "*") > 4*maxStars || strings.Count(text, ",") > 4*maxStars {
		return pattern{}, "the glob is too complicated"
	}
	p := pattern{text: text}
	p.base, p.rest = splitGlob(text)
	if !doublestar.ValidatePattern(p.rest) {
		return pattern{}, "the glob is broken"
	}
	p.base = d.resolve(p.base)
	return p, ""
}

// cleanPath is path.Clean, except that ~/.. is not the working directory.
func cleanPath(text string) string {
	rel, home := strings.CutPrefix(text, "~/")
	text = path.Clean(rel)
	switch {
	case home && text == ".":
		return "~"
	case home:
		return "~/" + strings.TrimLeft(text, "/")
	}
	return text
}

// splitGlob splits a glob before its first component with a metacharacter.
func splitGlob(text string) (base, rest string) {
	cut := 0
	for i := 0; i < len(text) && !strings.ContainsRune(`*?[{\`, rune(text[i])); i++ {
		if text[i] == '/' {
			cut = i + 1
		}
	}
	base = text[:cut]
	if base == "" {
		base = "."
	}
	return base, text[cut:]
}

// resolve makes a path absolute and follows links as far as it exists.
func (d *draft) resolve(text string) string {
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		text = d.host.Home + text[1:]
	case !strings.HasPrefix(text, "/"):
		text = d.host.Dir + "/" + text
	}
	text = filepath.Clean(text)
	missing := ""
	for dir := text; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, missing)
		}
		if dir == filepath.Dir(dir) {
			return text
		}
		missing = filepath.Join(filepath.Base(dir), missing)
		dir = filepath.Dir(dir)
	}
}

func (p pattern) isGlob() bool { return p.rest != "" }

// matches reports whether p stands for the absolute path at.
func (p pattern) matches(at string) bool {
	if !p.isGlob() {
		return at == p.base
	}
	if !isWithin(at, p.base) || at == p.base {
		return false
	}
	ok, _ := doublestar.Match(p.rest, strings.TrimPrefix(at[len(p.base):], "/")) // validated
	return ok
}

// isAbove reports whether the absolute path at matches p or lies below a match.
func (p pattern) isAbove(at string) bool {
	if !p.isGlob() {
		return isWithin(at, p.base)
	}
	for ; isWithin(at, p.base); at = filepath.Dir(at) {
		if p.matches(at) {
			return true
		}
		if at == "/" {
			break
		}
	}
	return false
}

// canReach reports whether p, a glob, may match a path at or below those that o matches.
// In doubt it returns true.
func (p pattern) canReach(o pattern) bool {
	if !p.isGlob() {
		return false
	}
	if o.isGlob() || isWithin(p.base, o.base) {
		return isWithin(p.base, o.base) || isWithin(o.base, p.base)
	}
	if !isWithin(o.base, p.base) {
		return false
	}
	names := strings.Split(strings.Trim(o.base[len(p.base):], "/"), "/")
	globs := strings.Split(p.rest, "/")
	for i, name := range names {
		if i >= len(globs) {
			return false
		}
		if strings.Contains(globs[i], "**") || strings.ContainsAny(globs[i], "{}") {
			return true
		}
		if ok, _ := doublestar.Match(globs[i], name); !ok {
			return false
		}
	}
	return true
}

// isWithin reports whether at is root or lies below it. Both are clean and absolute.
func isWithin(at, root string) bool {
	return at == root || root == "/" || strings.HasPrefix(at, root) && at[len(root)] == '/'
}

// escape escapes metacharacters, so that s stands for itself in a glob.
func escape(s string) string {
	if !strings.ContainsAny(s, "*?[]{}") {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(s)
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
