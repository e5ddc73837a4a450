package pattern

import "strings"

// brackets finds where the brackets and parentheses of a text close. In a long text it finds all of them at
// once: the search for one that does not close goes to the end each time.
type brackets struct {
	s     string
	class []int32 // where a bracket expression ends whose inside goes on here, 0: nowhere; nil: s is short
	group []int32 // where the parenthesis here closes, 0: nowhere
}

// shortPattern is the length up to which brackets are searched linearly, in bytes.
const shortPattern = 256

func newBrackets(s string) *brackets {
	b := &brackets{s: s}
	if len(s) > shortPattern && strings.ContainsAny(s, "[(") {
		b.findClasses()
		b.findGroups()
	}
	return b
}

// findClasses goes from the end to the beginning.
func (b *brackets) findClasses() {
	n := len(b.s)
	b.class = make([]int32, n+1)
	var named [3][3]int32 // for : . and =, where one closes that goes on here, a character on, and two
	for i := n - 1; i >= 0; i-- {
		c := b.s[i]
		for k := range named {
			named[k][2], named[k][1] = named[k][1], named[k][0]
			if c == ":.="[k] && i+1 < n && b.s[i+1] == ']' {
				named[k][0] = int32(i + 2)
			}
		}
		switch {
		case c == ']':
			b.class[i] = int32(i + 1)
			continue
		case c == '\\' && i+1 < n:
			b.class[i] = b.class[i+2]
			continue
		case c == '[' && i+1 < n:
			if k := strings.IndexByte(":.=", b.s[i+1]); k >= 0 && named[k][2] > 0 {
				b.class[i] = b.class[named[k][2]]
				continue
			}
		}
		b.class[i] = b.class[i+1]
	}
}

func (b *brackets) findGroups() {
	b.group = make([]int32, len(b.s))
	var open []int
	for i := 0; i < len(b.s); i++ {
		switch b.s[i] {
		case '\\':
			i++
		case '[':
			if n := b.classLen(i); n > 0 {
				i += n - 1
			}
		case '(':
			open = append(open, i)
		case ')':
			if n := len(open); n > 0 {
				b.group[open[n-1]] = int32(i)
				open = open[:n-1]
			}
		}
	}
}

// classLen returns the length of the bracket expression at i, 0 when there is none.
func (b *brackets) classLen(i int) int {
	if b.class == nil {
		return classLen(b.s[i:])
	}
	if end := int(b.class[classBody(b.s, i)]); end > 0 {
		return end - i
	}
	return 0
}

// classBody returns where the inside of the bracket expression at i goes on behind its first characters,
// which may be a ].
func classBody(s string, i int) int {
	i++
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	return i
}

// classLen returns the length of the bracket expression that s begins with, 0 when it is none.
func classLen(s string) int {
	i := classBody(s, 0)
	for i < len(s) && s[i] != ']' {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
		case s[i] == '[' && i+1 < len(s) && strings.IndexByte(":.=", s[i+1]) >= 0:
			if end := strings.Index(s[i+2:], string(s[i+1])+"]"); end >= 0 {
				i += end + 3
			}
		}
		i++
	}
	if i >= len(s) {
		return 0
	}
	return i + 1
}

// close returns where the parenthesis at i closes, -1 when it does not.
func (b *brackets) close(i int) int {
	if b.group != nil {
		if end := int(b.group[i]); end > 0 {
			return end
		}
		return -1
	}
	depth := 0
	for ; i < len(b.s); i++ {
		switch b.s[i] {
		case '\\':
			i++
		case '[':
			if n := b.classLen(i); n > 0 {
				i += n - 1
			}
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
