package pattern

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
)

// class is a bracket expression.
type class struct {
	not    bool
	fold   bool
	runes  []rune
	ranges [][2]rune
	named  []func(rune) bool
}

func foldRune(r rune) rune {
	if r < 0 {
		return r
	}
	return unicode.ToLower(r)
}

func (c *class) has(r rune) bool {
	in := c.in(r)
	if !in && c.fold && r >= 0 {
		in = c.in(unicode.ToUpper(r))
	}
	return in != c.not
}

func (c *class) in(r rune) bool {
	if slices.Contains(c.runes, r) {
		return true
	}
	for _, x := range c.ranges {
		if r >= x[0] && r <= x[1] {
			return true
		}
	}
	for _, f := range c.named {
		if f(r) {
			return true
		}
	}
	return false
}

// namedClasses are the classes of POSIX, and two of bash.
var namedClasses = map[string]func(rune) bool{
	"alpha": unicode.IsLetter,
	"digit": func(r rune) bool { return r >= '0' && r <= '9' },
	"alnum": func(r rune) bool {
		return unicode.IsLetter(r) || r >= '0' && r <= '9' || r > 0x7f && unicode.IsDigit(r)
	},
	"upper": unicode.IsUpper,
	"lower": unicode.IsLower,
	"space": func(r rune) bool {
		return r == ' ' || r >= '\t' && r <= '\r' || r > 0x7f && unicode.IsSpace(r) && r != 0x85 && r != 0xa0
	},
	"blank": func(r rune) bool { return r == ' ' || r == '\t' },
	"punct": func(r rune) bool {
		return r > ' ' && r < 0x7f && !isAlnum(r) || r > 0x7f && (unicode.IsPunct(r) || unicode.IsSymbol(r))
	},
	"print":  char.IsPrintable,
	"graph":  func(r rune) bool { return char.IsPrintable(r) && !unicode.IsSpace(r) },
	"cntrl":  func(r rune) bool { return r >= 0 && (r < ' ' || r == 0x7f) },
	"xdigit": func(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'f' },
	"word": func(r rune) bool {
		return r == '_' || isAlnum(r) || r > 0x7f && (unicode.IsLetter(r) || unicode.IsDigit(r))
	},
	"ascii": func(r rune) bool { return r >= 0 && r < 0x80 },
}

func isAlnum(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }

// parseClass reads a bracket expression, all of s.
func parseClass(s string, fold bool) *class {
	c := &class{fold: fold}
	r := classReader{s: s, i: 1, end: len(s) - 1}
	if s[1] == '!' || s[1] == '^' {
		c.not = true
		r.i++
	}
	for r.i < r.end {
		if name, ok := r.named(':', 0); ok {
			if f := namedClasses[name]; f != nil {
				c.named = append(c.named, f)
			}
			continue
		}
		lo := r.char()
		if r.i+1 < r.end && s[r.i] == '-' && s[r.i+1] != ']' {
			r.i++
			if hi := r.char(); lo <= hi {
				c.ranges = append(c.ranges, [2]rune{lo, hi})
			}
			continue
		}
		c.runes = append(c.runes, lo)
	}
	return c
}

// classReader reads the inside of a bracket expression.
type classReader struct {
	s       string
	i, end  int
	missing [128]bool // no :] or its like is left
}

// named reads [:name:] and its like; min is how short the name may be.
func (r *classReader) named(mark byte, least int) (string, bool) {
	rest := r.s[r.i:r.end]
	if len(rest) < 2 || rest[0] != '[' || rest[1] != mark || r.missing[mark] {
		return "", false
	}
	stop := strings.Index(rest[2:], string(mark)+"]")
	if stop < 0 {
		r.missing[mark] = true
	}
	if stop < least {
		return "", false
	}
	r.i += stop + 4
	return rest[2 : 2+stop], true
}

// char reads one character: plain, quoted, or [.x.] and [=x=].
func (r *classReader) char() rune {
	for _, mark := range [...]byte{'.', '='} {
		if name, ok := r.named(mark, 1); ok {
			c, _ := char.Decode(name)
			return c
		}
	}
	if r.s[r.i] == '\\' && r.i+1 < r.end {
		r.i++
	}
	c, n := char.Decode(r.s[r.i:r.end])
	r.i += n
	return c
}
