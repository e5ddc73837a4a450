package hosts

import (
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"
)

// pathPattern is a path with wildcards, split at its slashes.
type pathPattern struct{ segments []string }

// parsePathPattern reads "/a/*/b/**". It returns nil for a pattern that is any path.
func parsePathPattern(s string) (*pathPattern, error) {
	if strings.ContainsAny(s, "?#") {
		return nil, errors.New("a path has no query; every query is allowed")
	}
	if s == "/**" {
		return nil, nil //nolint:nilnil // nil is "any path", as in rule.path
	}
	if _, err := pathForms(s); err != nil {
		return nil, err
	}
	if keepSlashes(s) != s {
		return nil, errors.New("an encoded slash cannot be matched; write /** there")
	}
	decoded, err := url.PathUnescape(s)
	if err != nil {
		return nil, errors.New("the path has a broken escape")
	}
	p := &pathPattern{segments: strings.Split(decoded[1:], "/")}
	stars := 0
	for _, seg := range p.segments {
		if seg != "**" && strings.Contains(seg, "**") {
			return nil, errors.New("** stands for whole segments: /a/**")
		}
		stars += strings.Count(seg, "*")
	}
	if stars > 16 {
		return nil, errors.New("the path has more than 16 wildcards")
	}
	return p, nil
}

// match takes time proportional to the product of both lengths for every path.
func (p *pathPattern) match(path string) bool {
	segs := strings.Split(strings.TrimPrefix(path, "/"), "/")
	// reach[j]: the pattern so far may have consumed the first j segments.
	reach := make([]bool, len(segs)+1)
	reach[0] = true
	for _, pat := range p.segments {
		next := make([]bool, len(segs)+1)
		for j := range reach {
			switch {
			case pat == "**":
				next[j] = reach[j] || (j > 0 && next[j-1])
			case j > 0:
				next[j] = reach[j-1] && matchSegment(pat, segs[j-1])
			}
		}
		reach = next
	}
	return reach[len(segs)]
}

// matchSegment matches * greedily with one point to go back to.
func matchSegment(pat, s string) bool {
	star, mark, i, j := -1, 0, 0, 0
	for j < len(s) {
		switch {
		case i < len(pat) && pat[i] == '*':
			star, mark = i, j
			i++
		case i < len(pat) && pat[i] == s[j]:
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pat[i:], "*") == ""
}

// pathForms returns every way in which a server may read a raw path: an encoded slash
// as a slash or as a character, with and without empty segments. A rule allows a path
// only when it allows all forms, and denies it when it denies one. A path that servers
// interpret differently (dot segments, backslashes, double encoding) is an error.
func pathForms(raw string) ([]string, error) {
	if raw == "" || raw[0] != '/' {
		return nil, errors.New("the path does not begin with a slash")
	}
	if isDoubleEncoded(raw) {
		return nil, errors.New("the path is encoded twice")
	}
	opaque, err := url.PathUnescape(keepSlashes(raw))
	if err != nil {
		return nil, errors.New("the path has a broken escape")
	}
	plain, err := url.PathUnescape(raw)
	if err != nil {
		return nil, errors.New("the path has a broken escape")
	}
	var forms []string
	for _, f := range []string{opaque, plain} {
		if err := checkUnambiguous(f); err != nil {
			return nil, err
		}
		forms = append(forms, f)
		if dropped := dropEmptySegments(f); dropped != f {
			forms = append(forms, dropped)
		}
	}
	if plain == opaque {
		return forms[:len(forms)/2], nil
	}
	return forms, nil
}

// keepSlashes doubles the escape of encoded slashes, so that one decoding leaves them.
func keepSlashes(raw string) string {
	return strings.NewReplacer("%2f", "%252F", "%2F", "%252F").Replace(raw)
}

func checkUnambiguous(path string) error {
	if !utf8.ValidString(path) {
		return errors.New("the path is not UTF-8")
	}
	for i := range len(path) {
		if c := path[i]; c < 0x20 || c == 0x7f || c == '\\' {
			return errors.New("the path has a control character or backslash")
		}
	}
	for seg := range strings.SplitSeq(path[1:], "/") {
		// "..;x" is ".." for servers that know path parameters.
		seg, _, _ = strings.Cut(seg, ";")
		if seg == "." || seg == ".." {
			return errors.New("the path has a dot segment")
		}
	}
	return nil
}

// isDoubleEncoded finds an encoded percent sign in front of what it would encode.
func isDoubleEncoded(raw string) bool {
	for {
		_, after, ok := strings.Cut(raw, "%25")
		if !ok {
			return false
		}
		if len(after) >= 2 && isHex(after[0]) && isHex(after[1]) {
			return true
		}
		raw = after
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func dropEmptySegments(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}
