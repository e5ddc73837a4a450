package shell

import (
	"slices"
	"strings"
	"unicode"
)

// charClass is [...].
type charClass struct {
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

func (c *charClass) has(r rune) bool {
	in := c.in(r)
	if !in && c.fold && r >= 0 {
		in = c.in(unicode.ToUpper(r))
	}
	return in != c.not
}

func (c *charClass) in(r rune) bool {
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

// namedClasses are those of POSIX.
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
	"print": func(r rune) bool { return r >= ' ' && r < 0x7f || r > 0x7f && unicode.IsPrint(r) },
	"graph": func(r rune) bool {
		return r > ' ' && r < 0x7f || r > 0x7f && unicode.IsGraphic(r) && !unicode.IsSpace(r)
	},
	"cntrl":  func(r rune) bool { return r >= 0 && (r < ' ' || r == 0x7f) },
	"xdigit": func(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'f' },
	"word": func(r rune) bool {
		return r == '_' || isAlnum(r) || r > 0x7f && (unicode.IsLetter(r) || unicode.IsDigit(r))
	},
	"ascii": func(r rune) bool { return r >= 0 && r < 0x80 },
}

func isAlnum(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }

// classLen returns the length of the bracket expression that s begins with, 0 when it is none.
func classLen(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
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

// parseClass reads the bracket expression that s begins with; nil when it is none.
func parseClass(s string, fold bool) (*charClass, int) {
	n := classLen(s)
	if n == 0 {
		return nil, 0
	}
	c := &charClass{fold: fold}
	i, end := 1, n-1
	if s[i] == '!' || s[i] == '^' {
		c.not = true
		i++
	}
	for first := true; i < end; first = false {
		if s[i] == '[' && i+1 < end && s[i+1] == ':' {
			if stop := strings.Index(s[i+2:end], ":]"); stop >= 0 {
				if f := namedClasses[s[i+2:i+2+stop]]; f != nil {
					c.named = append(c.named, f)
				}
				i += stop + 4
				continue
			}
		}
		lo, w := classRune(s[i:end], first)
		i += w
		if i+1 < end && s[i] == '-' && s[i+1] != ']' {
			hi, w := classRune(s[i+1:end], false)
			i += 1 + w
			if lo <= hi {
				c.ranges = append(c.ranges, [2]rune{lo, hi})
			}
			continue
		}
		c.runes = append(c.runes, lo)
	}
	return c, n
}

// classRune reads one character inside brackets: plain, quoted, or [.x.] and [=x=].
func classRune(s string, _ bool) (rune, int) {
	switch {
	case s[0] == '\\' && len(s) > 1:
		r, n := decodeRune(s[1:])
		return r, n + 1
	case s[0] == '[' && len(s) > 1 && (s[1] == '.' || s[1] == '='):
		if end := strings.Index(s[2:], string(s[1])+"]"); end > 0 {
			r, _ := decodeRune(s[2:])
			return r, end + 4
		}
	}
	return decodeRune(s)
}
