package regex

import (
	"strings"
	"unicode"
)

// escape reads an escape outside brackets.
func (p *perlParser) escape() (n *node, repeatable bool, err error) {
	if p.pos+1 >= len(p.src) {
		p.pos++
		return nil, false, p.fail(perlEnd)
	}
	switch c := p.src[p.pos+1]; c {
	case 'b', 'B', 'A', 'Z', 'z', 'G', 'K':
		p.pos += 2
		if c == 'K' && p.looks > 0 {
			return nil, false, p.fail(perlKeep)
		}
		return p.place(c), false, nil
	case 'R':
		p.pos += 2
		return p.lineBreak(), true, nil
	case 'X':
		p.pos += 2
		return p.grapheme(), true, nil
	case 'k', 'g':
		n, err = p.namedReference(c)
		return n, true, err
	}
	if n, ok := p.backNumber(); ok {
		return n, true, nil
	}
	s, r, err := p.escaped(false)
	if err != nil {
		return nil, false, err
	}
	if s != nil {
		return classNode(s, false, p.flags), true, nil
	}
	return p.one(r), true, nil
}

func (p *perlParser) place(c byte) *node {
	a := map[byte]assertion{'b': wordEdge, 'B': notWordEdge, 'A': textStart, 'z': textEnd, 'G': searchStart}[c]
	if p.flags&NoNewline != 0 && (c == 'A' || c == 'z') {
		// Where the text is lines, each is a text of its own.
		a = map[byte]assertion{'A': lineStart, 'z': lineEnd}[c]
	}
	switch c {
	case 'K':
		p.tree.perl = true
		return &node{kind: kindKeep}
	case 'Z':
		return p.placeEnd()
	case 'G':
		p.tree.perl = true
	}
	return &node{kind: kindAssert, n: int(a)}
}

func (p *perlParser) lineBreak() *node {
	p.tree.perl = true
	p.size.parts += 5
	one := &set{ranges: []rune{'\n', '\r', 0x85, 0x85, 0x2028, 0x2029}}
	crlf := concat(p.one('\r'), p.one('\n'))
	return &node{kind: kindAtomic, left: &node{kind: kindAlt, left: crlf, right: classNode(one, false, p.flags)}}
}

// grapheme is a character with the marks that belong to it.
func (p *perlParser) grapheme() *node {
	p.tree.perl = true
	marks := union(unicode.M)
	marks.add(0x200D, 0x200D)
	marks.normalize()
	p.size.ranges += len(marks.ranges)
	more := &node{kind: kindRepeat, left: classNode(marks, false, p.flags), max: -1}
	return &node{kind: kindAtomic, left: concat(classNode(&set{}, true, p.flags), more)}
}

// backNumber reads \1 to \9, and more digits when there are so many groups.
func (p *perlParser) backNumber() (*node, bool) {
	end := p.pos + 1
	for end < len(p.src) && p.src[end] >= '0' && p.src[end] <= '9' {
		end++
	}
	number := p.src[p.pos+1 : end]
	if number == "" || number[0] == '0' {
		return nil, false
	}
	n := decimal(number)
	if n > 9 && n > p.groups-p.first && strings.Trim(number[:1], "01234567") == "" {
		return nil, false
	}
	n, at := n, p.pos
	p.pos = end
	return p.back(reference{&node{n: n}, "", at}), true
}

func (p *perlParser) back(ref reference) *node {
	ref.node.kind, ref.node.fold = kindBack, p.opts.fold
	p.tree.backs = true
	p.refs = append(p.refs, ref)
	return ref.node
}

func (p *perlParser) backName(end byte) (*node, error) {
	at := p.pos
	name, err := p.name(end)
	if err != nil {
		return nil, err
	}
	return p.back(reference{&node{}, name, at}), nil
}

var closers = map[byte]byte{'{': '}', '<': '>', '\'': '\''}

// namedReference reads \k<name>, \g{name}, \g2, \g{-1}.
func (p *perlParser) namedReference(c byte) (*node, error) {
	p.pos += 2
	at := p.pos
	closer, delimited := closers[p.peek()]
	if c == 'k' {
		if !delimited {
			return nil, p.fail(perlKName)
		}
		p.pos++
		return p.backName(closer)
	}
	if delimited && closer != '}' {
		return nil, p.fail(perlRecursion)
	}
	if delimited {
		p.pos++
	}
	relative := p.accept("-")
	from := p.pos
	for p.peek() >= '0' && p.peek() <= '9' {
		p.pos++
	}
	if p.pos == from {
		if !delimited || relative {
			return nil, p.fail(perlGSyntax)
		}
		return p.backName('}')
	}
	n := decimal(p.src[from:p.pos])
	if delimited && !p.accept("}") {
		return nil, p.fail(perlGSyntax)
	}
	if n == 0 {
		return nil, p.fail(perlG)
	}
	if relative {
		if n = p.groups - p.first - n + 1; n < 1 {
			return nil, p.fail(perlReference)
		}
	}
	return p.back(reference{&node{n: n}, "", at}), nil
}

