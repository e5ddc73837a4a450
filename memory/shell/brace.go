package shell

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// bracePart is {a,b} or {1..9}.
type bracePart struct {
	alts [][]wpart
	seq  *sequence
}

// expand is for a word that expands to one string, where braces do not count; braceFields
// takes them apart before.
func (p *bracePart) expand(*fields, bool) {}

// sequence is {from..to..step}.
type sequence struct {
	from, to, step int64
	char           bool
	width          int // of numbers with leading zeros
}

func hasBraces(list []syntax.Part) bool {
	open := false
	for _, p := range list {
		if l, ok := p.(*syntax.Lit); ok {
			if strings.IndexByte(l.S, '{') >= 0 {
				open = true
			}
			if open && strings.IndexByte(l.S, '}') >= 0 {
				return true
			}
		}
	}
	return false
}

// braceToken is a byte of literal text, or a part that braces do not look into.
type braceToken struct {
	c    byte
	part syntax.Part
}

// braces compiles parts with brace expansions; false when there are none after all.
func (c *compiler) braces(list []syntax.Part) ([]wpart, bool) {
	var toks []braceToken
	for _, p := range list {
		if l, ok := p.(*syntax.Lit); ok {
			for i := range len(l.S) {
				toks = append(toks, braceToken{c: l.S[i]})
			}
			continue
		}
		toks = append(toks, braceToken{part: p})
	}
	found := false
	parts := c.braceParts(toks, &found, 0)
	return parts, found
}

// braceParts compiles tokens.
func (c *compiler) braceParts(toks []braceToken, found *bool, depth int) []wpart {
	var out []wpart
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			out = append(out, &litPart{string(lit)})
			lit = nil
		}
	}
	for i := 0; i < len(toks); i++ {
		t := toks[i]
		if t.part != nil {
			flush()
			out = append(out, c.part(t.part))
			continue
		}
		if t.c == '{' && depth < 100 {
			if b, end := c.brace(toks, i, found, depth); b != nil {
				flush()
				out = append(out, b)
				i = end
				continue
			}
		}
		lit = append(lit, t.c)
	}
	flush()
	return out
}

// brace compiles the brace that opens at i; nil when it is literal.
func (c *compiler) brace(toks []braceToken, i int, found *bool, nested int) (*bracePart, int) {
	depth, commas := 0, []int{}
	for j := i; j < len(toks); j++ {
		switch toks[j].c {
		case '{':
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, j)
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			if len(commas) == 0 {
				if s := braceSequence(toks[i+1 : j]); s != nil {
					*found = true
					return &bracePart{seq: s}, j
				}
				return nil, 0
			}
			*found = true
			b := &bracePart{}
			start := i + 1
			for _, k := range append(commas, j) {
				b.alts = append(b.alts, c.braceParts(toks[start:k], found, nested+1))
				start = k + 1
			}
			return b, j
		}
	}
	return nil, 0
}

// braceSequence understands from..to and from..to..step.
func braceSequence(toks []braceToken) *sequence {
	b := make([]byte, 0, len(toks))
	for _, t := range toks {
		if t.part != nil {
			return nil
		}
		b = append(b, t.c)
	}
	f := strings.Split(string(b), "..")
	if len(f) < 2 || len(f) > 3 {
		return nil
	}
	s := &sequence{step: 1}
	if len(f) == 3 {
		n, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil || n == -1<<63 {
			return nil
		}
		s.step = max(n, -n)
		if n == 0 {
			s.step = 1
		}
	}
	from, err1 := strconv.ParseInt(f[0], 10, 64)
	to, err2 := strconv.ParseInt(f[1], 10, 64)
	switch {
	case err1 == nil && err2 == nil:
		s.from, s.to = from, to
		if zeroPadded(f[0]) || zeroPadded(f[1]) {
			s.width = max(len(f[0]), len(f[1]))
		}
	case len(f[0]) == 1 && len(f[1]) == 1 && isLetter(f[0][0]) && isLetter(f[1][0]):
		s.from, s.to, s.char = int64(f[0][0]), int64(f[1][0]), true
	default:
		return nil
	}
	span := uint64(s.to) - uint64(s.from)
	if s.to < s.from {
		span = uint64(s.from) - uint64(s.to)
	}
	if span/uint64(s.step) > math.MaxInt32-3 {
		return nil
	}
	return s
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func zeroPadded(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0'
}

// text returns an element of the sequence.
func (s *sequence) text(n int64) string {
	if s.char && n == '\\' {
		return "" // bash takes it for a quote.
	}
	if s.char {
		return string(byte(n))
	}
	t := strconv.FormatInt(n, 10)
	if s.width > len(t) {
		if n < 0 {
			return "-" + strings.Repeat("0", s.width-len(t)) + t[1:]
		}
		return strings.Repeat("0", s.width-len(t)) + t
	}
	return t
}

// braceFields expands the braces of rest, from the left, and then each word.
func (sh *interp) braceFields(before, rest []wpart) {
	for i, p := range rest {
		b, ok := p.(*bracePart)
		if !ok {
			continue
		}
		before = append(slices.Clip(before), rest[:i]...)
		rest = rest[i+1:]
		if b.seq != nil {
			sh.braceSequence(b.seq, before, rest)
			return
		}
		for _, alt := range b.alts {
			sh.braceFields(before, append(slices.Clip(alt), rest...))
			if !sh.spend(1) {
				return
			}
		}
		return
	}
	sh.partFields(bracedTilde(append(slices.Clip(before), rest...)))
}

// bracedTilde finds a tilde at the beginning of a word that braces have made.
func bracedTilde(parts []wpart) []wpart {
	if len(parts) == 0 {
		return parts
	}
	l, ok := parts[0].(*litPart)
	if !ok || !strings.HasPrefix(l.s, "~") {
		return parts
	}
	text, n := "", 0
	for ; n < len(parts); n++ {
		l, ok := parts[n].(*litPart)
		if !ok {
			break
		}
		text += l.s
	}
	name, rest := text[1:], ""
	if i := strings.IndexByte(text, '/'); i > 0 {
		name, rest = text[1:i], text[i:]
	} else if n < len(parts) {
		return parts
	}
	return append([]wpart{&tildePart{name: name}, &litPart{rest}}, parts[n:]...)
}

// partsText returns the plain text of parts.
func partsText(parts []wpart) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case *litPart:
			b.WriteString(p.s)
		case *quotedPart:
			b.WriteString(p.s)
		}
	}
	return b.String()
}

func (sh *interp) braceSequence(s *sequence, before, rest []wpart) {
	step := s.step
	down := s.to < s.from
	plain := len(before) == 0 && len(rest) == 0 && !s.char
	for n := s.from; ; {
		text := s.text(n)
		switch {
		case plain:
			sh.hold(16 + len(text))
			sh.push(text)
		default:
			if s.char && text == "`" && len(rest) > 0 { // The text of the word is read again, as it were.
				sh.errorf("bad substitution: no closing \"`\" in `%s", partsText(rest))
				sh.abort()
				return
			}
			var item wpart = &litPart{text}
			if s.char {
				item = &quotedPart{strings.TrimPrefix(text, `\`)}
			}
			sh.braceFields(before, append([]wpart{item}, rest...))
		}
		if !sh.tick() {
			return
		}
		left := uint64(s.to) - uint64(n)
		if down {
			left = uint64(n) - uint64(s.to)
		}
		if left < uint64(step) {
			return
		}
		if down {
			n -= step
		} else {
			n += step
		}
	}
}
