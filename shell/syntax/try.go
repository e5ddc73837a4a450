package syntax

// arithSub reads ((...)) behind $, or a substitution that begins with a subshell. What is
// neither is found out when it is expanded.
func (p *Parser) arithSub(line int) Part {
	if p.trying == 0 {
		return p.readArithSub(line)
	}
	at := p.pos
	s, ok := p.tries.subs[at]
	if !ok {
		s = p.tryArithSub(line)
		p.tries.subs[at] = s
	}
	if s.err != nil {
		panic(s.err)
	}
	p.pos, p.line = s.end.pos, s.end.line
	return s.part
}

func (p *Parser) tryArithSub(line int) (s triedSub) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			s.err = e
		}
	}()
	part := p.readArithSub(line)
	return triedSub{part: part, end: place{p.pos, p.line}}
}

func (p *Parser) readArithSub(line int) Part {
	start := *p
	p.pos++
	if x := p.tryArith(line); x != nil {
		return &ArithSub{X: x}
	}
	p.pos, p.line = start.pos, start.line
	p.matched(line)
	end, endLine := p.pos, p.line
	sub := &CmdSub{Text: p.src[start.pos : end-1], Line: line}
	p.pos, p.line = start.pos, start.line
	if p.opt.Alias == nil { // An alias would change the source under the positions kept here.
		if l := try(p, p.inner); l != nil && p.pos == end {
			sub.List = l
		}
	}
	p.pos, p.line = end, endLine
	return sub
}

// matched skips text up to the parenthesis that closes it, behind that.
func (p *Parser) matched(line int) {
	at := p.pos
	if end, ok := p.tries.ends[at]; ok {
		p.pos, p.line = end.pos, end.line
		return
	}
	p.parts(mode{stop: ")", nest: '(', noPat: true})
	if p.peek() != ')' {
		p.unclosed(line, ")")
	}
	p.skip()
	p.tries.ends[at] = place{p.pos, p.line}
}

// tries is what trying has shown so far. What stands inside of what is no expression is read again, and in
// that what stands inside of it: without this it would be read twice at each level.
type tries struct {
	none map[int]bool // places where no expression begins
	subs map[int]triedSub
	ends map[int]place // where the parenthesis before a place closes
}

// place is one in the source.
type place struct{ pos, line int }

// triedSub is what begins with $((: where it ends, or why it does not.
type triedSub struct {
	part Part
	err  *Error
	end  place
}

// tryArith is arith up to "))", but nil when the text does not end with both parentheses.
func (p *Parser) tryArith(line int) *Arith {
	if p.tries == nil {
		p.tries = &tries{map[int]bool{}, map[int]triedSub{}, map[int]place{}}
	}
	at := p.pos
	if p.tries.none[at] {
		return nil
	}
	x := try(p, func() *Arith { return p.arith("))", line) })
	if x == nil {
		p.tries.none[at] = true
	}
	return x
}

// try reads something; nil, with the parser as it was but for its place, when that fails.
func try[T any](p *Parser, read func() *T) (x *T) {
	saved := *p
	p.trying++
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(*Error); !ok || e.Stopped {
				panic(r)
			}
			src, more := p.src, p.opt.More
			*p = saved
			p.src = src
			if more == nil {
				p.lastLine = false
			}
			x = nil
			return
		}
		p.trying--
	}()
	return read()
}
