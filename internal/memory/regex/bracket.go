package regex

import "strings"

// element is one element of a bracket expression: a character, or a class that cannot be the end of a range.
type element struct {
	r     rune
	class *set
}

// bracket reads a bracket expression; p.tok is its opening bracket.
func (p *parser) bracket() (*node, error) {
	p.pos += p.tok.width
	p.tok = lexeme{}
	negated := false
	if p.pos < len(p.src) && p.src[p.pos] == '^' {
		negated = true
		p.pos++
	}
	s, start := &set{}, p.pos
	for first := true; ; first = false {
		if p.pos >= len(p.src) {
			if first {
				return nil, p.fail(errPattern)
			}
			return nil, p.fail(errBracket)
		}
		if p.src[p.pos] == ']' && !first {
			break
		}
		if err := p.bracketPart(s, first); err != nil {
			return nil, err
		}
	}
	if body := p.src[start:p.pos]; p.flags&Grep != 0 && isMissingBrackets(body) {
		return nil, p.fail("character class syntax is [[:space:]], not [:space:]")
	}
	p.pos++
	p.tok = p.peek(p.syn)
	return p.class(s, negated), nil
}

// isMissingBrackets reports whether the outer brackets of a class are missing.
func isMissingBrackets(body string) bool {
	return len(body) > 2 && body[0] == ':' && body[len(body)-1] == ':' && !strings.ContainsAny(body, "-[")
}

// bracketPart reads a character, class or range into s.
func (p *parser) bracketPart(s *set, first bool) error {
	start, err := p.bracketElement(first)
	if err != nil {
		return err
	}
	if start.class != nil {
		s.addSet(start.class)
		return nil
	}
	if !p.rangeFollows() {
		if p.pos >= len(p.src) {
			return p.fail(errBracket)
		}
		s.add(start.r, start.r)
		return nil
	}
	p.pos++
	if p.pos >= len(p.src) {
		return p.fail(errBracket)
	}
	end, err := p.bracketElement(true)
	if err != nil {
		return err
	}
	if end.class != nil || start.r > end.r && p.syn&noEmptyRanges != 0 {
		return p.fail(errRange)
	}
	s.add(start.r, end.r)
	return nil
}

// rangeFollows reports whether the next character is a - that is not the last character.
func (p *parser) rangeFollows() bool {
	return p.pos < len(p.src) && p.src[p.pos] == '-' && (p.pos+1 >= len(p.src) || p.src[p.pos+1] != ']')
}

func (p *parser) bracketElement(hyphen bool) (element, error) {
	if p.src[p.pos] == '[' && p.pos+1 < len(p.src) && strings.IndexByte(".=:", p.src[p.pos+1]) >= 0 {
		return p.named()
	}
	if p.src[p.pos] == '-' && !hyphen && p.rangeFollows() {
		return element{}, p.fail(errRange)
	}
	r, n := p.char(p.pos)
	p.pos += n
	return element{r: r}, nil
}

// named reads [:class:], [=c=] or [.c.].
func (p *parser) named() (element, error) {
	delim := p.src[p.pos+1]
	name, _, ok := strings.Cut(p.src[p.pos+2:], string([]byte{delim, ']'}))
	if !ok {
		return element{}, p.fail(errBracket)
	}
	p.pos += len(name) + 4
	if delim == ':' {
		if p.flags&IgnoreCase != 0 && (name == "upper" || name == "lower") {
			name = "alpha"
		}
		class := ctype(name, p.flags&Bytes != 0)
		if class == nil || name == "word" {
			return element{}, p.fail(errCtype)
		}
		return element{class: class}, nil
	}
	sub := &parser{src: name, flags: p.flags}
	if name == "" {
		return element{}, p.fail(errCollate)
	}
	r, n := sub.char(0)
	// Neither locale has names for characters or characters of several letters.
	if n != len(name) {
		return element{}, p.fail(errCollate)
	}
	if delim == '=' {
		return element{class: &set{ranges: []rune{r, r}}}, nil
	}
	return element{r: r}, nil
}
