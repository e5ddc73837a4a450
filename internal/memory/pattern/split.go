package pattern

import "strings"

// IsMagic reports whether a text, as a pattern, can match anything but itself; ext is for extended patterns.
func IsMagic(s string, ext bool) bool {
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

// SplitColons cuts at colons that are neither in brackets nor behind a backslash.
func SplitColons(s string) []string {
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

// SplitComponents cuts the pattern of a path at slashes. Of several in a row the component before has all but one.
func SplitComponents(pat string) []string {
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

// HasDotFirst reports whether a pattern begins with a dot of its own; in an extended one any
// alternative may.
func HasDotFirst(pat string, ext bool) bool { return hasDotFirst(pat, ext, 0) }

// hasDotFirst is HasDotFirst at a depth of groups, of which Compile has no more than maxDepth.
func hasDotFirst(pat string, ext bool, depth int) bool {
	switch {
	case pat == "":
		return false
	case pat[0] == '.' || strings.HasPrefix(pat, `\.`):
		return true
	case ext && depth < maxDepth && len(pat) > 1 && pat[1] == '(' && strings.IndexByte("?*+@", pat[0]) >= 0:
		if end := newBrackets(pat).close(1); end > 0 {
			for alt := range strings.SplitSeq(pat[2:end], "|") {
				if hasDotFirst(alt, ext, depth+1) {
					return true
				}
			}
			if pat[0] == '?' || pat[0] == '*' {
				return hasDotFirst(pat[end+1:], ext, depth+1)
			}
		}
	}
	return false
}

// Unescape removes the backslashes that quote.
func Unescape(s string) string {
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

// special are the bytes with a meaning in a pattern.
const special = `*?[]\()|!+@-^`

// Escape returns a pattern that matches just s.
func Escape(s string) string {
	if !strings.ContainsAny(s, special) {
		return s
	}
	return string(AppendEscaped(make([]byte, 0, len(s)+8), s))
}

// AppendEscaped appends Escape of s to b.
func AppendEscaped(b []byte, s string) []byte {
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			b = append(b, '\\')
		}
		b = append(b, s[i])
	}
	return b
}