// escaped reads an escape that is a character or a set of them. In brackets some letters
// mean something else.
func (p *perlParser) escaped(inClass bool) (s *set, r rune, err error) {
	p.pos++
	if p.pos >= len(p.src) {
		return nil, 0, p.fail(perlEnd)
	}
	c := p.src[p.pos]
	if s := p.shorthand(c); s != nil {
		p.pos++
		return s, 0, nil
	}
	switch c {
	case 'p', 'P':
		p.pos++
		s, err = p.property(c == 'P')
		return s, 0, err
	case 'x':
		p.pos++
		r, err = p.hex()
		return nil, r, err
	case 'o':
		p.pos++
		r, err = p.octalBrace()
		return nil, r, err
	case 'c':
		p.pos++
		if p.pos >= len(p.src) {
			return nil, 0, p.fail(perlControl)
		}
		r = unicode.ToUpper(rune(p.src[p.pos])) ^ 64
		p.pos++
		return nil, r, nil
	case '0', '1', '2', '3', '4', '5', '6', '7':
		return nil, p.octal(), nil
	}
	if i := strings.IndexByte("aefnrtb", c); i >= 0 && (c != 'b' || inClass) {
		p.pos++
		return nil, rune("\a\x1b\f\n\r\t\b"[i]), nil
	}
	if isWordByte(c) && c != '_' && c < 0x80 && (c < '0' || c > '9') {
		return nil, 0, p.fail(perlEscape)
	}
	return nil, p.char(), nil
}

// shorthand returns the set of \d and the like.
func (p *perlParser) shorthand(c byte) *set {
	names := map[byte]string{'d': "digit", 'w': "word", 's': "space"}
	s := &set{}
	switch c {
	case 'd', 'w', 's', 'D', 'W', 'S':
		s.addSet(ctype(names[c|0x20], true))
	case 'h', 'H':
		s.ranges = []rune{'\t', '\t', ' ', ' ', 0xA0, 0xA0, 0x1680, 0x1680, 0x180E, 0x180E, 0x2000, 0x200A, 0x202F, 0x202F, 0x205F, 0x205F, 0x3000, 0x3000}
	case 'v', 'V':
		s.ranges = []rune{'\n', '\r', 0x85, 0x85, 0x2028, 0x2029}
	case 'N':
		s.ranges = []rune{'\n', '\n'}
	default:
		return nil
	}
	if c < 'a' {
		p.negate(s)
	}
	return s
}

func (p *perlParser) negate(s *set) {
	s.normalize()
	s.negate(p.flags&Bytes != 0)
	if p.flags&Bytes == 0 {
		s.ranges = s.without(0xD800, 0xDFFF).ranges
	}
}

func (p *perlParser) hex() (rune, error) {
	if p.accept("{") {
		body, _, ok := strings.Cut(p.src[p.pos:], "}")
		if !ok || body == "" || strings.Trim(body, "0123456789abcdefABCDEF") != "" {
			return 0, p.fail(perlBrace)
		}
		p.pos += len(body) + 1
		return p.codePoint(body, 16)
	}
	n := 0
	for n < 2 && p.pos+n < len(p.src) && strings.IndexByte("0123456789abcdefABCDEF", p.src[p.pos+n]) >= 0 {
		n++
	}
	body := p.src[p.pos : p.pos+n]
	p.pos += n
	return p.codePoint(body, 16)
}

func (p *perlParser) octalBrace() (rune, error) {
	body, _, ok := strings.Cut(p.src[p.pos:], "}")
	if !ok || len(body) < 2 || body[0] != '{' || strings.Trim(body[1:], "01234567") != "" {
		return 0, p.fail(perlBrace)
	}
	p.pos += len(body) + 1
	return p.codePoint(body[1:], 8)
}

func (p *perlParser) octal() rune {
	n := 0
	for n < 3 && p.pos+n < len(p.src) && p.src[p.pos+n] >= '0' && p.src[p.pos+n] <= '7' {
		n++
	}
	r, _ := p.codePoint(p.src[p.pos:p.pos+n], 8)
	p.pos += n
	return r
}

// codePoint reads the digits of a character's number.
func (p *perlParser) codePoint(body string, base int) (rune, error) {
	n := 0
	for _, c := range []byte(body) {
		d := int(c - '0')
		if c > '9' {
			d = int(c|0x20-'a') + 10
		}
		if n = n*base + d; n > unicode.MaxRune || p.flags&Bytes != 0 && n > 255 {
			return 0, p.fail(perlTooLarge)
		}
	}
	return rune(n), nil
}

// property reads the name after \p.
func (p *perlParser) property(negated bool) (*set, error) {
	if p.pos >= len(p.src) {
		return nil, p.fail(perlMalformed)
	}
	name := p.src[p.pos : p.pos+1]
	if name == "{" {
		body, _, ok := strings.Cut(p.src[p.pos+1:], "}")
		if !ok {
			return nil, p.fail(perlMalformed)
		}
		p.pos += len(body) + 1
		if name = body; strings.HasPrefix(name, "^") {
			name, negated = name[1:], !negated
		}
	}
	p.pos++
	s := propertySet(name)
	if s == nil {
		return nil, p.fail(perlProperty)
	}
	if negated {
		p.negate(s)
	}
	return s, nil
}

func propertySet(name string) *set {
	switch name {
	case "Any":
		return &set{ranges: []rune{0, unicode.MaxRune}}
	case "L&":
		return union(unicode.Lu, unicode.Ll, unicode.Lt)
	case "Xan":
		return union(unicode.L, unicode.N)
	case "Xwd":
		s := union(unicode.L, unicode.N)
		s.add('_', '_')
		s.normalize()
		return s
	case "Xsp", "Xps":
		return union(unicode.White_Space)
	}
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts} {
		if t, ok := tables[name]; ok {
			return union(t)
		}
	}
	return nil
}
