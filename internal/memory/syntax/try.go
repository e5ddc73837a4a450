package syntax

// arithSub reads ((...)) behind $, or a substitution that begins with a subshell. What is
// neither is found out when it is expanded.
func (p *Parser) arithSub(line int) Part {
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
	if p.opt.Alias == nil { // An alias would change the source under the positions stored here.
		if l := tryRead(p, p.inner); l != nil && p.pos == end {
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

// tries records the attempts to parse text whose construct was not yet known. Text that turns out to be something
// else is read again, with its nested constructs: without this it would be read twice at each level.
type tries struct {
	none  map[int]bool // places where no expression begins
	parts map[triedKey]triedPart
	ends  map[int]place // where the parenthesis before a place closes
}

func (t *tries) clear() {
	clear(t.none)
	clear(t.parts)
	clear(t.ends)
}

// triedKey is the position of a part's beginning, and the state that its reading depends on.
type triedKey struct {
	pos      int
	dq, here bool
}

// place is one in the source.
type place struct{ pos, line int }

// triedPart is a part: where it ends, or why it does not.
type triedPart struct {
	part   Part
	err    *Error
	end    place
	open   bool // a here-document in it waits for its body
	levels int  // of constructs inside each other
}

func (p *Parser) remember() {
	if p.marks == nil { // What try brings back must not lose them.
		p.marks = map[int]mark{}
	}
	if p.tries == nil {
		p.tries = &tries{map[int]bool{}, map[triedKey]triedPart{}, map[int]place{}}
	}
}

// once reads the part that begins here, unless it has been read before.
func (p *Parser) once(m mode, read func() Part) Part {
	if p.trying == 0 {
		return read()
	}
	p.remember()
	k := triedKey{p.pos, m.dq, m.here}
	t, ok := p.tries.parts[k]
	if !ok {
		if t = p.tryPart(read); !t.open && (t.err == nil || !t.err.Stopped) {
			p.tries.parts[k] = t
		}
	}
	if t.err != nil {
		panic(t.err)
	}
	p.pos, p.line = t.end.pos, t.end.line
	p.deepest = max(p.deepest, p.depth+t.levels)
	return t.part
}

func (p *Parser) tryPart(read func() Part) (t triedPart) {
	pending := len(p.pending)
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			t.err = e
		}
	}()
	t.levels = p.measure(func() { t.part = read() })
	t.end = place{p.pos, p.line}
	t.open = len(p.pending) > pending
	return t
}

// tryArith is arith up to "))", but nil when the text does not end with both parentheses.
func (p *Parser) tryArith(line int) *Arith {
	p.remember()
	at := p.pos
	if p.tries.none[at] {
		return nil
	}
	x := tryRead(p, func() *Arith { return p.arith("))", line) })
	if x == nil {
		p.tries.none[at] = true
	}
	return x
}

// tryRead reads something; nil, with the parser as it was but for its place, when that fails.
func tryRead[T any](p *Parser, read func() *T) (x *T) {
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
