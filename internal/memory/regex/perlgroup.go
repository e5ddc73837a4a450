package regex

import (
	"slices"
	"strings"
)

// group reads a construct that begins with a parenthesis. Options alone cannot be repeated.
func (p *perlParser) group() (n *node, repeatable bool, err error) {
	p.pos++
	switch {
	case p.accept("*"):
		return nil, false, p.fail(perlVerb)
	case !p.accept("?"):
		if p.opts.noCapture {
			n, err = p.plain(false)
			return n, true, err
		}
		n, err = p.capture("")
		return n, true, err
	}
	switch {
	case p.accept("#"):
		end := strings.IndexByte(p.src[p.pos:], ')')
		if end < 0 {
			return nil, false, p.fail(perlComment)
		}
		p.pos += end + 1
		return nil, false, nil
	case p.accept(":"):
		n, err = p.plain(false)
	case p.accept("|"):
		n, err = p.plain(true)
	case p.accept(">"):
		if n, err = p.plain(false); err == nil {
			p.tree.perl = true
			n = &node{kind: kindAtomic, left: n}
		}
	case p.accept("="):
		n, err = p.ahead(false)
	case p.accept("!"):
		n, err = p.ahead(true)
	case p.accept("<="):
		n, err = p.behind(false)
	case p.accept("<!"):
		n, err = p.behind(true)
	case p.accept("("):
		n, err = p.conditional()
	default:
		return p.namedOrOptions()
	}
	return n, true, err
}

func (p *perlParser) namedOrOptions() (n *node, repeatable bool, err error) {
	switch {
	case p.accept("P=") || p.accept("P>") || p.accept("&"):
		if p.src[p.pos-1] != '=' {
			return nil, false, p.fail(perlRecursion)
		}
		n, err = p.backName(')')
		return n, true, err
	case p.accept("P<") || p.accept("<"):
		n, err = p.namedCapture('>')
		return n, true, err
	case p.accept("'"):
		n, err = p.namedCapture('\'')
		return n, true, err
	case p.peek() == 'R' || p.peek() >= '0' && p.peek() <= '9' || p.peek() == '+':
		return nil, false, p.fail(perlRecursion)
	}
	return p.options()
}

// inside reads the branches of a group up to and with its end; options set inside do not
// last.
func (p *perlParser) inside(again bool) ([]*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(perlRegexLarge)
	}
	was := p.opts
	branches, err := p.branches(again)
	p.opts = was
	p.depth--
	if err != nil {
		return nil, err
	}
	if !p.accept(")") {
		return nil, p.fail(perlOpen)
	}
	return branches, nil
}

func (p *perlParser) plain(again bool) (*node, error) {
	branches, err := p.inside(again)
	if err != nil {
		return nil, err
	}
	return joinBranches(branches), nil
}

// maxNames bounds the named groups, as in PCRE2.
const maxNames = 10000

func (p *perlParser) capture(name string) (*node, error) {
	p.groups++
	number := p.groups
	for len(p.names) <= number {
		p.names = append(p.names, "")
	}
	if name != "" {
		if p.named++; p.named > maxNames {
			return nil, p.fail(perlNames)
		}
		for i, other := range p.names {
			if other == name && i != number {
				return nil, p.fail(perlTwice)
			}
		}
		p.names[number] = name
	}
	inner, err := p.plain(false)
	if err != nil {
		return nil, err
	}
	return &node{kind: kindGroup, left: inner, n: number}, nil
}

func (p *perlParser) namedCapture(end byte) (*node, error) {
	name, err := p.name(end)
	if err != nil {
		return nil, err
	}
	return p.capture(name)
}

