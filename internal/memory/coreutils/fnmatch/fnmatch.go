// Package fnmatch matches names with patterns of the shell, as fnmatch(3) does.
package fnmatch

import (
	"strings"
	"unicode/utf8"
)

// Flags change how a pattern matches.
type Flags uint8

// The flags.
const (
	Path       Flags = 1 << iota // * and ? do not match a slash
	globPeriod                   // a dot at the start has to be matched by a dot
	Fold                         // letters match in both cases
	globRaw                      // a backslash is itself
)

// Match reports whether name matches a pattern of fnmatch(3).
func Match(pattern, name string, flags Flags) bool {
	if flags&Fold != 0 {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	return globAt(pattern, name, flags, true)
}

// globAt matches by going back to the last star only, so that it takes at most the
// product of the lengths.
func globAt(pattern, name string, flags Flags, start bool) bool {
	if flags&globPeriod != 0 && start && strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") &&
		!strings.HasPrefix(pattern, `\.`) {
		return false
	}
	p, s := 0, 0
	starP, starS := -1, 0
	for s < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			starP, starS = p, s
			continue
		}
		if n, size, ok := globOne(pattern[p:], name[s:], flags); ok {
			p += n
			s += size
			continue
		}
		if starP < 0 || flags&Path != 0 && name[starS] == '/' {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[starS:])
		starS += size
		p, s = starP, starS
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// globOne matches the first element of a pattern with the first character of name; it
// returns the lengths of both.
func globOne(pattern, name string, flags Flags) (n, size int, ok bool) {
	if pattern == "" {
		return 0, 0, false
	}
	r, size := utf8.DecodeRuneInString(name)
	switch c := pattern[0]; {
	case c == '?':
		return 1, size, flags&Path == 0 || r != '/'
	case c == '[':
		n, in := globClass(pattern, r, flags)
		if n > 0 {
			return n, size, in && (flags&Path == 0 || r != '/')
		}
		return 1, 1, name[0] == '['
	case c == '\\' && flags&globRaw == 0 && len(pattern) > 1:
		return 2, 1, pattern[1] == name[0]
	default:
		return 1, 1, c == name[0]
	}
}

// globClass matches r with the bracket expression at the start of pattern, and returns
// its length; 0 when it has no end.
func globClass(pattern string, r rune, flags Flags) (n int, in bool) {
	i := 1
	negated := false
	if i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^') {
		negated = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, in != negated
		}
		if class, rest, ok := namedClass(pattern[i:]); ok {
			in = in || isInClass(class, r)
			i = len(pattern) - len(rest)
			continue
		}
		low, size := classRune(pattern[i:], flags)
		i += size
		high := low
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			high, size = classRune(pattern[i+1:], flags)
			i += 1 + size
		}
		in = in || low <= r && r <= high
	}
}

func classRune(s string, flags Flags) (rune, int) {
	if s[0] == '\\' && flags&globRaw == 0 && len(s) > 1 {
		r, n := utf8.DecodeRuneInString(s[1:])
		return r, n + 1
	}
	return utf8.DecodeRuneInString(s)
}

func namedClass(s string) (name, rest string, ok bool) {
	if !strings.HasPrefix(s, "[:") {
		return "", s, false
	}
	name, rest, ok = strings.Cut(s[2:], ":]")
	return name, rest, ok
}

func isInClass(name string, r rune) bool {
	lower, upper, digit := r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return r == ' ' || r >= '\t' && r <= '\r'
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return r > ' ' && r < 0x7f && !lower && !upper && !digit
	case "print":
		return r >= ' ' && r < 0x7f
	case "graph":
		return r > ' ' && r < 0x7f
	case "cntrl":
		return r < ' ' || r == 0x7f
	case "xdigit":
		return digit || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F'
	}
	return false
}

// MatchesAny reports whether a name matches one of the patterns, a leading dot only by a dot.
func MatchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if Match(p, name, globPeriod) {
			return true
		}
	}
	return false
}
