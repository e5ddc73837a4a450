package regex

import "strings"

// class reads a bracket expression as Perl writes it.
func (p *perlParser) class() (*node, error) {
	p.pos++
	negated := p.accept("^")
	s := &set{}
	for first := true; ; first = false {
		if p.pos >= len(p.src) {
			return nil, p.fail(perlClassEnd)
		}
		if p.peek() == ']' && !first {
			break
		}
		if err := p.classPart(s); err != nil {
			return nil, err
		}
	}
	p.pos++
	return classNode(s, negated, p.own()), nil
}

// classPart reads a character, a range or a set.
func (p *perlParser) classPart(s *set) error {
	if p.accept(`\E`) {
		return nil
	}
	if p.accept(`\Q`) {
		text, _, _ := strings.Cut(p.src[p.pos:], `\E`)
		for end := p.pos + len(text); p.pos < end; {
			r := p.char()
			s.add(r, r)
		}
		return nil
	}
	members, lo, err := p.classItem()
	if err != nil {
		return err
	}
	if members != nil {
		s.addSet(members)
		if p.peek() == '-' && p.pos+1 < len(p.src) && p.src[p.pos+1] != ']' {
			return p.fail(perlBadRange)
		}
		return nil
	}
	if p.peek() != '-' || p.pos+1 >= len(p.src) || p.src[p.pos+1] == ']' {
		s.add(lo, lo)
		return nil
	}
	p.pos++
	members, hi, err := p.classItem()
	switch {
	case err != nil:
		return err
	case members != nil:
		return p.fail(perlBadRange)
	case hi < lo:
		return p.fail(perlRange)
	}
	s.add(lo, hi)
	return nil
}

func (p *perlParser) classItem() (members *set, r rune, err error) {
	if p.peek() == '[' && p.pos+1 < len(p.src) && strings.IndexByte(":.=", p.src[p.pos+1]) >= 0 {
		if s, ok, err := p.posixClass(); ok || err != nil {
			return s, 0, err
		}
	}
	if p.peek() == '\\' {
		return p.escaped(true)
	}
	return nil, p.char(), nil
}

// posixClass reads [:alpha:] or [:^alpha:].
func (p *perlParser) posixClass() (s *set, ok bool, err error) {
	delim := p.src[p.pos+1]
	body, _, found := strings.Cut(p.src[p.pos+2:], string([]byte{delim, ']'}))
	if !found || strings.Trim(body, "^abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, false, nil
	}
	if delim != ':' {
		return nil, false, p.fail("POSIX collating elements are not supported")
	}
	name, negated := strings.CutPrefix(body, "^")
	if p.opts.fold && (name == "upper" || name == "lower") {
		name = "alpha"
	}
	class := ctype(name, true)
	if name == "ascii" {
		class = &set{ranges: []rune{0, 127}}
	}
	if class == nil {
		return nil, false, p.fail(perlPosix)
	}
	p.pos += len(body) + 4
	s = &set{}
	s.addSet(class)
	if negated {
		p.negate(s)
	}
	return s, true, nil
}
