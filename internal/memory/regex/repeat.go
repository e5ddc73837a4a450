package regex

// repeats reads the operators behind n and applies them. n may be nil.
func (p *parser) repeats(n *node) (*node, error) {
	for first := true; ; first = false {
		if !first && !p.size.stack() {
			return nil, p.fail(errSize)
		}
		switch p.tok.token {
		case tokenStar:
			p.next(0)
			n = repeat(n, 0, -1)
		case tokenPlus:
			p.next(0)
			n = repeat(n, 1, -1)
		case tokenQuestion:
			p.next(0)
			n = repeat(n, 0, 1)
		case tokenOpenBrace:
			lo, hi, ok, err := p.interval()
			if err != nil {
				return nil, err
			}
			if !ok {
				return n, nil
			}
			n = repeat(n, lo, hi)
		default:
			return n, nil
		}
		if p.syn&contextInvalidDup != 0 && (p.tok.token == tokenStar || p.tok.token == tokenOpenBrace) {
			return nil, p.fail(errRepeat)
		}
	}
}

// repeat makes a node of n repeated.
func repeat(n *node, lo, hi int) *node {
	if n == nil || hi == 0 {
		return nil
	}
	if n.kind == kindRepeat && n.min == 0 && n.max == -1 && lo == 0 && hi == -1 {
		return n
	}
	return &node{kind: kindRepeat, left: n, min: lo, max: hi}
}

// interval reads {n,m}; p.tok is the brace. ok is false when it is not an interval but
// a character, which p.tok is then.
func (p *parser) interval() (lo, hi int, ok bool, err error) {
	brace, start := p.tok, p.pos
	p.next(0)
	lo = p.number()
	if lo == -1 {
		if !p.at(',') {
			if p.syn&invalidIntervalOrd == 0 {
				return 0, 0, false, p.fail(errBadBrace)
			}
			lo = -2
		} else {
			lo = 0
		}
	}
	hi = -2
	if lo != -2 {
		switch {
		case p.tok.token == tokenCloseBrace:
			hi = lo
		case p.at(','):
			p.next(0)
			hi = p.number()
		}
	}
	if lo == -2 || hi == -2 || p.tok.token != tokenCloseBrace {
		if p.syn&invalidIntervalOrd != 0 {
			p.pos, p.tok = start, brace
			p.tok.token = tokenChar
			return 0, 0, false, nil
		}
		if p.tok.token == tokenEnd {
			return 0, 0, false, p.fail(errBrace)
		}
		return 0, 0, false, p.fail(errBadBrace)
	}
	if hi != -1 && lo > hi {
		return 0, 0, false, p.fail(errBadBrace)
	}
	if max(lo, hi) > maxRepeat {
		return 0, 0, false, p.fail(errSize)
	}
	p.next(0)
	return lo, hi, true, nil
}

func (p *parser) at(c rune) bool { return p.tok.token == tokenChar && p.tok.r == c }

// number reads a number up to a comma or brace: -1 for none, -2 for something else.
func (p *parser) number() int {
	n := -1
	for {
		switch {
		case p.tok.token == tokenEnd:
			return -2
		case p.tok.token == tokenCloseBrace || p.at(','):
			return n
		case n == -2 || p.tok.token != tokenChar || p.tok.r < '0' || p.tok.r > '9':
			n = -2
		case n == -1:
			n = int(p.tok.r - '0')
		default:
			n = min(maxRepeat+1, 10*n+int(p.tok.r-'0'))
		}
		p.next(0)
	}
}