// name reads a group's name up to and with end.
func (p *perlParser) name(end byte) (string, error) {
	from := p.pos
	for p.pos < len(p.src) && isWordByte(p.src[p.pos]) {
		p.pos++
	}
	name := p.src[from:p.pos]
	if name == "" || name[0] >= '0' && name[0] <= '9' || p.peek() != end {
		return "", p.fail(perlName)
	}
	p.pos++
	return name, nil
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func (p *perlParser) ahead(negative bool) (*node, error) {
	p.tree.perl = true
	p.looks++
	n, err := p.plain(false)
	p.looks--
	if err != nil {
		return nil, err
	}
	return &node{kind: kindLook, left: n, negative: negative}, nil
}

// behind reads a lookbehind; each branch has a fixed width.
func (p *perlParser) behind(negative bool) (*node, error) {
	p.tree.perl = true
	p.looks++
	branches, err := p.inside(false)
	p.looks--
	if err != nil {
		return nil, err
	}
	var all *node
	for _, branche := range slices.Backward(branches) {
		width, ok := widthOf(branche)
		if !ok {
			return nil, p.fail(perlBehind)
		}
		look := &node{kind: kindLook, left: branche, negative: negative, behind: true, min: width}
		switch {
		case all == nil:
			all = look
		case negative:
			all = concat(look, all)
		default:
			all = &node{kind: kindAlt, left: look, right: all}
		}
	}
	return all, nil
}

// widthOf returns how many characters n takes, if that is always the same.
func widthOf(n *node) (width int, ok bool) {
	for ; n != nil; n = n.right {
		part := n
		if n.kind == kindConcat {
			part = n.left
		}
		w, ok := widthOfPart(part)
		if width += w; !ok || width > 65535 {
			return 0, false
		}
		if n.kind != kindConcat {
			break
		}
	}
	return width, true
}

func widthOfPart(n *node) (width int, ok bool) {
	if n == nil {
		return 0, true
	}
	switch n.kind {
	case kindClass:
		return 1, true
	case kindAssert, kindLook, kindKeep, kindFail:
		return 0, true
	case kindGroup, kindAtomic, kindConcat:
		if n.kind == kindConcat {
			return widthOf(n)
		}
		return widthOf(n.left)
	case kindAlt:
		a, ok1 := widthOf(n.left)
		b, ok2 := widthOf(n.right)
		return a, ok1 && ok2 && a == b
	case kindRepeat:
		w, ok := widthOf(n.left)
		return w * n.min, ok && n.min == n.max
	default:
		return 0, false
	}
}

// conditional reads (?(1)yes|no).
func (p *perlParser) conditional() (*node, error) {
	n := &node{kind: kindCond}
	at := p.pos
	switch {
	case p.accept("<"):
		name, err := p.name('>')
		if err != nil {
			return nil, err
		}
		p.refs = append(p.refs, reference{n, name, at})
	case p.accept("'"):
		name, err := p.name('\'')
		if err != nil {
			return nil, err
		}
		p.refs = append(p.refs, reference{n, name, at})
	default:
		for p.peek() >= '0' && p.peek() <= '9' {
			p.pos++
		}
		if p.pos == at {
			return nil, p.fail(perlBadCond)
		}
		n.n = decimal(p.src[at:p.pos])
		p.refs = append(p.refs, reference{n, "", at})
	}
	if !p.accept(")") {
		return nil, p.fail(perlBadCond)
	}
	branches, err := p.inside(false)
	if err != nil {
		return nil, err
	}
	if len(branches) > 2 {
		return nil, p.fail(perlCondition)
	}
	p.tree.perl = true
	n.left = branches[0]
	if len(branches) == 2 {
		n.right = branches[1]
	}
	return n, nil
}

// options reads (?i-s) and (?i-s:...).
func (p *perlParser) options() (n *node, repeatable bool, err error) {
	was := p.opts
	on := true
	if p.accept("^") {
		p.opts = perlOptions{}
	}
	for {
		if p.pos >= len(p.src) {
			return nil, false, p.fail(perlOpen)
		}
		c := p.src[p.pos]
		p.pos++
		switch c {
		case 'i':
			p.opts.fold = on
		case 'm':
			p.opts.multiline = on
		case 's':
			p.opts.dotAll = on
		case 'x':
			p.opts.extended = on
			p.accept("x")
		case 'n':
			p.opts.noCapture = on
		case '-':
			on = false
		case ')':
			return nil, false, nil
		case ':':
			n, err := p.plain(false)
			p.opts = was
			return n, true, err
		default:
			p.pos--
			return nil, false, p.fail(perlGroup)
		}
	}
}
