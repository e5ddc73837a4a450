package syntax

import "strings"

// assignment reads NAME=value and its like; nil, with nothing taken, when the text is none.
func (p *Parser) assignment(ctx context) *Assign {
	n := nameLen(p.src[p.pos:])
	if n == 0 || p.pos+n >= len(p.src) {
		return nil
	}
	start, line := p.pos, p.line
	a := &Assign{Name: p.src[p.pos : p.pos+n]}
	p.pos += n
	if p.peek() == '[' && (ctx == ctxCommand || p.subscriptFits()) {
		if a.Index = p.trySubscript(); a.Index == nil {
			if ctx == ctxCommand {
				p.unclosed(line, "]")
			}
			p.pos, p.line = start, line
			return nil
		}
	}
	if p.peek() == '+' && p.peek2() == '=' {
		a.Append = true
		p.skip()
	}
	if p.peek() != '=' {
		p.pos, p.line = start, line
		return nil
	}
	p.skip()
	if p.peek() == '(' {
		p.arrayLiteral(a)
	} else {
		begin := p.pos
		a.Value = &Word{Line: p.line, Parts: p.parts(modeWord)}
		a.Value.Text = p.src[begin:p.pos]
	}
	a.Text, a.Shown = p.text(start)
	return a
}

// subscriptFits reports whether a word like a[i]=x has no blank in its brackets; as an
// argument it would be two words.
func (p *Parser) subscriptFits() bool {
	for i := p.pos; i < len(p.src); i++ {
		switch p.src[i] {
		case ' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')':
			return false
		case '\'', '"', '$', '`':
			return true
		case ']':
			return true
		}
	}
	return false
}

// trySubscript is subscript for text that may be read again as another construct.
func (p *Parser) trySubscript() *Subscript {
	p.trying++
	s := p.subscript()
	p.trying--
	return s
}

// subscript reads [...]; nil when it does not end. The brackets are taken.
func (p *Parser) subscript() *Subscript {
	p.skip()
	start, line := p.pos, p.line
	s := &Subscript{X: &Word{Line: line}}
	s.X.Parts = p.parts(mode{stop: "]", nest: '[', noPat: true})
	if p.peek() != ']' {
		return nil
	}
	s.Text = p.src[start:p.pos]
	s.X.Text = s.Text
	p.skip()
	if s.Text == "@" || s.Text == "*" {
		s.All = s.Text[0]
	}
	return s
}

// arrayLiteral reads ( elements ).
func (p *Parser) arrayLiteral(a *Assign) {
	saved, have, elements := p.cur, p.have, p.elements
	a.Array, p.elements = true, true
	p.skip()
	p.have = false
	for {
		p.blanks()
		c := p.peek()
		switch {
		case c == '\n':
			p.skip()
			if len(p.pending) > 0 {
				p.readHeredocs()
			}
			continue
		case c == ')':
			p.skip()
			p.cur, p.have, p.elements = saved, have, elements
			return
		case c == 0:
			p.unclosedList(saved.line)
		case metaBytes[c] && (c != '<' && c != '>' || p.peek2() != '('):
			t := p.tok(ctxArg)
			p.unexpected(t)
		}
		a.Elems = append(a.Elems, p.element())
	}
}

// element reads value, [i]=value or [i]+=value.
func (p *Parser) element() *Elem {
	e := &Elem{}
	if p.peek() == '[' {
		start, line := p.pos, p.line
		if e.Index = p.trySubscript(); e.Index == nil {
			p.unclosed(line, "]")
		}
		if e.Index != nil && p.peek() == '+' && p.peek2() == '=' {
			e.Append = true
			p.skip()
		}
		if e.Index != nil && p.peek() == '=' {
			p.skip()
			begin := p.pos
			e.Value = &Word{Line: p.line, Parts: p.parts(modeWord)}
			e.Value.Text = p.src[begin:p.pos]
			return e
		}
		e.Index, e.Append = nil, false
		p.pos, p.line = start, line
	}
	e.Value = p.word()
	return e
}

// listWord reads NAME=(list) as a word with blanks in it; nil for other text.
func (p *Parser) listWord() *Word {
	n := nameLen(p.src[p.pos:])
	rest := p.src[p.pos+n:]
	if n == 0 || !strings.HasPrefix(strings.TrimPrefix(rest, "+"), "=(") {
		return nil
	}
	start, line := p.pos, p.line
	p.trying++
	a := p.assignment(ctxCommand)
	p.trying--
	if a == nil || !a.Array {
		p.pos, p.line = start, line
		return nil
	}
	sub := &Parser{
		src: p.src[:start+len(a.Text)], pos: start, line: line, opt: p.opt, blankLeft: -1, depth: p.depth, Step: p.Step,
		trying: p.trying + 1, tries: p.tries,
	}
	sub.opt.More = nil
	var list joined
	list.add(sub.parts(mode{noPat: true})...)
	list.add(p.parts(modeWord)...)
	p.deepest = max(p.deepest, sub.deepest)
	w := &Word{Line: line, Parts: list.parts()}
	w.Text, w.Shown = p.text(start)
	return w
}
